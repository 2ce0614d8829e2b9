"""The priority order of a library's backends: pure functions of descriptions and edges.

The base order is: the default, then concrete backends, then abstract ones; within that,
descriptions in code as they were given, then entry points by name. Edges say that one
backend goes before another. The order is the topological order of the edges that keeps
the base order wherever they allow it (among the backends that nothing holds back, the
first in the base order comes next).
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

from ._description import Description
from ._identifiers import ABSTRACT, DEFAULT, EXACT, SUBCLASS

_Node = TypeVar("_Node", bound=Hashable)
_BREADTH = {EXACT: 0, SUBCLASS: 1, ABSTRACT: 2}


class Strength(IntEnum):
    """Where an edge comes from; a stronger edge overrides a weaker opposite one."""

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
        Where the edge comes from.
    reason : str
        The same, for people.
    """

    before: str
    after: str
    strength: Strength
    reason: str


@dataclass(frozen=True, slots=True)
class Cycle:
    """Declared edges that contradict each other.

    Parameters
    ----------
    path : tuple of str
        Names along one cycle; the first is repeated at the end.
    members : tuple of str
        All backends that stand on such cycles together, in base order.
    set_order : str
        The value of ``SET_ORDER`` that mends it.
    """

    path: tuple[str, ...]
    members: tuple[str, ...]
    set_order: str


@dataclass(frozen=True, slots=True)
class Order:
    """The priority order and why it is so.

    Parameters
    ----------
    names : tuple of str
        Backends by priority, ``"default"`` among them.
    explicit : tuple of Edge
        Edges from the environment and from descriptions that are in force.
    specificity : tuple of (tuple of Description, tuple of Description)
        Each backend of the first group goes before each of the second, by type specificity.
    cycles : tuple of Cycle
        Why backends are missing from `names`.
    """

    names: tuple[str, ...]
    explicit: tuple[Edge, ...] = ()
    specificity: tuple[tuple[tuple[Description, ...], tuple[Description, ...]], ...] = ()
    cycles: tuple[Cycle, ...] = ()

    def edges(self) -> Iterator[Edge]:
        """Yield every edge that is in force, with its reason."""
        yield from self.explicit
        for narrow, wide in self.specificity:
            for first in narrow:
                for second in wide:
                    yield Edge(
                        first.name,
                        second.name,
                        Strength.SPECIFICITY,
                        f"the primary types of {first.name} "
                        f"({', '.join(map(str, first.primary_types))}) are more specific than "
                        f"the types that {second.name} supports",
                    )


def order_backends(
    descriptions: Sequence[Description],
    set_order: Iterable[tuple[str, str]] = (),
    variable: str = "SET_ORDER",
) -> Order:
    """Order backends by priority.

    Parameters
    ----------
    descriptions : sequence of Description
        In any order, but for those in code, whose order counts.
    set_order : iterable of (str, str)
        Edges from the environment, free of cycles.
    variable : str
        The name of the environment variable, for the reasons.

    Returns
    -------
    Order
        The order with its reasons. Backends on a cycle of declared edges are left out.
    """
    base = {item.name: item for item in sorted(descriptions, key=_BaseKey(descriptions))}
    explicit = _explicit_edges(base, set_order, variable)
    explicit, cycles = _without_cycles(base, explicit, tuple(set_order))
    for cycle in cycles:
        for name in cycle.members:
            base.pop(name, None)
    explicit = [edge for edge in explicit if edge.before in base and edge.after in base]

    groups = _groups(base.values(), explicit)
    successors = _specificity(groups, {(edge.before, edge.after) for edge in explicit})
    named = {item.name: key for key, members in groups.items() for item in members}
    arrows = {(named[edge.before], named[edge.after]) for edge in explicit}
    _drop_contradictions(successors, arrows)
    names = _sort(list(base), groups, successors, arrows)
    return Order(
        names=tuple(names),
        explicit=tuple(explicit),
        specificity=tuple(
            (tuple(groups[narrow]), tuple(groups[wide]))
            for narrow, followers in successors.items()
            for wide in followers
        ),
        cycles=tuple(cycles),
    )


class _BaseKey:
    """Sort key of the base order."""

    def __init__(self, descriptions: Sequence[Description]) -> None:
        in_code = [item.name for item in descriptions if item.in_code]
        self.position = {name: position for position, name in enumerate(in_code)}

    def __call__(self, item: Description) -> tuple[bool, bool, int, str]:
        return (
            item.name != DEFAULT,
            item.is_abstract,
            self.position.get(item.name, len(self.position)),
            item.name,
        )


def _explicit_edges(
    base: Mapping[str, Description], set_order: Iterable[tuple[str, str]], variable: str
) -> list[Edge]:
    """Edges of the environment and of descriptions; weaker opposite ones are overridden."""
    edges: dict[tuple[str, str], Edge] = {}
    for first, second in set_order:
        if first in base and second in base:
            reason = f"{variable} says {first}>{second}"
            edges[first, second] = Edge(first, second, Strength.ENVIRONMENT, reason)
    overridden = {(second, first) for first, second in edges}
    for item in base.values():
        pairs = [
            (item.name, other, "higher_priority_than") for other in item.higher_priority_than
        ] + [(other, item.name, "lower_priority_than") for other in item.lower_priority_than]
        for first, second, field in pairs:
            if first in base and second in base and (first, second) not in overridden:
                other = second if first == item.name else first
                reason = f"{item.name} declares {field} = {other}"
                edges.setdefault((first, second), Edge(first, second, Strength.DECLARED, reason))
    return list(edges.values())


def _without_cycles(
    base: Mapping[str, Description], edges: list[Edge], set_order: tuple[tuple[str, str], ...]
) -> tuple[list[Edge], list[Cycle]]:
    """Remove declared edges that contradict the environment, and find those that circle."""
    successors = _successors((edge.before, edge.after) for edge in edges)
    component = _components(successors)
    inside = [edge for edge in edges if component[edge.before] == component[edge.after]]
    settled = {component[edge.before] for edge in inside if edge.strength is Strength.ENVIRONMENT}
    dropped = {
        edge
        for edge in inside
        if edge.strength is Strength.DECLARED and component[edge.before] in settled
    }
    position = {name: index for index, name in enumerate(base)}
    cycles = []
    for number in sorted({component[edge.before] for edge in inside} - settled):
        members = [name for name in base if component.get(name) == number]
        mended = [
            f"{edge.after}>{edge.before}"
            for edge in inside
            if edge.before in members and position[edge.before] > position[edge.after]
        ]
        before = [f"{first}>{second}" for first, second in set_order]
        cycles.append(
            Cycle(
                path=_path(members, successors),
                members=tuple(name for name in members if name != DEFAULT),
                set_order=",".join(dict.fromkeys(before + mended)),
            )
        )
    return [edge for edge in edges if edge not in dropped], cycles


def _path(members: Sequence[str], successors: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    path = [members[0]]
    while path[-1] not in path[:-1]:
        path.append(next(name for name in successors[path[-1]] if name in members))
    return tuple(path[path.index(path[-1]) :])


# Backends that no explicit edge names and whose types are the same can be compared as one.
_Group = tuple[frozenset[str], frozenset[str], str]


def _groups(
    descriptions: Iterable[Description], explicit: Iterable[Edge]
) -> dict[_Group, list[Description]]:
    alone = {name for edge in explicit for name in (edge.before, edge.after)}
    groups: dict[_Group, list[Description]] = {}
    for item in descriptions:
        key = (
            frozenset(map(str, item.primary_types)),
            frozenset(pattern.identifier for pattern in item.primary_types + item.secondary_types),
            item.name if item.name in alone else "",
        )
        groups.setdefault(key, []).append(item)
    return groups


def _specificity(
    groups: Mapping[_Group, list[Description]], explicit: set[tuple[str, str]]
) -> dict[_Group, list[_Group]]:
    """Edges of type specificity between groups, those that no explicit edge overrides."""
    supporting: dict[str, list[_Group]] = defaultdict(list)
    for group in groups:
        for identifier in group[1]:
            supporting[identifier].append(group)
    breadths = {group: _breadths(members[0]) for group, members in groups.items()}
    result: dict[_Group, list[_Group]] = {group: [] for group in groups}
    for group in groups:
        if not breadths[group]:
            continue
        # Only groups that support the rarest of the types can support them all.
        rarest = min(breadths[group], key=lambda identifier: len(supporting[identifier]))
        for other in supporting[rarest]:
            if (
                other is not group
                and (other[2], group[2]) not in explicit
                and _more_specific(breadths[group], group[1], breadths[other], other[1])
            ):
                result[group].append(other)
    return result


def _breadths(item: Description) -> dict[str, int]:
    """Primary types by identifier, with the breadth of the widest pattern that names them."""
    breadths: dict[str, int] = {}
    for pattern in item.primary_types:
        breadth = _BREADTH[pattern.prefix]
        breadths[pattern.identifier] = max(breadth, breadths.get(pattern.identifier, 0))
    return breadths


def _more_specific(
    first: Mapping[str, int],
    first_supported: frozenset[str],
    second: Mapping[str, int],
    second_supported: frozenset[str],
) -> bool:
    """Whether the first backend goes before the second by its types.

    That is so if its primary types are a strict subset of the types that the second
    supports and not the other way round too; or else if both name the same primary types
    and the first names none more widely and at least one more narrowly.
    """
    below = first.keys() < second_supported
    above = second.keys() < first_supported
    if below != above:
        return below
    return (
        first.keys() == second.keys()
        and first != second
        and all(breadth <= second[identifier] for identifier, breadth in first.items())
    )


def _drop_contradictions(
    successors: dict[_Group, list[_Group]], arrows: set[tuple[_Group, _Group]]
) -> None:
    """Take edges of type specificity out of cycles, in place; explicit edges have none."""
    both = _successors([*arrows, *((a, b) for a, after in successors.items() for b in after)])
    component = _components(both)
    for group, followers in successors.items():
        followers[:] = [other for other in followers if component[group] != component[other]]


def _sort(
    base: Sequence[str],
    groups: Mapping[_Group, list[Description]],
    successors: Mapping[_Group, Sequence[_Group]],
    arrows: Iterable[tuple[_Group, _Group]],
) -> list[str]:
    """Kahn's algorithm over groups, with a heap that keeps the base order."""
    position = {name: index for index, name in enumerate(base)}
    group_of = {item.name: group for group, members in groups.items() for item in members}
    following = {group: {*followers} for group, followers in successors.items()}
    for first, second in arrows:
        following[first].add(second)
    waiting_for = dict.fromkeys(groups, 0)
    for followers in following.values():
        for other in followers:
            waiting_for[other] += 1
    unplaced = {group: len(members) for group, members in groups.items()}
    ready: list[int] = []

    def release(group: _Group) -> None:
        for item in groups[group]:
            heapq.heappush(ready, position[item.name])

    for group, count in waiting_for.items():
        if not count:
            release(group)
    names = []
    while ready:
        name = base[heapq.heappop(ready)]
        names.append(name)
        group = group_of[name]
        unplaced[group] -= 1
        if not unplaced[group]:
            for other in following[group]:
                waiting_for[other] -= 1
                if not waiting_for[other]:
                    release(other)
    return names


def _successors(arrows: Iterable[tuple[_Node, _Node]]) -> dict[_Node, list[_Node]]:
    successors: dict[_Node, list[_Node]] = {}
    for first, second in arrows:
        successors.setdefault(first, []).append(second)
        successors.setdefault(second, [])
    return successors


def _components(successors: Mapping[_Node, Sequence[_Node]]) -> dict[_Node, int]:
    """Return the numbers of strongly connected components (Tarjan 1972), not recursively."""
    component: dict[_Node, int] = {}
    index: dict[_Node, int] = {}
    low: dict[_Node, int] = {}
    open_nodes: list[_Node] = []
    for root in successors:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        work = [(root, iter(successors[root]))]
        while work:
            node, followers = work[-1]
            for other in followers:
                if other not in index:
                    index[other] = low[other] = len(index)
                    open_nodes.append(other)
                    work.append((other, iter(successors[other])))
                    break
                if other not in component:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    number = index[node]
                    while True:
                        other = open_nodes.pop()
                        component[other] = number
                        if other == node:
                            break
    return component
