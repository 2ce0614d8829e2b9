"""The priority order of random backends against the rules P taken word by word."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.order import backends as shown
from tests.property.order_model import (
    Described,
    Pair,
    base_order,
    circling,
    declared_pairs,
    order_model,
)

NAMES = list("abcdefg")
ABSENT = ["p", "q"]
TYPES = ["m:A", "m:B", "m:C", "n:A"]
LIBRARY = Described("default", ("m:A",), in_code=True)


@st.composite
def patterns(draw: st.DrawFn, minimum: int) -> tuple[str, ...]:
    identifiers = draw(st.lists(st.sampled_from(TYPES), min_size=minimum, max_size=3, unique=True))
    prefixes = st.sampled_from(["", "", "", "~", "@"])
    return tuple(draw(prefixes) + identifier for identifier in identifiers)


@st.composite
def backends(draw: st.DrawFn, declare: bool = True, circle: bool = False) -> list[Described]:
    """Up to seven backends, in the order in which they are found."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=2 * circle, max_size=7))
    ring = names[: draw(st.integers(2, 4))] if circle else []
    found = []
    for name in names:
        others = [other for other in [*NAMES, *ABSENT, "default"] if other != name]
        named = st.lists(st.sampled_from(others), unique=True, max_size=2 if declare else 0)
        # Most declare nothing; otherwise all backends end up on one cycle.
        higher = draw(st.one_of(st.just([]), named))
        if name in ring:
            higher = list(dict.fromkeys([*higher, ring[ring.index(name) - 1]]))
        lower = [each for each in draw(st.one_of(st.just([]), named)) if each not in higher]
        primary, secondary = draw(patterns(1)), draw(patterns(0))
        found.append(
            Described(name, primary, secondary, tuple(higher), tuple(lower), draw(st.booleans()))
        )
    return found


@st.composite
def set_orders(draw: st.DrawFn) -> list[Pair]:
    """Pairs that agree with a random order, as a valid variable has them."""
    names = draw(st.permutations([*NAMES, *ABSENT, "default"]))
    pairs = list(itertools.combinations(names, 2))
    return draw(st.one_of(st.just([]), st.lists(st.sampled_from(pairs), unique=True, max_size=5)))


def order(described: Iterable[Described], set_order: Iterable[Pair] = ()) -> shown.Order:
    """Return the order that a library shows."""
    found = []
    for each in described:
        types, others = " ".join(each.primary), " ".join(each.secondary)
        higher, lower = " ".join(each.higher), " ".join(each.lower)
        found.append(shown.backend(each.name, types, others, higher, lower, each.in_code))
    return shown.order(found, written(set_order), default=" ".join(LIBRARY.primary))


def written(pairs: Iterable[Pair]) -> str:
    return ",".join(f"{first}>{second}" for first, second in pairs)


def read(value: str) -> list[Pair]:
    return [pair for chain in value.split(",") for pair in itertools.pairwise(chain.split(">"))]


def relative(names: Iterable[str], of: Iterable[str]) -> list[str]:
    wanted = set(of)
    return [name for name in names if name in wanted]


@given(st.one_of(backends(), backends(circle=True)), set_orders())
def test_the_order_is_that_of_the_rules(described: list[Described], set_order: list[Pair]) -> None:
    """P2 to P6: every edge in force holds; the base order is kept where none contradicts it."""
    found = order(described, set_order)
    base = base_order([LIBRARY, *described])
    _, edges = order_model([LIBRARY, *described], set_order)
    assert sorted(found.names) == sorted(base)
    assert all(found.names.index(before) < found.names.index(after) for before, after in edges)
    if all(base.index(before) < base.index(after) for before, after in edges):
        assert list(found.names) == base
    apart = [name for name in base if not any(name in edge for edge in edges)]
    assert relative(found.names, apart) == apart
    members = [name for cycle in found.cycles for name in cycle.members]
    assert sorted(members) == sorted(circling([LIBRARY, *described], set_order))


@given(backends(), set_orders(), st.data())
def test_the_order_does_not_depend_on_the_order_of_finding(
    described: list[Described], set_order: list[Pair], data: st.DataObject
) -> None:
    """P1: only the order of backends in code counts; lists of a description have no order."""
    in_code = iter([each for each in described if each.in_code])
    shuffled = data.draw(st.permutations(described))
    mixed = [
        replace(
            each,
            primary=tuple(data.draw(st.permutations(each.primary))),
            secondary=tuple(data.draw(st.permutations(each.secondary))),
            higher=tuple(data.draw(st.permutations(each.higher))),
            lower=tuple(data.draw(st.permutations(each.lower))),
        )
        for each in (next(in_code) if each.in_code else each for each in shuffled)
    ]
    one, two = order(mixed, set_order), order(described, set_order)
    assert one.names == two.names
    assert [each.members for each in one.cycles] == [each.members for each in two.cycles]


@given(backends(declare=False))
def test_without_edges_the_order_is_the_base_order(described: list[Described]) -> None:
    """P2: nothing else decides."""
    apart = [
        replace(each, primary=(f"{prefix}{each.name}:Own",), secondary=())
        for each in described
        for prefix in ["@" if any(each.startswith("@") for each in each.primary) else ""]
    ]
    assert list(order(apart).names) == base_order([LIBRARY, *apart])


@given(backends(), set_orders(), st.sampled_from(["dd", "z", "A"]), st.booleans())
def test_a_backend_without_edges_changes_nothing_among_the_others(
    described: list[Described], set_order: list[Pair], name: str, in_code: bool
) -> None:
    """P5: it was only installed."""
    before = order(described, set_order)
    after = order([*described, Described(name, ("own:Type",), in_code=in_code)], set_order)
    assert relative(after.names, before.names) == list(before.names)
    assert after.cycles == before.cycles


@given(backends(circle=True), set_orders())
def test_the_value_shown_for_a_cycle_resolves_it(
    described: list[Described], set_order: list[Pair]
) -> None:
    """P6: it keeps what was set before, and the steps of a cycle are declared ones."""
    found = order(described, set_order)
    assume(found.cycles)
    declared = declared_pairs(described)
    for cycle in found.cycles:
        assert set(itertools.pairwise(cycle.path)) <= declared
        assert set(cycle.path) - {"default"} <= set(cycle.members)
    while found.cycles:
        left, value = len(found.cycles), found.cycles[0].set_order
        assert set(set_order) <= set(read(value))
        found = order(described, read(value))
        assert len(found.cycles) < left
