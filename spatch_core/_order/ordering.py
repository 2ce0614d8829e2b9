"""The priority order of a library's backends: pure functions of descriptions and edges.

The base order is: the default, then concrete backends, then abstract ones; within that,
descriptions in code as they were given, then entry points by name. Edges say that one
backend goes before another. Whoever has an edge moves, and only as far as it must: up for
one that goes before others (it says so, the environment names it first, or its types are
more specific), down for one that says it goes after others; the rest keep the base order.
From there a stable topological sort makes sure that every edge holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from .._description.description import Description
from .._identifiers import DEFAULT
from .graph import components, cycle_through, sort_stably, successors_of
from .specificity import Profile, more_specific


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Backends of the same types that explicit edges put before and after the same others.

    They can be treated as one. No edge of any kind leads from one of them to another.

    Parameters
    ----------
    profile : Profile
        Their types.
    after : frozenset of str
        The backends that go before them by explicit edges.
    members : list of Description
        The backends, in base order.
    """

    profile: Profile
    after: frozenset[str]
    members: list[Description] = field(default_factory=list)


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
    moves_down : bool
        Whether the second moves down for it, rather than the first up.
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
    specificity : sequence of (Group, Group)
        Each backend of the first group goes before each of the second, by type specificity.
    cycles : tuple of Cycle
        Why backends are missing from `names`.
    """

    names: tuple[str, ...]
    explicit: tuple[Edge, ...] = ()
    specificity: Sequence[tuple[Group, Group]] = ()
    cycles: tuple[Cycle, ...] = ()

    def edges(self) -> Iterator[Edge]:
        """Yield every edge that is in force, with its reason."""
        yield from self.explicit
        for narrow, wide in self.specificity:
            for first in narrow.members:
                for second in wide.members:
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
    set_order = tuple(set_order)
    base = {item.name: item for item in sorted(descriptions, key=_BaseKey(descriptions))}
    cycles: list[Cycle] = []
    while True:
        explicit = _explicit_edges(base, set_order, variable)
        found = _declared_cycles(base, explicit, set_order)
        if not found:
            break
        cycles += found
        for cycle in found:
            for name in cycle.members:
                del base[name]
    explicit = _settled(explicit)

    groups = _groups(base.values(), explicit)
    named = {item.name: group for group in groups for item in group.members}
    group_of = {name: named[name] for name in base}
    declared = [(group_of[edge.before], group_of[edge.after]) for edge in explicit]
    specific = _without_contradictions(_specific_edges(groups), declared)
    successors = successors_of([*declared, *specific])
    moved = _move(group_of, successors, *_moves(explicit, specific))
    names = sort_stably({name: group_of[name] for name in moved}, successors)
    return Order(
        names=tuple(names),
        explicit=tuple(explicit),
        specificity=specific,
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
    """Return the edges of the environment, and the declared ones that it does not oppose."""
    environment = _bridged(set_order, base)
    edges = {
        (first, second): Edge(
            first, second, Strength.ENVIRONMENT, f"{variable} says {first}>{second}"
        )
        for first, second in environment
    }
    following = successors_of(environment)
    reached: dict[str, set[str]] = {}

    def opposed(first: str, second: str) -> bool:
        if second not in reached:
            reached[second] = _reached_from(second, following)
        return first in reached[second]

    for item in base.values():
        pairs = [
            (item.name, other, "higher_priority_than") for other in item.higher_priority_than
        ] + [(other, item.name, "lower_priority_than") for other in item.lower_priority_than]
        for first, second, key in pairs:
            if first not in base or second not in base or opposed(first, second):
                continue
            other = second if first == item.name else first
            reason = f"{item.name} declares {key} = {other}"
            edge = Edge(first, second, Strength.DECLARED, reason, moves_down=second == item.name)
            edges.setdefault((first, second), edge)
    return list(edges.values())


def _bridged(
    pairs: Iterable[tuple[str, str]], present: Mapping[str, object]
) -> list[tuple[str, str]]:
    """Return the pairs of present names, also those that hang together by absent ones."""
    following = successors_of(pairs)
    absent = {name: after for name, after in following.items() if name not in present}
    bridged: dict[tuple[str, str], None] = {}
    for first, after in following.items():
        if first in present:
            for name in after:
                beyond = _reached_from(name, absent) if name in absent else (name,)
                bridged.update(((first, each), None) for each in beyond if each in present)
    return list(bridged)


def _reached_from(first: str, following: Mapping[str, Sequence[str]]) -> set[str]:
    """Return every name that edges lead to from `first`."""
    reached: set[str] = set()
    waiting = [first]
    while waiting:
        for name in following.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def _declared_cycles(
    base: Mapping[str, Description], edges: Sequence[Edge], set_order: Sequence[tuple[str, str]]
) -> list[Cycle]:
    """Find the declared edges that circle, and the value that mends each circle."""
    declared = [(edge.before, edge.after) for edge in edges if edge.strength is Strength.DECLARED]
    following = successors_of(declared)
    component = components(following)
    circling: dict[int, list[tuple[str, str]]] = {}
    for first, second in declared:
        if component[first] == component[second]:
            circling.setdefault(component[first], []).append((first, second))
    if not circling:
        return []
    # Edges are turned round so that all agree with one order, which the environment's own
    # edges agree with already.
    settled = [(edge.before, edge.after) for edge in edges if edge.strength is Strength.ENVIRONMENT]
    names = sort_stably({name: name for name in base}, successors_of(settled))
    position = {name: number for number, name in enumerate(names)}
    stated = [f"{first}>{second}" for first, second in set_order]
    cycles = []
    for pairs in circling.values():
        inside = {name for pair in pairs for name in pair}
        turned = [
            f"{second}>{first}" for first, second in pairs if position[second] < position[first]
        ]
        cycles.append(
            Cycle(
                path=cycle_through(pairs),
                members=tuple(name for name in base if name in inside and name != DEFAULT),
                set_order=",".join(dict.fromkeys(stated + turned)),
            )
        )
    return cycles


def _settled(edges: list[Edge]) -> list[Edge]:
    """Leave out the declared edges that only circle together with the environment's."""
    component = components(successors_of((edge.before, edge.after) for edge in edges))
    return [
        edge
        for edge in edges
        if edge.strength is Strength.ENVIRONMENT or component[edge.before] != component[edge.after]
    ]


def _groups(descriptions: Iterable[Description], explicit: Iterable[Edge]) -> list[Group]:
    before: dict[str, set[str]] = {}
    after: dict[str, set[str]] = {}
    for edge in explicit:
        before.setdefault(edge.before, set()).add(edge.after)
        after.setdefault(edge.after, set()).add(edge.before)
    profiles: dict[object, Profile] = {}
    groups: dict[object, Group] = {}
    for item in descriptions:
        profile = Profile.of(item)
        profile = profiles.setdefault((profile.primary, profile.supported), profile)
        follows = frozenset(after.get(item.name, ()))
        key = profile, follows, frozenset(before.get(item.name, ()))
        groups.setdefault(key, Group(profile, follows)).members.append(item)
    return list(groups.values())


def _specific_edges(groups: Iterable[Group]) -> list[tuple[Group, Group]]:
    """Return the edges of type specificity that no explicit edge overrides."""
    by_profile: dict[Profile, list[Group]] = {}
    for group in groups:
        by_profile.setdefault(group.profile, []).append(group)
    return [
        (narrow, wide)
        for first, second in more_specific(by_profile)
        for narrow in by_profile[first]
        for wide in by_profile[second]
        if wide.members[0].name not in narrow.after
    ]


def _without_contradictions(
    specific: list[tuple[Group, Group]], declared: list[tuple[Group, Group]]
) -> list[tuple[Group, Group]]:
    """Take the edges of type specificity out of cycles; explicit edges form none."""
    component = components(successors_of([*declared, *specific]))
    return [(narrow, wide) for narrow, wide in specific if component[narrow] != component[wide]]


def _moves(
    explicit: Iterable[Edge],
    specific: Iterable[tuple[Group, Group]],
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return before whom backends must move up, and after whom others must move down."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for edge in explicit:
        if edge.moves_down:
            below.setdefault(edge.after, []).append(edge.before)
        else:
            above.setdefault(edge.before, []).append(edge.after)
    for narrow, wide in specific:
        names = [item.name for item in wide.members]
        for item in narrow.members:
            above.setdefault(item.name, []).extend(names)
    return above, below


def _move(
    group_of: Mapping[str, Group],
    successors: Mapping[Group, Sequence[Group]],
    above: Mapping[str, Sequence[str]],
    below: Mapping[str, Sequence[str]],
) -> list[str]:
    """Move names up and down, each after those on whose place its own depends.

    What moves to the same place is moved so that it keeps its order there.
    """
    order = list(group_of)
    predecessors = successors_of(
        (after, before) for before, following in successors.items() for after in following
    )
    position = {name: number for number, name in enumerate(order)}

    def move(name: str, place: int) -> None:
        order.insert(place, order.pop(position[name]))
        position.update(zip(order, range(len(order)), strict=True))

    for name in sort_stably(group_of, predecessors):
        if name in above:
            first = min(position[other] for other in above[name])
            if first < position[name]:
                move(name, first)
    for name in sort_stably(dict(reversed(list(group_of.items()))), successors):
        if name in below:
            last = max(position[other] for other in below[name])
            if last > position[name]:
                move(name, last)
    return order
