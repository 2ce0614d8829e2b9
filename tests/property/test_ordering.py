"""The priority order of random backends against the rules P taken word by word."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from spatch_core._description.description import Description
from spatch_core._discovery.environment import read_environment
from spatch_core._order.edges import Strength
from spatch_core._order.ordering import Order, order_backends
from spatch_core._type_patterns import TypePattern

Pair = tuple[str, str]
Reference = dict[tuple[str, str, Strength], None]

NAMES = list("abcdefg")
ABSENT = ["p", "q"]
TYPES = ["m:A", "m:B", "m:C", "n:A"]
WIDTH = {"": 0, "~": 1, "@": 2}


# --- the definition, pair by pair ----------------------------------------------------


def closure(pairs: Iterable[Pair]) -> set[Pair]:
    """Every pair that is connected by steps (Warshall)."""
    reached = set(pairs)
    nodes = sorted({name for pair in reached for name in pair})
    for middle in nodes:
        for first in nodes:
            for last in nodes:
                if (first, middle) in reached and (middle, last) in reached:
                    reached.add((first, last))
    return reached


def across(pairs: Sequence[Pair], present: set[str]) -> set[Pair]:
    """The pairs of present names, including those joined by absent ones."""
    absent = closure(pair for pair in pairs if not set(pair) & present)
    absent |= {(name, name) for pair in pairs for name in pair if name not in present}
    joined = {
        (first, last)
        for (first, one), (two, last) in itertools.product(pairs, pairs)
        if (one, two) in absent
    }
    return {pair for pair in joined.union(pairs) if set(pair) <= present}


def widths(description: Description) -> dict[str, int]:
    found: dict[str, int] = {}
    for pattern in description.primary_types:
        width = WIDTH[pattern.prefix]
        found[pattern.identifier] = max(width, found.get(pattern.identifier, 0))
    return found


def supported(description: Description) -> set[str]:
    return {each.identifier for each in description.primary_types + description.secondary_types}


def is_subset(first: Description, second: Description) -> bool:
    return widths(first).keys() < supported(second)


def is_more_specific(first: Description, second: Description) -> bool:
    if is_subset(first, second) != is_subset(second, first):
        return is_subset(first, second)
    one, two = widths(first), widths(second)
    return one.keys() == two.keys() and one != two and all(one[key] <= two[key] for key in one)


def declared_pairs(descriptions: Iterable[Description]) -> set[Pair]:
    found = set()
    for each in descriptions:
        found |= {(each.name, other) for other in each.higher_priority_than}
        found |= {(other, each.name) for other in each.lower_priority_than}
    return found


def reference(
    descriptions: Sequence[Description], set_order: Sequence[Pair]
) -> tuple[set[str], Reference]:
    """Return the backends skipped for a cycle, and the edges in force."""
    present = {each.name: each for each in descriptions}
    while True:
        environment = across(set_order, set(present))
        settled = closure(environment)
        declared = {
            (first, second)
            for first, second in declared_pairs(present.values())
            if first in present
            and second in present
            and (first, second) not in environment
            and (second, first) not in settled
        }
        circling = {first for first, second in closure(declared) if first == second}
        if not circling:
            break
        for name in circling - {"default"}:
            del present[name]
    skipped = {each.name for each in descriptions} - set(present)

    together = closure(environment | declared)
    declared = {(first, second) for first, second in declared if (second, first) not in together}
    explicit = environment | declared
    specific = {
        (first, second)
        for first, second in itertools.permutations(present, 2)
        if (second, first) not in explicit and is_more_specific(present[first], present[second])
    }
    together = closure(explicit | specific)
    specific = {(first, second) for first, second in specific if (second, first) not in together}
    edges: Reference = {}
    for pairs, strength in (
        (environment, Strength.ENVIRONMENT),
        (declared, Strength.DECLARED),
        (specific - explicit, Strength.SPECIFICITY),  # the strongest source of an edge is told
    ):
        edges.update(((first, second, strength), None) for first, second in sorted(pairs))
    return skipped, edges


def base_order(descriptions: Sequence[Description]) -> list[str]:
    in_code = [each.name for each in descriptions if each.in_code]

    def key(each: Description) -> tuple[bool, bool, int, str]:
        place = in_code.index(each.name) if each.in_code else len(in_code)
        is_abstract = any(str(pattern).startswith("@") for pattern in each.primary_types)
        return each.name != "default", is_abstract, place, each.name

    return [each.name for each in sorted(descriptions, key=key)]


# --- random backends -----------------------------------------------------------------


@st.composite
def patterns(draw: st.DrawFn, minimum: int) -> tuple[TypePattern, ...]:
    identifiers = draw(st.lists(st.sampled_from(TYPES), min_size=minimum, max_size=3))
    prefixes = st.sampled_from(["", "", "", "~", "@"])
    return tuple(TypePattern(draw(prefixes) + identifier) for identifier in identifiers)


@st.composite
def backends(draw: st.DrawFn, declare: bool = True, circle: bool = False) -> list[Description]:
    """The library and up to seven backends, in the order in which they are found."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=2 * circle, max_size=7))
    ring = names[: draw(st.integers(2, 4))] if circle else []
    found = [Description("default", (TypePattern("m:A"),), in_code=True)]
    for name in names:
        others = [other for other in [*NAMES, *ABSENT, "default"] if other != name]
        named = st.lists(st.sampled_from(others), unique=True, max_size=2 if declare else 0)
        # Most declare nothing; otherwise all backends end up on one cycle.
        higher = draw(st.one_of(st.just([]), named))
        if name in ring:
            higher = list(dict.fromkeys([*higher, ring[ring.index(name) - 1]]))
        lower = [each for each in draw(st.one_of(st.just([]), named)) if each not in higher]
        found.append(
            Description(
                name,
                draw(patterns(1)),
                draw(patterns(0)),
                higher_priority_than=tuple(higher),
                lower_priority_than=tuple(lower),
                in_code=draw(st.booleans()),
            )
        )
    return found


@st.composite
def set_orders(draw: st.DrawFn) -> list[Pair]:
    """Pairs that agree with a random order, as a valid variable has them."""
    names = draw(st.permutations([*NAMES, *ABSENT, "default"]))
    pairs = list(itertools.combinations(names, 2))
    return draw(st.one_of(st.just([]), st.lists(st.sampled_from(pairs), unique=True, max_size=5)))


def relative(names: Iterable[str], of: Iterable[str]) -> list[str]:
    wanted = set(of)
    return [name for name in names if name in wanted]


def edges_of(order: Order) -> set[tuple[str, str, Strength]]:
    return {(edge.before, edge.after, edge.strength) for edge in order.edges()}


# --- what must hold ------------------------------------------------------------------


@given(st.one_of(backends(), backends(circle=True)), set_orders())
def test_the_edges_in_force_are_those_of_the_definition(
    descriptions: list[Description], set_order: list[Pair]
) -> None:
    """P3, P4, P5, P9: all pairs, strengths, overriding, cancelling and cycles."""
    order = order_backends(descriptions, set_order)
    skipped, edges = reference(descriptions, set_order)
    assert {name for cycle in order.cycles for name in cycle.members} == skipped
    assert edges_of(order) == set(edges)
    assert len(list(order.edges())) == len(edges)


@given(st.one_of(backends(), backends(circle=True)), set_orders())
def test_the_order_is_total_and_every_edge_holds_in_it(
    descriptions: list[Description], set_order: list[Pair]
) -> None:
    """P1, P7: no usable backend is missing."""
    order = order_backends(descriptions, set_order)
    skipped, edges = reference(descriptions, set_order)
    assert sorted(order.names) == sorted({each.name for each in descriptions} - skipped)
    position = {name: number for number, name in enumerate(order.names)}
    assert all(position[before] < position[after] for before, after, _ in edges)


@given(backends(), set_orders(), st.data())
def test_the_order_does_not_depend_on_the_order_of_finding(
    descriptions: list[Description], set_order: list[Pair], data: st.DataObject
) -> None:
    """P1: only the order of backends in code counts."""
    in_code = [each for each in descriptions if each.in_code]
    others = data.draw(st.permutations([each for each in descriptions if not each.in_code]))
    # Those in code keep their order; the others may stand anywhere between them.
    places = data.draw(st.permutations([True] * len(in_code) + [False] * len(others)))
    left, right = iter(in_code), iter(others)
    mixed = [next(left) if is_in_code else next(right) for is_in_code in places]

    one, two = order_backends(descriptions, set_order), order_backends(mixed, set_order)
    assert one.names == two.names
    assert one.cycles == two.cycles
    assert edges_of(one) == edges_of(two)


@given(backends(), set_orders(), st.data())
def test_the_lists_of_a_description_may_be_in_any_order(
    descriptions: list[Description], set_order: list[Pair], data: st.DataObject
) -> None:
    """P1: neither types nor names have an order in a description."""
    shuffled = [
        replace(
            each,
            primary_types=tuple(data.draw(st.permutations(each.primary_types))),
            secondary_types=tuple(data.draw(st.permutations(each.secondary_types))),
            higher_priority_than=tuple(data.draw(st.permutations(each.higher_priority_than))),
        )
        for each in descriptions
    ]
    one, two = order_backends(descriptions, set_order), order_backends(shuffled, set_order)
    assert one.names == two.names


@given(backends(), set_orders())
def test_the_base_order_is_kept_where_no_edge_contradicts_it(
    descriptions: list[Description], set_order: list[Pair]
) -> None:
    """P7: no backend moves without need."""
    skipped, edges = reference(descriptions, set_order)
    base = [name for name in base_order(descriptions) if name not in skipped]
    position = {name: number for number, name in enumerate(base)}
    assume(all(position[before] < position[after] for before, after, _ in edges))
    assert list(order_backends(descriptions, set_order).names) == base


@given(backends(declare=False))
def test_without_edges_the_order_is_the_base_order(descriptions: list[Description]) -> None:
    """P2: nothing else decides."""
    apart = [
        replace(each, primary_types=(TypePattern(f"{prefix}{each.name}:Own"),), secondary_types=())
        for each in descriptions
        for prefix in ["@" if each.is_abstract else ""]
    ]
    order = order_backends(apart)
    assert list(order.edges()) == []
    assert list(order.names) == base_order(apart)


@given(st.permutations(NAMES), st.data())
def test_one_edge_moves_one_backend(names: list[str], data: st.DataObject) -> None:
    """P7: all others keep the base order among themselves, the default too."""
    descriptions = [Description("default", (TypePattern("m:A"),), in_code=True)]
    descriptions += [Description(name, (TypePattern("m:A"),)) for name in names]
    mover = data.draw(st.sampled_from(NAMES))
    other = data.draw(st.sampled_from([*set(NAMES) - {mover}, "default"]))
    higher, lower = data.draw(st.sampled_from([((other,), ()), ((), (other,))]))
    declared = [
        replace(each, higher_priority_than=higher, lower_priority_than=lower)
        if each.name == mover
        else each
        for each in descriptions
    ]
    order = order_backends(declared)
    rest = {each.name for each in descriptions} - {mover}
    assert relative(order.names, rest) == relative(base_order(descriptions), rest)


@given(backends(), set_orders(), st.sampled_from(["0", "dd", "z"]), st.booleans())
def test_a_backend_without_edges_changes_nothing_among_the_others(
    descriptions: list[Description], set_order: list[Pair], name: str, in_code: bool
) -> None:
    """P7: it was only installed."""
    newcomer = Description(name, (TypePattern("own:Type"),), in_code=in_code)
    before = order_backends(descriptions, set_order)
    after = order_backends([*descriptions, newcomer], set_order)
    assert relative(after.names, before.names) == list(before.names)
    assert after.cycles == before.cycles


@given(backends(), set_orders(), st.integers(1, 3))
def test_twins_stand_in_the_base_order(
    descriptions: list[Description], set_order: list[Pair], number: int
) -> None:
    """P2, P5: backends that differ only by name have no edges between them."""
    twins = [
        replace(each, name=f"{each.name}{copy}")
        for each in descriptions
        for copy in range(number + 1)
        if each.name != "default" and not each.in_code
    ]
    order = order_backends([*descriptions[:1], *twins])
    for name in NAMES:
        family = [each.name for each in twins if each.name[0] == name]
        standing = relative(order.names, family)
        assert standing in ([], family)


@given(backends(circle=True), set_orders())
def test_the_value_shown_for_a_cycle_resolves_it(
    descriptions: list[Description], set_order: list[Pair]
) -> None:
    """P9: and keeps what was set before."""
    order = order_backends(descriptions, set_order)
    assume(order.cycles)
    left = len(order.cycles)
    while order.cycles:
        value = order.cycles[0].set_order
        environment = read_environment("LIB", {"LIB_SET_ORDER": value})
        assert environment.problems == ()
        assert set(set_order) <= set(environment.set_order)
        order = order_backends(descriptions, environment.set_order)
        assert len(order.cycles) < left
        left = len(order.cycles)
    assert sorted(order.names) == sorted(each.name for each in descriptions)


@given(backends(circle=True), set_orders())
def test_every_cycle_shows_declared_steps(
    descriptions: list[Description], set_order: list[Pair]
) -> None:
    """P9: the warning shows the cycle."""
    order = order_backends(descriptions, set_order)
    declared = declared_pairs(descriptions)
    seen: set[str] = set()
    for cycle in order.cycles:
        assert cycle.path[0] == cycle.path[-1]
        assert len(cycle.path) == len(set(cycle.path)) + 1 > 2
        assert set(itertools.pairwise(cycle.path)) <= declared
        assert set(cycle.path) - {"default"} <= set(cycle.members)
        assert "default" not in cycle.members
        assert not seen & set(cycle.members)
        seen |= set(cycle.members)


@given(backends(), set_orders())
def test_every_edge_has_a_reason_that_names_both(
    descriptions: list[Description], set_order: list[Pair]
) -> None:
    """P8: a reason names the two backends."""
    for edge in order_backends(descriptions, set_order, "LIB_SET_ORDER").edges():
        assert edge.before in edge.reason
        assert edge.after in edge.reason
