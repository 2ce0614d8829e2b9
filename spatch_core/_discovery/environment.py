"""The four environment variables of a library, read once into one frozen value.

=======================  ===================================  ===============================
variable                 example                              meaning
=======================  ===================================  ===============================
``<prefix>_PRIORITIZE``  ``first,second``                     these go first, in this order
``<prefix>_BLOCK``       ``one,two``, or ``*``                these, or all, are never loaded
``<prefix>_BLOCK``       ``*,!one``                           all but ``one`` are never loaded
``<prefix>_SET_ORDER``   ``one>two>three,four>five``          one before two before three, ...
``<prefix>_BACKEND``     ``one``                              the current backend
=======================  ===================================  ===============================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from .._identifiers import DEFAULT, is_backend_name, nearest
from .._order import find_cycle
from .._reporting.problems import Problem

PRIORITIZE = "PRIORITIZE"
BLOCK = "BLOCK"
SET_ORDER = "SET_ORDER"
BACKEND = "BACKEND"
SUFFIXES = (PRIORITIZE, BLOCK, SET_ORDER, BACKEND)

_ALL = "*"
_BUT = "!"
_ALL_IN_WORDS = ("all", "any", "everything")
_MISSPELLED = 0.75
"""The least similarity at which a variable's suffix counts as a misspelling."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The values of a library's variables; empty where one is unset or malformed.

    Parameters
    ----------
    prefix : str
        The variables are ``<prefix>_PRIORITIZE``, ``<prefix>_BLOCK``, ``<prefix>_SET_ORDER``,
        ``<prefix>_BACKEND``.
    prioritize : tuple of str
        Backends to prioritize in the process-wide default state, the foremost first.
    block : frozenset of str
        Backends that must not be loaded.
    block_all : bool
        Whether every backend is blocked (``*``), except those in `allowed`.
    allowed : frozenset of str
        The exceptions to `block_all` (``*,!name``).
    set_order : tuple of (str, str)
        Pairs of backends; the first goes before the second. Free of cycles.
    problems : tuple of Problem
        The malformed values, each of which was ignored whole, and misspelled variables.
    backend : str or None
        The current backend in the process-wide default state.
    """

    prefix: str
    prioritize: tuple[str, ...] = ()
    block: frozenset[str] = frozenset()
    block_all: bool = False
    allowed: frozenset[str] = frozenset()
    set_order: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    backend: str | None = None

    def variable(self, suffix: str) -> str:
        """Return the full name of a variable."""
        return f"{self.prefix}_{suffix}"

    def blocks(self, name: str) -> bool:
        """Whether the backend `name` must not be loaded."""
        return name in self.block or (self.block_all and name not in self.allowed)

    def blocking(self, names: Iterable[str]) -> str:
        """Return the value of ``BLOCK`` that blocks these backends, too.

        >>> read_environment("LIB", {"LIB_BLOCK": "*,!a,!b"}).blocking(["b"])
        '*,!a'
        """
        names = {*names}
        if not self.block_all:
            return ",".join(sorted({*self.block, *names}))
        allowed = sorted(self.allowed - names)
        return ",".join([_ALL, *sorted(self.block), *(_BUT + each for each in allowed)])

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Every backend name mentioned, with the variable that mentions it."""
        ordered = [name for pair in self.set_order for name in pair]
        return tuple(
            dict.fromkeys(
                [(name, self.variable(PRIORITIZE)) for name in self.prioritize]
                + [(name, self.variable(BLOCK)) for name in sorted(self.block | self.allowed)]
                + [(name, self.variable(SET_ORDER)) for name in ordered]
                + [(name, self.variable(BACKEND)) for name in [self.backend] if name]
            )
        )


def read_environment(prefix: str, variables: Mapping[str, str]) -> Environment:
    """Parse the variables of one library.

    Parameters
    ----------
    prefix : str
        The library's prefix.
    variables : mapping of str to str
        Usually `os.environ`.

    Returns
    -------
    Environment
        With a problem for each malformed value, which is ignored whole, and for each variable
        whose name looks like a misspelling.

    Examples
    --------
    >>> found = read_environment("LIB", {"LIB_SET_ORDER": "a>b>c", "LIB_BLOCK": "a b"})
    >>> found.set_order
    (('a', 'b'), ('b', 'c'))
    >>> found.block
    frozenset()
    >>> print(found.problems[0].message)
    the value 'a b' is ignored: 'a b' cannot name a backend
    """
    problems: list[Problem] = []

    def malformed(suffix: str, message: str, example: str) -> None:
        name = f"{prefix}_{suffix}"
        problems.append(
            Problem(
                f"the value {variables[name]!r} is ignored: {message}",
                f"Write it as {name}={example}",
                key=name,
            )
        )

    def split(suffix: str) -> list[str]:
        value = variables.get(f"{prefix}_{suffix}", "").strip()
        return [part.strip() for part in value.split(",")] if value else []

    prioritize = split(PRIORITIZE)
    for name in prioritize:
        if not is_backend_name(name):
            malformed(PRIORITIZE, f"{name!r} cannot name a backend", "first,second")
            prioritize = []
            break

    block = split(BLOCK)
    for text in block:
        name = text.removeprefix(_BUT)
        if text != name and _ALL not in block:
            malformed(BLOCK, f"{text!r} exempts a backend, but not all are blocked", f"*,{text}")
        elif text == DEFAULT:
            malformed(BLOCK, "the library itself cannot be blocked", "first,second")
        elif text != _ALL and not is_backend_name(name):
            example = "first,second (or * for all, *,!first for all but one)"
            malformed(BLOCK, f"{text!r} cannot name a backend", example)
        else:
            continue
        block = []
        break

    set_order: list[tuple[str, str]] = []
    for chain in split(SET_ORDER):
        names = [name.strip() for name in chain.split(">")]
        if len(names) < 2 or not all(map(is_backend_name, names)):
            malformed(SET_ORDER, f"{chain!r} is not an order", "'first>second,third>fourth'")
            set_order = []
            break
        set_order += pairwise(names)
    cycle = find_cycle(set_order)
    if cycle:
        malformed(SET_ORDER, f"it has a cycle, {'>'.join(cycle)}", "'first>second'")
        set_order = []

    backend = variables.get(f"{prefix}_{BACKEND}", "").strip() or None
    if backend is not None and not is_backend_name(backend):
        malformed(BACKEND, f"{backend!r} cannot name a backend", "first")
        backend = None

    problems += misspelled_variables(prefix, SUFFIXES, variables)
    return Environment(
        prefix=prefix,
        prioritize=tuple(dict.fromkeys(prioritize)),
        block=frozenset(each for each in block if each[:1] not in (_ALL, _BUT)),
        block_all=_ALL in block,
        allowed=frozenset(each[1:] for each in block if each[:1] == _BUT),
        set_order=tuple(dict.fromkeys(set_order)),
        problems=tuple(problems),
        backend=backend,
    )


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
