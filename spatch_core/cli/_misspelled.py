"""Which backend was meant by a name that none has.

Few can be: the names of backends resemble each other, and what is not installed is no fault.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._identifiers import DEFAULT, nearest
from ._similar import digits

_SHORTEST = 4
"""What is shorter than this resembles too much."""
_SIMILARITY = 0.8
"""Of a name to ``"default"``, than which no backend is likely to have a similar one."""


def meant_backend(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that can only be meant; None if any has the name itself.

    Parameters
    ----------
    name : str
        What was found.
    names : iterable of str
        Those of the backends, and of the library.

    Examples
    --------
    >>> meant_backend("duda", ["cuda", "dask"]), meant_backend("cuda11", ["cuda12", "cuda"])
    (None, None)
    >>> meant_backend("dsak", ["cuda", "dask"]), meant_backend("Defalt", ["default"])
    ('dask', 'default')
    """
    known = set(names)
    if name in known:
        return None
    if DEFAULT in known and digits(name) == "" and nearest(name.lower(), [DEFAULT], _SIMILARITY):
        return DEFAULT
    return next((each for each in sorted(known) if _is_slip(name, each)), None)


def _is_slip(name: str, right: str) -> bool:
    """Whether two letters are swapped, one is missing or too many, or case and dashes differ."""
    if digits(name) != digits(right) or max(len(name), len(right)) < _SHORTEST:
        return False
    if _plain(name) == _plain(right):
        return True
    if len(name) == len(right):
        pairs = range(len(right) - 1)
        return any(name == right[:i] + right[i + 1] + right[i] + right[i + 2 :] for i in pairs)
    short, long = sorted([name, right], key=len)
    return any(short == long[:i] + long[i + 1 :] for i in range(len(long)))


def _plain(name: str) -> str:
    return "".join(each for each in name.lower() if each not in "-_.")
