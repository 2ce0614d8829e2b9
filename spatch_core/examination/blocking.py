"""The variable ``BLOCK`` in examinations, which never touch a backend that it may mean.

The core ignores a malformed value as a whole and reports it. Examinations report it too, but take
every name in it for the name of a blocked backend.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .._environment import BLOCK, find_entry_points
from .._patterns import DEFAULT

if TYPE_CHECKING:
    from .._environment import Environment
    from ..backend_system import BackendSystem

_PART = r"\*|!?[\w.-]+"


def honoured_block(value: str, names: Iterable[str]) -> str:
    """Return a well-formed value of ``BLOCK`` that blocks every backend that `value` may mean.

    Parameters
    ----------
    value : str
        The value in the environment. Every name in it counts, whatever separates it from others,
        and so does a ``*`` of its own; ``!name`` counts only if the value is well-formed. A name
        of no installed backend also blocks the backends whose names differ only in case.
    names : iterable of str
        The installed backends.

    Examples
    --------
    >>> honoured_block("gpu,o i l", [])
    'gpu,i,l,o'
    >>> honoured_block("GPU", ["gpu", "threads"])
    'GPU,gpu'
    >>> honoured_block("gpu;oil", ["gpu"])
    'gpu,oil'
    >>> honoured_block("gpu;*,!threads", ["gpu"]), honoured_block("*, !threads", ["gpu"])
    ('*', '*,!threads')
    """
    if "*" in re.split(r"[\s,;:|]+", value):
        parts = [each.strip() for each in value.split(",")]
        is_well_formed = all(re.fullmatch(_PART, each) for each in parts)
        return ",".join(parts) if is_well_formed and DEFAULT not in parts else "*"
    found = set(re.findall(r"[\w.-]+", value))
    installed = {*names}
    folded = {each.casefold() for each in found - installed}
    found |= {each for each in installed if each.casefold() in folded}
    return ",".join(sorted(found - {DEFAULT}))


def value_blocking(environment: Environment, names: Iterable[str]) -> str:
    """Return the value of ``BLOCK`` that blocks these backends, too.

    >>> from spatch_core._environment import read_environment
    >>> value_blocking(read_environment("LIB", {"LIB_BLOCK": "*,!a,!b"}), ["b"])
    '*,!a'
    """
    names = {*names}
    if not environment.block_all:
        return ",".join(sorted({*environment.block, *names}))
    allowed = sorted(environment.allowed - names)
    return ",".join(["*", *sorted(environment.block), *(f"!{each}" for each in allowed)])


def honoured(prefix: str, variables: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return variables with the honoured value of ``BLOCK``; see `honoured_block`."""
    variable = f"{prefix}_{BLOCK}"
    value = variables.get(variable, "")
    return {**variables, **({variable: honoured_block(value, names)} if value else {})}


@contextmanager
def variables_set(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables in a ``with`` block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def blocking(system: BackendSystem) -> Iterator[None]:
    """Set ``BLOCK`` to its honoured value while a library discovers its backends."""
    variable = f"{system.environ_prefix}_{BLOCK}"
    value = os.environ.get(variable)
    if value is None:
        yield
        return
    installed = find_entry_points(system.group)[0] if system.group else ()
    with variables_set({variable: honoured_block(value, (each.name for each in installed))}):
        yield
