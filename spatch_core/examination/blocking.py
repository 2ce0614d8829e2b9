"""Keeps examinations from blocked backends, even where the variable is malformed.

The core ignores a malformed ``BLOCK`` whole and says so. The commands and the examination say so
too, and still touch no backend that the value may mean.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .._discovery.entry_points import find_entry_points
from .._discovery.environment import BLOCK
from .._identifiers import DEFAULT

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

_PART = r"\*|!?[\w.-]+(?:@[\w.-]+)?"


def honoured_block(value: str, names: Iterable[str]) -> str:
    """Return a well-formed value of ``BLOCK`` that blocks every backend that `value` may mean.

    Parameters
    ----------
    value : str
        As the environment has it. Every name counts that is in it, however it is separated
        from others, and ``*`` where it stands alone; ``!name`` only if the value is well-formed.
        A name that is not installed also means those that differ from it in case alone.
    names : iterable of str
        The backends that are installed.

    Examples
    --------
    >>> honoured_block("gpu,o i l", [])
    'gpu,i,l,o'
    >>> honoured_block("GPU", ["gpu", "threads"])
    'GPU,gpu'
    >>> honoured_block("gpu@a;oil", ["gpu"])
    'gpu@a,oil'
    >>> honoured_block("gpu;*,!threads", ["gpu"]), honoured_block("*, !threads", ["gpu"])
    ('*', '*,!threads')
    """
    if "*" in re.split(r"[\s,;:|]+", value):
        parts = [each.strip() for each in value.split(",")]
        is_well_formed = all(re.fullmatch(_PART, each) for each in parts)
        return ",".join(parts) if is_well_formed and DEFAULT not in parts else "*"
    found = set(re.findall(r"[\w.-]+(?:@[\w.-]+)?", value))
    installed = {*names}
    folded = {each.casefold() for each in found - installed}
    found |= {each for each in installed if each.casefold() in folded}
    return ",".join(sorted(found - {DEFAULT}))


def honoured(prefix: str, variables: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return variables with a value of ``BLOCK`` that is well-formed; see `honoured_block`."""
    variable = f"{prefix}_{BLOCK}"
    value = variables.get(variable, "")
    return {**variables, **({variable: honoured_block(value, names)} if value else {})}


@contextmanager
def blocking(system: BackendSystem) -> Iterator[None]:
    """Let a library see the honoured value of ``BLOCK`` while it discovers its backends."""
    variable = f"{system.environ_prefix}_{BLOCK}"
    before = os.environ.get(variable)
    if before is None:
        yield
        return
    installed = find_entry_points(system.group)[0] if system.group else ()
    os.environ[variable] = honoured_block(before, (each.name for each in installed))
    try:
        yield
    finally:
        os.environ[variable] = before
