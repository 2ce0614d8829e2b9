"""The priority order of backends, as pure functions of descriptions and edges.

`order_backends` orders the candidates of a call, whatever other backends there are. `order_all`
orders all backends of a library, for display. An order is defined in four steps:

1. *Base order*: the default, then concrete backends, then abstract ones; within that,
   descriptions in code as they were given, then entry points by name.
2. *Up*: a backend that goes before others by an edge moves up to the place of the first of
   them, unless it is there or higher already. Edges of the environment, of
   ``higher_priority_than``, of nearness and of type specificity move a backend up.
3. *Down*: a backend that declares ``lower_priority_than`` moves down to just after the last
   of the backends that it names, unless it is lower already.
4. *Sort*: a stable topological sort makes sure that every edge holds.

For example, let ``d`` declare ``higher_priority_than = ["default"]``, ``c`` declare
``higher_priority_than = ["b"]``, and ``a`` declare ``lower_priority_than = ["b"]``:

=================  =====================
step               order
=================  =====================
base order         ``default a b c d``
``c`` up           ``default a c b d``
``d`` up           ``d default a c b``
``a`` down         ``d default c b a``
sort               ``d default c b a``
=================  =====================

The sort alone would give ``c b a d default``: every edge holds, but ``a``, ``b`` and ``c`` go
before the default, although no edge says so. The moves prevent this: a backend that no edge
concerns is not moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .._description import Description
from .._patterns import DEFAULT, shown
from .edges import Cycle, Edge, Strength, explicit_edges, without_pairs
from .graph import sort_stably, successors_of
from .groups import Group, group_backends, specificity_edges
from .moves import move
from .nearness import nearness_edges

_MORE_SPECIFIC = "the primary types of {} ({}) are more specific than the types that {} supports"
_NEARER = "{} ({}) names a class that is nearer to the dispatch type than {} does"


@dataclass(frozen=True, slots=True)
class Order:
    """The priority order, and the reasons for it.

    Parameters
    ----------
    names : tuple of str
        Backends by priority, ``"default"`` among them.
    explicit : tuple of Edge
        Edges from the environment and from descriptions that are in force.
    specificity : sequence of (Group, Group)
        Each backend of the first group goes before each of the second, by type specificity.
    nearness : sequence of (Group, Group)
        The same, by nearness.
    cycles : tuple of Cycle
        Declared edges that contradict each other, and are not in force.
    default_name : str, optional
        The name of the library itself in the reasons of edges.
    """

    names: tuple[str, ...]
    explicit: tuple[Edge, ...] = ()
    specificity: Sequence[tuple[Group, Group]] = ()
    nearness: Sequence[tuple[Group, Group]] = ()
    cycles: tuple[Cycle, ...] = ()
    default_name: str = DEFAULT

    def edges(self) -> Iterator[Edge]:
        """Yield every edge that is in force, with the reason of its strongest source."""
        yield from self.explicit
        told = {(edge.before, edge.after) for edge in self.explicit}
        for groups, reason in ((self.nearness, _NEARER), (self.specificity, _MORE_SPECIFIC)):
            for before, after in groups:
                for first in before.members:
                    types = ", ".join(map(str, first.primary_types))
                    name = shown(first.name, self.default_name)
                    for second in after.members:
                        if (first.name, second.name) in told:
                            continue
                        told.add((first.name, second.name))
                        text = reason.format(name, types, shown(second.name, self.default_name))
                        yield Edge(first.name, second.name, Strength.SPECIFICITY, text)


def order_backends(
    descriptions: Sequence[Description],
    set_order: Iterable[tuple[str, str]] = (),
    variable: str = "SET_ORDER",
    nearness: Sequence[Sequence[frozenset[str]]] = (),
) -> Order:
    """Order the candidates of a call by priority, as the module's docstring defines it.

    Parameters
    ----------
    descriptions : sequence of Description
        In any order, except that descriptions in code keep theirs.
    set_order : iterable of (str, str)
        Edges from the environment, free of cycles.
    variable : str
        The name of the environment variable, for the reasons.
    nearness : sequence of sequence of frozenset of str, optional
        For each dispatch type, sets of backends whose patterns name the same class, the nearest
        class first.

    Returns
    -------
    Order
        The order with its reasons. Backends on a cycle of declared edges are left out.

    Examples
    --------
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
    explicit, cycles = explicit_edges(base, tuple(set_order), variable)
    for cycle in cycles:
        for name in cycle.members:
            del base[name]
    group_of = group_backends(base.values(), explicit, nearness)
    near = nearness_edges(group_of, explicit)
    specific = specificity_edges(group_of, explicit, near)
    by_types = [*dict.fromkeys(near + specific)]
    successors = successors_of(
        [(group_of[edge.before], group_of[edge.after]) for edge in explicit] + by_types
    )
    moved = move(group_of, successors, explicit, by_types)
    return Order(
        names=tuple(sort_stably({name: group_of[name] for name in moved}, successors)),
        explicit=tuple(explicit),
        specificity=specific,
        nearness=near,
        cycles=tuple(cycles),
    )


def order_all(
    descriptions: Sequence[Description],
    set_order: Iterable[tuple[str, str]] = (),
    variable: str = "SET_ORDER",
) -> Order:
    """Order all backends of a library; declared edges on a cycle are not in force.

    The parameters are those of `order_backends`. No backend is left out: backends on a cycle may
    be candidates of different calls.
    """
    set_order = tuple(set_order)
    order = order_backends(descriptions, set_order, variable)
    if not order.cycles:
        return order
    agreeing = [without_pairs(item, order.cycles) for item in descriptions]
    return replace(order_backends(agreeing, set_order, variable), cycles=order.cycles)


def base_order(descriptions: Sequence[Description]) -> dict[str, Description]:
    """Return the descriptions by name, in base order (step 1)."""
    in_code = [item.name for item in descriptions if item.in_code]
    position = {name: number for number, name in enumerate(in_code)}

    def key(item: Description) -> tuple[bool, bool, int, str]:
        return (
            item.name != DEFAULT,
            item.is_abstract,
            position.get(item.name, len(position)),
            item.name,
        )

    return {item.name: item for item in sorted(descriptions, key=key)}
