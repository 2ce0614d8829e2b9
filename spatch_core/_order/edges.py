"""Explicit edges: the priorities that the environment sets and that descriptions declare.

An edge says that one backend goes before another. Explicit edges overrule type specificity
(see `specificity`), and among themselves the environment overrules descriptions:

========================================  ==============================================
two edges that contradict each other      result
========================================  ==============================================
environment and environment               impossible: `read_environment` refuses cycles
environment and declared                  the declared edge is dropped
several declared edges on a cycle         the backends on the cycle are skipped
a cycle of declared and environment's     the declared edges on it are dropped
========================================  ==============================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from .._description import Description
from .._errors import replace
from .._patterns import DEFAULT, shown
from .graph import components, cycle_through, reached_from, sort_stably, successors_of


class Strength(IntEnum):
    """The origin of an edge; a stronger edge overrides a weaker opposite one."""

    SPECIFICITY = 1
    DECLARED = 2
    ENVIRONMENT = 3


@dataclass(frozen=True, slots=True)
class Edge:
    """One backend goes before another, for a reason.

    Parameters
    ----------
    before, after : str
        Backend names.
    strength : Strength
        The origin of the edge.
    reason : str
        The origin in words.
    moves_down : bool
        Whether the second backend moves down, instead of the first one up.
    """

    before: str
    after: str
    strength: Strength
    reason: str
    moves_down: bool = False


@dataclass(frozen=True, slots=True)
class Cycle:
    """Declared edges that contradict each other.

    Parameters
    ----------
    path : tuple of str
        Names along one cycle; the first is repeated at the end.
    members : tuple of str
        All backends on this cycle and on the cycles connected to it, in base order.
    set_order : str
        The value of ``SET_ORDER`` that resolves it.
    pairs : tuple of (str, str)
        The declared edges on the cycles; the first name of each goes before the second.
    """

    path: tuple[str, ...]
    members: tuple[str, ...]
    set_order: str
    pairs: tuple[tuple[str, str], ...]

    def in_words(self, default_name: str) -> str:
        """Return the path; `default_name` is the name of the library itself in it."""
        return " before ".join([shown(each, default_name) for each in self.path])


def explicit_edges(
    base: Mapping[str, Description], set_order: Sequence[tuple[str, str]], variable: str
) -> tuple[list[Edge], list[Cycle]]:
    """Return the explicit edges in force, and the cycles of declared edges.

    Parameters
    ----------
    base : mapping of str to Description
        The descriptions by name, in base order.
    set_order : sequence of (str, str)
        Edges from the environment, free of cycles.
    variable : str
        The name of the environment variable, for the reasons.

    Returns
    -------
    edges : list of Edge
        Free of cycles; none leads to or from a member of `cycles`.
    cycles : list of Cycle
        Their members must be left out of the order.
    """
    edges = _stated_edges(base, set_order, variable)
    cycles = _declared_cycles(base, edges, set_order)
    if cycles:
        skipped = {name for cycle in cycles for name in cycle.members}
        present = {name: item for name, item in base.items() if name not in skipped}
        # Again, because the environment's edges bridge the backends that are skipped now.
        edges = _stated_edges(present, set_order, variable)
    return _without_mixed_cycles(edges), cycles


def _stated_edges(
    present: Mapping[str, Description], set_order: Iterable[tuple[str, str]], variable: str
) -> list[Edge]:
    """Return the edges of the environment, and the declared ones that it does not oppose."""
    environment = bridged(set_order, present)
    edges = {
        (first, second): Edge(
            first, second, Strength.ENVIRONMENT, f"{variable} says {first}>{second}"
        )
        for first, second in environment
    }
    following = successors_of(environment)
    reached: dict[str, set[str]] = {}

    def is_opposed(first: str, second: str) -> bool:
        if second not in reached:
            reached[second] = reached_from(second, following)
        return first in reached[second]

    for item in present.values():
        pairs = [
            (item.name, other, "higher_priority_than") for other in item.higher_priority_than
        ] + [(other, item.name, "lower_priority_than") for other in item.lower_priority_than]
        for first, second, key in pairs:
            if first not in present or second not in present or is_opposed(first, second):
                continue
            other = second if first == item.name else first
            reason = f"{item.name} declares {key} = {other}"
            # The backend that declares the edge moves.
            edge = Edge(first, second, Strength.DECLARED, reason, moves_down=second == item.name)
            edges.setdefault((first, second), edge)
    return list(edges.values())


def bridged(
    pairs: Iterable[tuple[str, str]], present: Mapping[str, object]
) -> list[tuple[str, str]]:
    """Return the pairs of present names, also those that are connected through absent ones.

    >>> bridged([("a", "absent"), ("absent", "b"), ("b", "c")], {"a": ..., "b": ..., "c": ...})
    [('a', 'b'), ('b', 'c')]
    """
    following = successors_of(pairs)
    absent = {name: after for name, after in following.items() if name not in present}
    found: dict[tuple[str, str], None] = {}
    for first, after in following.items():
        if first in present:
            for name in after:
                beyond = reached_from(name, absent) if name in absent else (name,)
                found.update(((first, each), None) for each in beyond if each in present)
    return list(found)


def _declared_cycles(
    present: Mapping[str, Description],
    edges: Sequence[Edge],
    set_order: Sequence[tuple[str, str]],
) -> list[Cycle]:
    """Return the cycles of declared edges, each with the ``SET_ORDER`` that resolves it."""
    declared = [(edge.before, edge.after) for edge in edges if edge.strength is Strength.DECLARED]
    component = components(successors_of(declared))
    on_cycles: dict[int, list[tuple[str, str]]] = {}
    for first, second in declared:
        if component[first] == component[second]:
            on_cycles.setdefault(component[first], []).append((first, second))
    if not on_cycles:
        return []
    # The proposed value reverses the edges that contradict one total order. The
    # environment's own edges agree with that order, so that the value has no cycle.
    environment = [
        (edge.before, edge.after) for edge in edges if edge.strength is Strength.ENVIRONMENT
    ]
    names = sort_stably({name: name for name in present}, successors_of(environment))
    position = {name: number for number, name in enumerate(names)}
    stated = [f"{first}>{second}" for first, second in set_order]
    cycles = []
    for pairs in on_cycles.values():
        inside = {name for pair in pairs for name in pair}
        reversed_edges = [
            f"{second}>{first}" for first, second in pairs if position[second] < position[first]
        ]
        cycles.append(
            Cycle(
                path=cycle_through(pairs),
                members=tuple(name for name in present if name in inside and name != DEFAULT),
                set_order=",".join(dict.fromkeys(stated + reversed_edges)),
                pairs=tuple(pairs),
            )
        )
    return cycles


def _without_mixed_cycles(edges: list[Edge]) -> list[Edge]:
    """Drop the declared edges that form a cycle together with edges of the environment."""
    component = components(successors_of((edge.before, edge.after) for edge in edges))
    return [
        edge
        for edge in edges
        if edge.strength is Strength.ENVIRONMENT or component[edge.before] != component[edge.after]
    ]


def without_pairs(item: Description, cycles: Iterable[Cycle]) -> Description:
    """Return a description that declares no edge on any of the cycles."""
    void = {pair for cycle in cycles for pair in cycle.pairs}
    higher = [name for name in item.higher_priority_than if (item.name, name) not in void]
    lower = [name for name in item.lower_priority_than if (name, item.name) not in void]
    return replace(item, higher_priority_than=tuple(higher), lower_priority_than=tuple(lower))
