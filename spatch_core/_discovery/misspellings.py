"""Misspelled names of environment variables, and misspelled names of backends in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .._identifiers import nearest
from .._reporting.problems import Problem

_MISSPELLED = 0.75
"""The least similarity at which a variable's suffix counts as a misspelling."""
_ALL_IN_WORDS = ("all", "any", "everything")


def misspelled_variables(
    prefix: str, suffixes: Iterable[str], variables: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield a problem for each variable that looks like a misspelled variable of a library.

    Parameters
    ----------
    prefix : str
        The library's prefix.
    suffixes : iterable of str
        The suffixes of the variables that the library reads.
    variables : mapping of str to str
        Usually `os.environ`.

    Examples
    --------
    >>> variables = {"LIB_PRIORITY": "a", "lib_block": "b", "LIB_BLOCK": "c"}
    >>> for problem in misspelled_variables("LIB", ["PRIORITIZE", "BLOCK"], variables):
    ...     print(problem.key, problem.remedy)
    LIB_PRIORITY Did you mean LIB_PRIORITIZE?
    lib_block Did you mean LIB_BLOCK?
    """
    start = f"{prefix}_"
    known = {start + suffix: suffix for suffix in suffixes}
    for name in sorted(variables):
        if name in known or name[: len(start)].casefold() != start.casefold():
            continue
        meant = nearest(name[len(start) :], known.values(), _MISSPELLED)
        if meant:
            message = "the library reads no variable with this name"
            yield Problem(message, f"Did you mean {start}{meant[0]}?", key=name)


def near_misses(
    mentioned: Iterable[tuple[str, str]], names: Iterable[str], block: str
) -> Iterator[Problem]:
    """Yield a problem for each name in a variable that looks like a misspelling.

    Parameters
    ----------
    mentioned : iterable of (str, str)
        The names in variables, each with its variable.
    names : iterable of str
        The names of all backends.
    block : str
        The variable that blocks backends, in which ``*`` means all backends.
    """
    names = {*names}
    for name, variable in mentioned:
        if name in names:
            continue
        meant = [f"{each!r}?" for each in nearest(name, names)]
        if variable == block and name.casefold() in _ALL_IN_WORDS:
            meant = ["'*', which blocks all?"]
        if meant:
            message = f"no backend is named {name!r}; the name is ignored"
            yield Problem(message, f"Did you mean {meant[0]}", key=variable)
