"""The three environment variables of a library, read once into one frozen value.

=======================  ===================================  ===============================
variable                 example                              meaning
=======================  ===================================  ===============================
``<prefix>_PRIORITIZE``  ``first,second``                     first, and then second, go first
``<prefix>_BLOCK``       ``one,two``, or ``*``                never loaded
``<prefix>_SET_ORDER``   ``one>two>three,four>five``          one before two before three, ...
=======================  ===================================  ===============================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from .._identifiers import DEFAULT, is_backend_name
from .._order.graph import components, cycle_through, successors_of
from .._problems import Problem

PRIORITIZE = "PRIORITIZE"
BLOCK = "BLOCK"
SET_ORDER = "SET_ORDER"


@dataclass(frozen=True, slots=True)
class Environment:
    """The values of a library's variables; empty where one is unset or malformed.

    Parameters
    ----------
    prefix : str
        The variables are ``<prefix>_PRIORITIZE``, ``<prefix>_BLOCK``, ``<prefix>_SET_ORDER``.
    prioritize : tuple of str
        Backends to prioritize in the process-wide default state, first goes first.
    block : frozenset of str
        Backends that must not be loaded.
    block_all : bool
        Whether every backend is blocked (``*``).
    set_order : tuple of (str, str)
        Pairs of backends; the first goes before the second. Free of cycles.
    problems : tuple of Problem
        The malformed values, each of which was ignored whole.
    """

    prefix: str
    prioritize: tuple[str, ...] = ()
    block: frozenset[str] = frozenset()
    block_all: bool = False
    set_order: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()

    def variable(self, suffix: str) -> str:
        """Return the full name of a variable."""
        return f"{self.prefix}_{suffix}"

    def blocks(self, name: str) -> bool:
        """Whether the backend `name` must not be loaded."""
        return self.block_all or name in self.block

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Every backend name mentioned, with the variable that mentions it."""
        ordered = [name for pair in self.set_order for name in pair]
        return tuple(
            dict.fromkeys(
                [(name, self.variable(PRIORITIZE)) for name in self.prioritize]
                + [(name, self.variable(BLOCK)) for name in sorted(self.block)]
                + [(name, self.variable(SET_ORDER)) for name in ordered]
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
        With a problem for each malformed value, which is ignored whole.

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
    for name in block:
        if name == DEFAULT:
            malformed(BLOCK, "the library itself cannot be blocked", "first,second")
        elif name != "*" and not is_backend_name(name):
            malformed(BLOCK, f"{name!r} cannot name a backend", "first,second (or * for all)")
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
    cycle = _cycle(set_order)
    if cycle:
        malformed(SET_ORDER, f"it has a cycle, {'>'.join(cycle)}", "'first>second'")
        set_order = []

    return Environment(
        prefix=prefix,
        prioritize=tuple(dict.fromkeys(prioritize)),
        block=frozenset(block) - {"*"},
        block_all="*" in block,
        set_order=tuple(dict.fromkeys(set_order)),
        problems=tuple(problems),
    )


def _cycle(pairs: list[tuple[str, str]]) -> tuple[str, ...]:
    """Return a cycle among `pairs`, first name repeated at the end; empty if there is none."""
    component = components(successors_of(pairs))
    for pair in pairs:
        if component[pair[0]] == component[pair[1]]:
            inside = component[pair[0]]
            return cycle_through(
                [each for each in pairs if component[each[0]] == component[each[1]] == inside]
            )
    return ()
