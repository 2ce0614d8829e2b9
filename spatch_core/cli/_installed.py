"""Which distributions the installed packages come from."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, distributions, packages_distributions
from pathlib import PurePosixPath


def owners_of_packages() -> dict[str, list[str]]:
    """Return the names of top-level packages and modules, and of their distributions.

    As `importlib.metadata.packages_distributions`, which on Python 3.10 knows only those that
    a file ``top_level.txt`` names, as setuptools alone writes it.
    """
    if sys.version_info >= (3, 11):
        return {name: list(owners) for name, owners in packages_distributions().items()}
    found: dict[str, list[str]] = {}
    for distribution in distributions():
        for name in sorted(_names(distribution)):
            found.setdefault(name, []).append(distribution.metadata["Name"])
    return found


def _names(distribution: Distribution) -> set[str]:
    listed = (distribution.read_text("top_level.txt") or "").split()
    files = [PurePosixPath(str(file)) for file in distribution.files or ()]
    places = {file.parts[0] for file in files if len(file.parts) > 1}
    modules = {file.stem for file in files if len(file.parts) == 1 and file.suffix == ".py"}
    return {name for name in listed or places | modules if name.isidentifier()}
