"""The priority order of backends: descriptions and edges come in; names go out.

An *edge* says that one backend goes before another, and why. Edges come from three sources, and a
stronger edge overrides a weaker opposite one:

========  ==================================================================================
strength  source
========  ==================================================================================
3         the environment's ``SET_ORDER``
2         ``higher_priority_than`` and ``lower_priority_than`` of descriptions
1         the types: nearness on the MRO of a dispatch type, and where that does not decide,
          type specificity
========  ==================================================================================

An order is made in four steps:

1. *Base order*: the default, then concrete backends, then abstract ones; within that,
   descriptions in code as they were given, then entry points by name.
2. *Up*: a backend that goes before others by an edge goes to just before the first of them, unless
   it is there or higher already.
3. *Down*: but one that declares ``lower_priority_than`` goes to just after the last of the backends
   that it names, unless it is lower already.
4. *Sort*: a stable topological sort makes every edge hold, also where steps 2 and 3 disagree.

So a backend that no edge concerns keeps its place among the others of its kind.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple, TypeVar

from ._description import Description
from ._patterns import ABSTRACT, DEFAULT, EXACT, SUBCLASS, TypePattern, shown

Node = TypeVar("Node", bound=Hashable)
Pairs = Iterable[tuple[Node, Node]]
"""Arrows of a graph: the first of each goes before the second."""

ENVIRONMENT = "environment"
DECLARED = "declared"
"""The origins of explicit edges, the strongest first."""

CYCLE = "the declared priorities form a cycle"
"""The start of messages about a `Cycle`."""
_WIDTHS = {EXACT: 0, SUBCLASS: 1, ABSTRACT: 2}


class Edge(NamedTuple):
    """One backend goes before another, because the environment or a description says so."""

    before: str
    after: str
    origin: str
    moves_down: bool = False  # the second backend moves down, instead of the first one up


class Cycle(NamedTuple):
    """Declared edges that contradict each other."""

    path: tuple[str, ...]  # along one cycle; the first name is repeated at the end
    members: tuple[str, ...]  # the backends on this cycle and on those connected to it
    set_order: str  # the value of ``SET_ORDER`` that resolves it
    pairs: tuple[tuple[str, str], ...]  # the declared edges on these cycles

    def in_words(self, default_name: str) -> str:
        """Return the path; `default_name` is the name of the library itself in it."""
        return " before ".join([shown(each, default_name) for each in self.path])


class Group:
    """Backends that edges treat alike; no edge leads from one to another. Compared by identity.

    Between 1,000 backends of the same few types there would be a million edges by types; between
    their groups there are a few.
    """

    __slots__ = ("identifiers", "members", "places", "supported", "widths")

    def __init__(
        self,
        primary_types: Iterable[TypePattern],
        secondary: frozenset[str],
        places: tuple[int, ...],
    ) -> None:
        widths: dict[str, int] = {}
        for pattern in primary_types:  # the widest pattern of a class counts
            width = _WIDTHS[pattern.prefix]
            widths[pattern.identifier] = max(width, widths.get(pattern.identifier, 0))
        self.widths = frozenset(widths.items())
        self.identifiers = frozenset(widths)
        self.supported = self.identifiers | secondary
        self.places = places  # for each dispatch type of a call; see `_is_nearer`
        self.members: list[Description] = []  # in base order


class Order(NamedTuple):
    """The priority order, and the edges that made it."""

    names: tuple[str, ...]  # by priority, "default" among them
    explicit: Sequence[Edge] = ()
    # An edge leads from each backend of the first group to each of the second.
    specificity: Sequence[tuple[Group, Group]] = ()
    cycles: Sequence[Cycle] = ()


def order_backends(
    descriptions: Sequence[Description],
    set_order: Sequence[tuple[str, str]] = (),
    nearness: Sequence[Sequence[frozenset[str]]] = (),
) -> Order:
    """Order backends by priority, as the module's docstring defines it.

    `set_order` has the edges of the environment, free of cycles. `nearness` has, for each dispatch
    type of a call, sets of backends whose patterns name the same class, the nearest class first.
    Declared edges on a cycle are void.

    >>> from spatch_core._patterns import TypePattern
    >>> def backend(name, **fields):
    ...     return Description(name, (TypePattern("m:Array"),), **fields)
    >>> backends = [
    ...     backend("d", higher_priority_than=("default",)),
    ...     backend("c", higher_priority_than=("b",)),
    ...     backend("b"),
    ...     backend("a", lower_priority_than=("b",)),
    ...     backend("default"),
    ... ]
    >>> order_backends(backends).names
    ('d', 'default', 'c', 'b', 'a')
    >>> order_backends(backends, [("default", "d")]).names
    ('default', 'c', 'b', 'a', 'd')
    """
    base = base_order(descriptions)
    explicit, cycles = _explicit_edges(base, set_order)
    group_of = _grouped(base.values(), explicit, nearness)
    groups = [*dict.fromkeys(group_of.values())]

    def between_groups(edges: Iterable[Edge]) -> list[tuple[Group, Group]]:
        return [(group_of[edge.before], group_of[edge.after]) for edge in edges]

    stated = between_groups(explicit)
    near = _unopposed(_nearer(groups), stated)
    specific = _unopposed(_more_specific(groups), stated + near)

    up = between_groups(edge for edge in explicit if not edge.moves_down) + near + specific
    names = _arranged(group_of, group_of, up)
    # To move down is to move up in the reversed order.
    down = between_groups(edge for edge in explicit if edge.moves_down)
    if down:
        names = _arranged(names[::-1], group_of, [(after, before) for before, after in down])[::-1]
        names = _arranged(names, group_of, stated + near + specific)
    return Order(tuple(names), explicit, specific, cycles)


def base_order(descriptions: Sequence[Description]) -> dict[str, Description]:
    """Return the descriptions by name, in base order."""
    in_code = [item.name for item in descriptions if item.in_code]
    position = {name: number for number, name in enumerate(in_code)}

    def key(item: Description) -> tuple[bool, bool, int, str]:
        place = position.get(item.name, len(position))
        return (item.name != DEFAULT, item.is_abstract, place, item.name)

    return {item.name: item for item in sorted(descriptions, key=key)}


# --- Explicit edges: of the environment and of descriptions ---------------------------------------


def _explicit_edges(
    base: Mapping[str, Description], set_order: Sequence[tuple[str, str]]
) -> tuple[list[Edge], list[Cycle]]:
    """Return the explicit edges in force, and the cycles of declared edges, which are void."""
    edges = _stated_edges(base, set_order)
    cycles = _declared_cycles(base, edges, set_order)
    void = {pair for cycle in cycles for pair in cycle.pairs}
    edges = [edge for edge in edges if (edge.before, edge.after) not in void]
    # A declared edge that closes a cycle together with edges of the environment gives way.
    component = _components((edge.before, edge.after) for edge in edges)
    edges = [
        edge
        for edge in edges
        if edge.origin == ENVIRONMENT or component[edge.before] != component[edge.after]
    ]
    return edges, cycles


def _stated_edges(
    present: Mapping[str, Description], set_order: Sequence[tuple[str, str]]
) -> list[Edge]:
    """Return the edges of the environment, and the declared ones that no path of these opposes."""
    following = _successors(set_order)
    edges: dict[tuple[str, str], Edge] = {}
    for first in following:
        if first in present:
            # Absent names connect their neighbours.
            for second in _reached(first, following, stops=present):
                if second in present:
                    edges[first, second] = Edge(first, second, ENVIRONMENT)
    reached: dict[str, dict[str, None]] = {}

    def declare(first: str, second: str, moves_down: bool) -> None:
        if first not in present or second not in present:
            return
        if second not in reached:
            reached[second] = _reached(second, following)
        if first not in reached[second]:
            edges.setdefault((first, second), Edge(first, second, DECLARED, moves_down))

    for item in present.values():
        for other in item.higher_priority_than:
            declare(item.name, other, moves_down=False)
        for other in item.lower_priority_than:
            declare(other, item.name, moves_down=True)
    return [*edges.values()]


def _declared_cycles(
    present: Iterable[str], edges: Iterable[Edge], set_order: Sequence[tuple[str, str]]
) -> list[Cycle]:
    """Return the cycles of declared edges, one for each strongly connected component."""
    stated: dict[str, list[tuple[str, str]]] = {ENVIRONMENT: [], DECLARED: []}
    for edge in edges:
        stated[edge.origin].append((edge.before, edge.after))
    component = _components(stated[DECLARED])
    circular: dict[int, list[tuple[str, str]]] = {}
    for first, second in stated[DECLARED]:
        if component[first] == component[second]:
            circular.setdefault(component[first], []).append((first, second))
    if not circular:
        return []
    # The proposed value reverses the edges that contradict one total order. The
    # environment's own edges agree with that order, so that the value has no cycle.
    names = _arranged(present, {name: name for name in present}, stated[ENVIRONMENT])
    position = {name: number for number, name in enumerate(names)}
    cycles = []
    for pairs in circular.values():
        inside = {name for pair in pairs for name in pair}
        value = [f"{first}>{second}" for first, second in set_order] + [
            f"{second}>{first}" for first, second in pairs if position[second] < position[first]
        ]
        members = tuple([name for name in present if name in inside and name != DEFAULT])
        text = ",".join(dict.fromkeys(value))
        cycles.append(Cycle(find_cycle(pairs), members, text, tuple(pairs)))
    return cycles


# --- Edges by types -------------------------------------------------------------------------------


def _grouped(
    descriptions: Collection[Description],
    explicit: Iterable[Edge],
    nearness: Sequence[Sequence[frozenset[str]]],
) -> dict[str, Group]:
    """Return the group of each backend by its name; the names keep the order given."""
    stated: dict[str, set[object]] = {}  # what explicit edges say of each backend
    for edge in explicit:
        stated.setdefault(edge.before, set()).add(("before", edge.after, edge.moves_down))
        stated.setdefault(edge.after, set()).add(("after", edge.before, edge.moves_down))
    ranks: list[dict[str, int]] = [{} for _ in nearness]
    for rank_of, by_distance in zip(ranks, nearness, strict=True):
        for rank, names in enumerate(by_distance):
            for name in names:
                rank_of.setdefault(name, rank)
    primary = {each.identifier for item in descriptions for each in item.primary_types}
    groups: dict[object, Group] = {}
    group_of = {}
    for item in descriptions:
        places = tuple([rank_of.get(item.name, -1) for rank_of in ranks])
        edges = frozenset(stated.get(item.name, ()))
        # Of types that are primary for no backend, it matters only whether there are any.
        found = [each.identifier for each in item.secondary_types]
        secondary = frozenset([each if each in primary else "" for each in found])
        key = item.primary_types, secondary, places, edges
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(item.primary_types, secondary, places)
        group.members.append(item)
        group_of[item.name] = group
    return group_of


def _nearer(groups: Iterable[Group]) -> Iterator[tuple[Group, Group]]:
    """Yield the pairs of groups where the first is nearer than the second."""
    at: dict[tuple[int, ...], list[Group]] = {}
    for group in groups:
        at.setdefault(group.places, []).append(group)
    for first, second in product(at, at):
        if _is_nearer(first, second):
            yield from product(at[first], at[second])


def _is_nearer(first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether a backend with the `first` places is nearer than one with the `second`.

    A place counts the classes that patterns of backends name, along the MRO of a dispatch type of
    the call. So for an instance of ``Sub``, a backend of ``m:Sub`` is nearer than one of
    ``~m:Base``. It must be nearer for one dispatch type, and farther away for none. At place -1,
    the type is not a primary type of the backend, or only by an abstract pattern.

    >>> _is_nearer((0, 1), (2, 1)), _is_nearer((0, 1), (2, 0)), _is_nearer((0, -1), (0, 3))
    (True, False, False)
    """
    pairs = [(one, two) for one, two in zip(first, second, strict=True) if min(one, two) >= 0]
    return any(one < two for one, two in pairs) and all(one <= two for one, two in pairs)


def _more_specific(groups: Iterable[Group]) -> Iterator[tuple[Group, Group]]:
    """Yield the pairs of groups where the first is more specific than the second."""
    # Groups of the same types relate alike to all others: one of them is compared.
    kinds: dict[object, list[Group]] = {}
    for group in groups:
        kinds.setdefault((group.widths, group.supported), []).append(group)
    # The less specific one of a pair supports all primary types of the other one.
    supporting: dict[str, list[list[Group]]] = {}
    for alike in kinds.values():
        for identifier in alike[0].supported:
            supporting.setdefault(identifier, []).append(alike)
    for narrow in kinds.values():
        for wide in supporting[min(narrow[0].identifiers)] if narrow[0].identifiers else ():
            if _is_more_specific(narrow[0], wide[0]):
                yield from product(narrow, wide)


def _is_more_specific(first: Group, second: Group) -> bool:
    """Whether a backend of the first group goes before one of the second by its types.

    First rule: its primary types are a strict subset of the types that the other supports, and the
    opposite does not hold. Second rule, where the first favours neither: both name the same primary
    types, and this one names none more widely and at least one more narrowly.

    ======================  ======================  =================
    this one                the other one           more specific
    ======================  ======================  =================
    ``A``                   ``A, B``                this one, rule 1
    ``A``, secondary ``B``  ``B``                   the other, rule 1
    ``A``, secondary ``B``  ``B``, secondary ``A``  neither
    ``A``                   ``~A``                  this one, rule 2
    ``A, ~B``               ``~A, B``               neither
    ======================  ======================  =================
    """
    below = first.identifiers < second.supported
    above = second.identifiers < first.supported
    if below != above:
        return below
    if first.identifiers != second.identifiers or first.widths == second.widths:
        return False
    others = dict(second.widths)
    return all(width <= others[identifier] for identifier, width in first.widths)


def _unopposed(
    found: Iterable[tuple[Group, Group]], stronger: Sequence[tuple[Group, Group]]
) -> list[tuple[Group, Group]]:
    """Return the pairs that no stronger one opposes, and that close no cycle."""
    opposed = {(second, first) for first, second in stronger}
    found = [pair for pair in found if pair not in opposed]
    if not found:
        return []
    component = _components([*stronger, *found])
    return [pair for pair in found if component[pair[0]] != component[pair[1]]]


# --- Graphs, without recursion: a path may be as long as there are backends -----------------------


def _arranged(names: Iterable[str], node_of: Mapping[str, Node], pairs: Pairs[Node]) -> list[str]:
    """Return names in their order, but each after all names of the nodes before its own.

    `pairs` are free of cycles. Names go up no further than to the first one that needs them.

    >>> _arranged("abcd", dict(zip("abcd", "abcd")), [("d", "b"), ("c", "b")])
    ['a', 'c', 'd', 'b']
    """
    position = {name: number for number, name in enumerate(names)}
    members: dict[Node, list[str]] = {}
    for name in position:
        members.setdefault(node_of[name], []).append(name)
    before: dict[Node, dict[Node, None]] = {}
    for first, second in pairs:
        before.setdefault(second, {})[first] = None
    placed: dict[str, None] = {}
    opened = set()  # nodes before whose names all others are placed, or lie on top of `work`
    for each in position:
        work = [each]
        while work:
            node = node_of[work[-1]]
            if node in opened or node not in before:
                placed[work.pop()] = None
            else:
                opened.add(node)
                earlier = [name for other in before[node] for name in members[other]]
                work += sorted(earlier, key=position.__getitem__, reverse=True)
    return [*placed]


def _successors(pairs: Pairs[Node]) -> dict[Node, list[Node]]:
    """Return the successors of each node; a node without any has an empty list."""
    successors: dict[Node, list[Node]] = {}
    for first, second in pairs:
        successors.setdefault(first, []).append(second)
        successors.setdefault(second, [])
    return successors


def _reached(
    start: Node, successors: Mapping[Node, Sequence[Node]], stops: Container[Node] = ()
) -> dict[Node, None]:
    """Return the nodes that pairs lead to from `start`; no step leads on from `stops`."""
    reached: dict[Node, None] = {}
    waiting = [start]
    while waiting:
        for node in successors.get(waiting.pop(), ()):
            if node not in reached:
                reached[node] = None
                if node not in stops:
                    waiting.append(node)
    return reached


def _components(pairs: Pairs[Node]) -> dict[Node, int]:
    """Return the number of each node's strongly connected component (Kosaraju's algorithm).

    >>> _components([("a", "b"), ("b", "a"), ("b", "c")])
    {'a': 0, 'b': 0, 'c': 2}
    """
    successors = _successors(pairs)
    predecessors: dict[Node, list[Node]] = {node: [] for node in successors}
    for node, following in successors.items():
        for other in following:
            predecessors[other].append(node)
    seen: set[Node] = set()
    left: dict[Node, None] = {}  # each node after all that can be reached from it alone
    for root in successors:
        work = [root]
        while work:
            node = work[-1]
            if node in seen:
                left[work.pop()] = None
            else:
                seen.add(node)
                work += [each for each in successors[node] if each not in seen]
    component: dict[Node, int] = {}
    for number, root in enumerate(reversed(left)):
        work = [root]
        while work:
            node = work.pop()
            if node not in component:
                component[node] = number
                work += predecessors[node]
    return component


def find_cycle(pairs: Sequence[tuple[Node, Node]]) -> tuple[Node, ...]:
    """Return the first cycle among pairs, its first node repeated at the end; empty without.

    >>> find_cycle([("a", "b"), ("b", "c"), ("c", "b")])
    ('b', 'c', 'b')
    """
    component = _components(pairs)
    inside = [pair for pair in pairs if component[pair[0]] == component[pair[1]]]
    if not inside:
        return ()
    following = dict(reversed(inside))  # the first successor of each
    path: dict[Node, None] = {}
    node = inside[0][0]
    while node not in path:
        path[node] = None
        node = following[node]
    nodes = [*path]
    return (*nodes[nodes.index(node) :], node)
