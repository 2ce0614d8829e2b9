"""Names of backends with their distribution, ``gpu@gpu-dist``, in variables and messages."""

from __future__ import annotations

import re

from .._identifiers import is_backend_name


def distribution_key(name: str | None) -> str:
    """Return the normalized name of a distribution, as installers compare it; empty for None.

    >>> distribution_key("GPU_dist.x")
    'gpu-dist-x'
    """
    return re.sub(r"[-_.]+", "-", name or "").lower()


def of_distribution(name: str, distribution: str | None) -> str:
    """Return the name of a backend with its distribution, as in a variable.

    >>> of_distribution("gpu", "GPU_dist")
    'gpu@gpu-dist'
    """
    return f"{name}@{distribution_key(distribution)}"


def name_of(text: str) -> str:
    """Return the name of the backend, without a distribution."""
    return text.partition("@")[0]


def key_of(text: str) -> str:
    """Return a name from a variable in normalized form.

    >>> key_of("gpu@GPU_dist")
    'gpu@gpu-dist'
    """
    name, separator, distribution = text.partition("@")
    return of_distribution(name, distribution) if separator else name


def is_name(text: str) -> bool:
    """Whether `text` is the name of a backend, with or without a distribution."""
    name, separator, distribution = text.partition("@")
    return is_backend_name(name) and (not separator or is_backend_name(distribution))
