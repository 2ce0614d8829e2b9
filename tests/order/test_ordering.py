"""The priority order, its reasons, and what becomes of contradictions: rules P."""

from __future__ import annotations

import dataclasses
import itertools
import random
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from spatch_core import BackendSkippedWarning, BackendSystem
from spatch_core._description.description import Description
from spatch_core._discovery.environment import read_environment
from spatch_core._order.graph import components, cycle_through, sort_stably, successors_of
from spatch_core._order.ordering import Order, Strength, order_backends
from spatch_core._type_patterns import TypePattern


def backend(
    name: str,
    primary: str = "m:A",
    secondary: str = "",
    higher: str = "",
    lower: str = "",
    in_code: bool = False,
) -> Description:
    """Describe a backend; several types or names are separated by spaces."""
    return Description(
        name,
        tuple(map(TypePattern, primary.split())),
        tuple(map(TypePattern, secondary.split())),
        higher_priority_than=tuple(higher.split()),
        lower_priority_than=tuple(lower.split()),
        in_code=in_code,
    )


LIBRARY = backend("default", "numpy:ndarray", in_code=True)


def pairs(set_order: str) -> tuple[tuple[str, str], ...]:
    environment = read_environment("LIB", {"LIB_SET_ORDER": set_order})
    assert environment.problems == ()
    return environment.set_order


def order(*backends: Description, set_order: str = "") -> Order:
    """Order backends; the result must be the same however they are found."""
    found = order_backends([LIBRARY, *backends], pairs(set_order), "LIB_SET_ORDER")
    shuffled = [each for each in backends if not each.in_code]
    in_code = [each for each in backends if each.in_code]
    for seed in range(3):
        random.Random(seed).shuffle(shuffled)
        other = order_backends([*shuffled, *in_code, LIBRARY], pairs(set_order))
        assert other.names == found.names
        assert [cycle.members for cycle in other.cycles] == [
            cycle.members for cycle in found.cycles
        ]
        assert [cycle.set_order for cycle in other.cycles] == [
            cycle.set_order for cycle in found.cycles
        ]
    return found


def names(*backends: Description, set_order: str = "") -> str:
    """The order without the default in front, which must not have lost anybody."""
    found = order(*backends, set_order=set_order)
    assert found.cycles == ()
    assert sorted(found.names) == sorted(["default", *(each.name for each in backends)])
    return " ".join(found.names).removeprefix("default ")


def edges(found: Order, strength: Strength) -> set[str]:
    return {f"{e.before}>{e.after}" for e in found.edges() if e.strength is strength}


# --- the base order ------------------------------------------------------------------


def test_the_default_comes_first() -> None:
    """P2: though every backend's name sorts before it."""
    assert order(backend("a"), backend("A"), backend("0")).names == ("default", "0", "A", "a")


def test_entry_points_are_ordered_by_name() -> None:
    """P2: whatever the order in which they are found."""
    assert names(backend("c"), backend("a"), backend("b")) == "a b c"


def test_backends_in_code_come_first_and_in_the_order_given() -> None:
    """P2: their own order is kept."""
    assert (
        names(
            backend("b"),
            backend("z", in_code=True),
            backend("a"),
            backend("c", in_code=True),
            backend("x", in_code=True),
        )
        == "z c x a b"
    )


def test_concrete_backends_come_before_abstract_ones() -> None:
    """P2: in-code ones too."""
    assert (
        names(
            backend("a", "@m:Abstract"),
            backend("z", "m:Z"),
            backend("x", "@m:X", in_code=True),
            backend("y", "m:Y", in_code=True),
            backend("b", "~m:B"),
            backend("c", "m:C @m:D"),
        )
        == "y b z x a c"
    )


def test_the_order_imports_nothing() -> None:
    """P1: it is independent of what gets imported."""
    backends = [
        backend("a", "this_is_never_imported:A @this_is_never_imported:B"),
        backend("b", "~this_is_never_imported:A"),
    ]
    assert names(*backends) == "b a"
    assert "this_is_never_imported" not in sys.modules


@pytest.mark.parametrize("backends", [[], [backend("a")]], ids=["none", "one"])
def test_few_backends_have_an_order_too(backends: list[Description]) -> None:
    found = order(*backends)
    assert found.names == ("default", *(each.name for each in backends))
    assert list(found.edges()) == []


# --- type specificity ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (("m:A", ""), ("m:A m:B", "")),
        (("m:A", ""), ("m:A", "m:B")),
        (("m:A", ""), ("m:B", "m:A")),
        (("m:A m:B", ""), ("m:C", "m:A m:B")),
        (("m:A", "m:C"), ("m:A m:B", "")),
        (("~m:A", ""), ("m:A m:B", "")),
        (("m:A", ""), ("~m:A ~m:B", "")),
        (("m:A", ""), ("m:B", "~m:A")),
        (("m:A", ""), ("~m:A", "")),
        (("m:A m:B", ""), ("m:A ~m:B", "")),
        (("m:A ~m:B", ""), ("~m:A ~m:B", "")),
        (("m:A", "m:C"), ("~m:A", "m:D")),
        (("m:A", ""), ("m:A ~m:A", "")),
        (("~m:A", ""), ("@m:A", "")),
        (("@m:A", ""), ("@m:A m:B", "")),
    ],
    ids=[
        "fewer primary types",
        "the other has a secondary type more",
        "the other's secondary type",
        "two of the other's secondary types",
        "own secondary types do not count",
        "the prefix is left aside",
        "the prefix is left aside in the other",
        "the prefix is left aside in a secondary type",
        "exact before subclass",
        "one of two more narrowly",
        "one of two more narrowly, the other alike",
        "more narrowly, with different secondary types",
        "named twice, the wider name counts",
        "subclass before abstract",
        "abstract ones too",
    ],
)
def test_the_more_specific_backend_goes_first(
    narrow: tuple[str, str], wide: tuple[str, str]
) -> None:
    """P4: against the base order."""
    found = order(backend("a", *wide), backend("z", *narrow))
    assert edges(found, Strength.SPECIFICITY) == {"z>a"}
    if "@" not in narrow[0]:
        assert found.names == ("default", "z", "a")
    # And not the other way round where the base order says the same already.
    found = order(backend("z", *wide), backend("a", *narrow))
    assert edges(found, Strength.SPECIFICITY) == {"a>z"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("m:A", ""), ("m:A", "")),
        (("m:A m:B", ""), ("m:B m:A", "")),
        (("m:A", ""), ("m:B", "")),
        (("m:A m:B", ""), ("m:B m:C", "")),
        (("m:A", "m:B"), ("m:A", "m:C")),
        (("m:A", "m:B"), ("m:B", "m:A")),
        (("m:A ~m:B", ""), ("~m:A m:B", "")),
        (("m:A", "m:B m:C"), ("m:B", "m:A")),
        (("m:A", "m:B"), ("~m:C", "")),
    ],
    ids=[
        "the same",
        "the same in another order",
        "nothing in common",
        "each has one of its own",
        "equal and opposite: each has another secondary type",
        "equal and opposite: crosswise",
        "each is narrower in one",
        "equal and opposite: crosswise with more",
        "nothing in common, with a secondary type",
    ],
)
def test_equally_specific_backends_keep_the_base_order(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    """P4, P5: equal opposite edges cancel."""
    for one, two in ((first, second), (second, first)):
        found = order(backend("a", *one), backend("b", *two))
        assert edges(found, Strength.SPECIFICITY) == set()
        assert found.names == ("default", "a", "b")


def test_of_two_opposite_subsets_neither_counts_and_then_the_prefixes_do() -> None:
    """P4: the same types named more narrowly, when subsets decide nothing."""
    found = order(backend("a", "~m:A", "m:B"), backend("z", "m:A", "m:C"))
    assert edges(found, Strength.SPECIFICITY) == {"z>a"}


def test_the_default_takes_part_in_type_specificity() -> None:
    """P1, P4: one order for all."""
    found = order(backend("sub", "numpy:ndarray numpy:matrix"), backend("sec", "m:A", "m:B"))
    assert edges(found, Strength.SPECIFICITY) == {"default>sub"}
    wide = backend("default", "numpy:ndarray builtins:list", in_code=True)
    found = order_backends([wide, backend("narrow", "numpy:ndarray")])
    assert found.names == ("narrow", "default")


def test_a_library_without_types_of_its_own_is_in_no_edge_of_specificity() -> None:
    """P4: no types are no subset that means anything."""
    library = Description("default", (), in_code=True)
    found = order_backends([library, backend("a", "m:A m:B"), backend("b", "m:A")])
    assert found.names == ("default", "b", "a")
    assert [(edge.before, edge.after) for edge in found.edges()] == [("b", "a")]


def test_abstract_backends_can_come_before_concrete_ones_by_their_types() -> None:
    """P3, P4: edges are stronger than the base order."""
    assert names(backend("a", "m:B m:C"), backend("z", "@m:B")) == "z a"


def test_specificity_in_a_circle_cancels_out() -> None:
    """P5: three that are each more specific than the next keep the base order."""
    circle = [
        backend("c", "m:A", "m:C"),
        backend("b", "m:B", "m:A"),
        backend("a", "m:C", "m:B"),
    ]
    found = order(*circle)
    assert found.names == ("default", "a", "b", "c")
    assert edges(found, Strength.SPECIFICITY) == set()
    # What leads into the circle and out of it still counts.
    found = order(*circle, backend("d", "m:C m:D"), backend("e", "m:D"), backend("z", "m:E", "m:D"))
    assert edges(found, Strength.SPECIFICITY) >= {"e>d", "e>z", "a>d"}
    assert found.names == ("default", "a", "b", "c", "e", "d", "z")


# --- declared edges ------------------------------------------------------------------


def test_a_backend_may_declare_what_it_goes_before_and_after() -> None:
    """P3: declarations are edges."""
    assert names(backend("a"), backend("b", higher="a")) == "b a"
    assert names(backend("a", lower="b"), backend("b")) == "b a"
    found = order(backend("a", lower="b"), backend("b", higher="a"))
    assert edges(found, Strength.DECLARED) == {"b>a"}


def test_a_backend_may_go_before_the_default() -> None:
    """P3: "default" is the library."""
    assert order(backend("a"), backend("b", higher="default")).names == ("b", "default", "a")
    assert order(backend("a", lower="default")).names == ("default", "a")
    found = order(backend("b", higher="default a"), backend("a", higher="default"))
    assert found.names == ("b", "a", "default")


def test_a_declared_edge_overrides_opposite_type_specificity() -> None:
    """P5: a stronger edge overrides a weaker opposite one."""
    narrow, wide = backend("narrow", "m:A"), backend("wide", "m:A m:B", higher="narrow")
    found = order(narrow, wide)
    assert found.names == ("default", "wide", "narrow")
    assert edges(found, Strength.SPECIFICITY) == set()


def test_declared_edges_override_a_chain_of_type_specificity() -> None:
    """P5: c would go before b, and b before a; but a is declared to go before c."""
    a, b, c = backend("a", "m:A m:B m:C"), backend("b", "m:A m:B"), backend("c", "m:A", lower="a")
    found = order(a, b, c)
    assert edges(found, Strength.DECLARED) == {"a>c"}
    assert found.names.index("a") < found.names.index("c")


def test_declared_edges_of_one_backend_leave_others_of_its_types_alone() -> None:
    """P5: only that one pair is overridden."""
    backends = [
        backend("narrow1", "m:A"),
        backend("narrow2", "m:A"),
        backend("wide1", "m:A m:B", higher="narrow1"),
        backend("wide2", "m:A m:B"),
    ]
    found = order(*backends)
    assert edges(found, Strength.SPECIFICITY) == {"narrow2>wide1", "narrow1>wide2", "narrow2>wide2"}
    assert found.names == ("default", "narrow2", "wide1", "narrow1", "wide2")


def test_names_that_are_not_installed_declare_nothing() -> None:
    """D8, P6: a backend that is named need not be there."""
    found = order(backend("a", higher="nobody", lower="nobody_either"), backend("b"))
    assert found.names == ("default", "a", "b")
    assert list(found.edges()) == []


def test_in_code_backends_can_be_passed_by_entry_points() -> None:
    """P3, P7: the base order yields to edges."""
    assert names(backend("own", in_code=True), backend("a", higher="own")) == "a own"


# --- the environment -----------------------------------------------------------------


def test_set_order_overrides_a_declared_edge() -> None:
    """P5: the environment is stronger."""
    backends = backend("a", higher="b"), backend("b")
    found = order(*backends, set_order="b>a")
    assert found.names == ("default", "b", "a")
    assert edges(found, Strength.DECLARED) == set()
    assert edges(found, Strength.ENVIRONMENT) == {"b>a"}
    # From the other side as well.
    assert names(backend("a"), backend("b", lower="a"), set_order="b>a") == "b a"


def test_set_order_overrides_type_specificity() -> None:
    """P5: the environment is stronger."""
    backends = backend("narrow", "m:A"), backend("wide", "m:A m:B")
    found = order(*backends, set_order="wide>narrow")
    assert found.names == ("default", "wide", "narrow")
    assert edges(found, Strength.SPECIFICITY) == set()


def test_set_order_can_move_the_default() -> None:
    """P3: `default` may be named like a backend."""
    assert order(backend("a"), backend("b"), set_order="b>default").names == ("b", "default", "a")
    found = order(backend("a", higher="default"), set_order="default>a")
    assert found.names == ("default", "a")


def test_a_chain_in_set_order_overrides_a_declared_edge_across_it() -> None:
    """P5: opposite by way of another backend is opposite."""
    backends = backend("a", higher="c"), backend("b"), backend("c")
    found = order(*backends, set_order="c>b>a")
    assert found.names == ("default", "c", "b", "a")
    assert edges(found, Strength.DECLARED) == set()
    assert found.cycles == ()


def test_set_order_overrides_a_chain_of_declared_edges() -> None:
    """P5: a before b before c by declaration, but c before a by the environment."""
    backends = backend("a", higher="b"), backend("b", higher="c"), backend("c")
    found = order(*backends, set_order="c>a")
    assert found.cycles == ()
    assert found.names.index("c") < found.names.index("a")
    assert len(found.names) == 4


def test_set_order_leaves_declared_edges_elsewhere_in_force() -> None:
    """P5: only opposite edges are overridden."""
    backends = [backend("a", higher="b"), backend("b"), backend("y", higher="x"), backend("x")]
    assert names(*backends, set_order="b>a") == "b a y x"
    assert names(*backends, set_order="x>a") == "y x a b"


def test_set_order_that_repeats_a_declared_edge_is_the_reason() -> None:
    """P8: the strongest says why."""
    found = order(backend("a"), backend("b", higher="a"), set_order="b>a")
    assert edges(found, Strength.ENVIRONMENT) == {"b>a"}
    assert edges(found, Strength.DECLARED) == set()


@pytest.mark.parametrize("set_order", ["c>nobody>a", "nobody>a,c>nobody", "c>x>y>z>a"])
def test_set_order_holds_across_names_that_are_not_installed(set_order: str) -> None:
    """P6: a name that is not installed is ignored, not what it connects."""
    assert names(backend("a"), backend("c"), set_order=set_order) == "c a"
    assert names(backend("a", higher="c"), backend("c"), set_order=set_order) == "c a"


def test_set_order_holds_across_backends_that_are_skipped() -> None:
    """P6: x and y are skipped for their cycle."""
    found = order(
        backend("a"),
        backend("c"),
        backend("x", higher="y"),
        backend("y", higher="x"),
        set_order="c>x>a",
    )
    assert found.names == ("default", "c", "a")


def test_set_order_of_unknown_names_alone_changes_nothing() -> None:
    found = order(backend("a"), backend("b"), set_order="p>q,q>b,a>p")
    assert found.names == ("default", "a", "b")


# --- the sort ------------------------------------------------------------------------


def test_the_base_order_is_kept_wherever_the_edges_allow() -> None:
    """P7: a backend that has to go before another one moves up, and no other backend moves."""
    backends = [backend(name) for name in "abcdefg"]
    assert names(*backends, set_order="g>b") == "a g b c d e f"
    assert names(*backends, set_order="g>a") == "g a b c d e f"
    assert names(*backends, set_order="c>a,d>b") == "c a d b e f g"
    assert names(*backends, set_order="d>c>b>a") == "d c b a e f g"
    assert names(*backends, set_order="a>g") == "a b c d e f g"
    assert names(*backends, set_order="e>a,e>c,f>a") == "e f a b c d g"


def test_an_edge_moves_no_bystander_before_the_default() -> None:
    """P7: a declares nothing, and sorts between the two."""
    found = order(backend("a"), backend("b", higher="default"), backend("c", higher="b"))
    assert found.names == ("c", "b", "default", "a")


def test_every_edge_in_force_holds_in_the_order() -> None:
    """P7: none is lost by another one."""
    found = order(
        backend("a", "m:A m:B", higher="b"),
        backend("b", "m:A"),
        backend("c", "@m:C", "m:A", lower="d"),
        backend("d", "m:D", "m:C"),
        backend("e", "~m:A", higher="default"),
        set_order="d>a",
    )
    position = {name: number for number, name in enumerate(found.names)}
    in_force = list(found.edges())
    assert in_force
    assert all(position[edge.before] < position[edge.after] for edge in in_force)


def test_whoever_goes_after_others_moves_down_and_no_further_than_it_must() -> None:
    """P7: the others keep the base order."""
    assert names(backend("a", lower="c"), *map(backend, "bcd")) == "b c a d"
    assert names(backend("a", lower="c"), backend("b", lower="c"), *map(backend, "cd")) == "c a b d"
    assert names(backend("a", lower="c b"), *map(backend, "bcd")) == "b c a d"
    assert names(backend("a", lower="b"), backend("b", lower="d"), *map(backend, "cd")) == "c d b a"


def test_whoever_goes_before_others_moves_up_and_no_further_than_it_must() -> None:
    """P7: the others keep the base order, and so do those that move together."""
    a, b, c = map(backend, "abc")
    d = backend("d", higher="b")
    assert names(a, b, c, d) == "a d b c"
    assert names(a, b, backend("c", higher="b"), d) == "a c d b"
    assert names(a, b, backend("c", higher="b"), backend("d", higher="c")) == "a d c b"
    found = order(*(backend(name, higher="default") for name in "cab"), backend("B"))
    assert found.names == ("a", "b", "c", "default", "B")


def test_all_items_of_a_node_come_before_all_of_those_that_follow_it() -> None:
    """Backends of the same types are sorted as one node."""
    items = {"c": "late", "a": "early", "d": "late", "b": "early", "e": "apart"}
    assert sort_stably(items, {"early": ["late"]}) == ["a", "b", "c", "d", "e"]
    assert sort_stably(items, {"late": ["early"], "apart": ["early"]}) == list("cdeab")
    assert sort_stably(items, {"early": ["late"], "late": ["apart"]}) == list("abcde")
    assert sort_stably(items, {}) == list("cadbe")


def test_nodes_on_common_cycles_are_one_component() -> None:
    """What the search for cycles rests on."""
    circles = [*itertools.pairwise("abca"), *itertools.pairwise("ded")]
    component = components(successors_of([*circles, ("c", "d"), ("f", "a"), ("g", "h")]))
    families: dict[int, set[str]] = {}
    for node, number in component.items():
        families.setdefault(number, set()).add(node)
    assert sorted(map(sorted, families.values())) == [
        ["a", "b", "c"],
        ["d", "e"],
        ["f"],
        ["g"],
        ["h"],
    ]
    assert cycle_through([("a", "b"), ("b", "c"), ("c", "b"), ("c", "a")]) == ("b", "c", "b")


# --- reasons -------------------------------------------------------------------------


def test_every_edge_has_its_reason() -> None:
    """P8: every edge keeps its reason, for people to read."""
    found = order(
        backend("a", "m:A"),
        backend("b", "m:A ~m:B", lower="e"),
        backend("c", "m:C", higher="default"),
        backend("d", "m:D"),
        backend("e", "m:E"),
        set_order="d>c",
    )
    assert {(e.before, e.after, e.strength, e.reason) for e in found.edges()} == {
        ("d", "c", Strength.ENVIRONMENT, "LIB_SET_ORDER says d>c"),
        ("e", "b", Strength.DECLARED, "b declares lower_priority_than = e"),
        ("c", "default", Strength.DECLARED, "c declares higher_priority_than = default"),
        (
            "a",
            "b",
            Strength.SPECIFICITY,
            "the primary types of a (m:A) are more specific than the types that b supports",
        ),
    }


def test_an_order_is_immutable() -> None:
    """P1: it is computed once."""
    found = order(*ring("a", "b"), backend("c", higher="default"))
    for value in (found, found.cycles[0], found.explicit[0]):
        for each in dataclasses.fields(value):
            with pytest.raises(AttributeError):
                setattr(value, each.name, ())
        assert not hasattr(value, "__dict__")


def test_strengths_are_as_the_rules_are_numbered() -> None:
    """P3: strongest first: 3, 2, 1."""
    assert [Strength.ENVIRONMENT, Strength.DECLARED, Strength.SPECIFICITY] == [3, 2, 1]


# --- cycles --------------------------------------------------------------------------


def ring(*members: str, **options: Any) -> list[Description]:
    """Backends of which each declares to go before the next, and the last before the first."""
    following = dict(zip(members, (*members[1:], members[0]), strict=True))
    return [
        backend(name, f"m:{name.upper()}", higher=after, **options)
        for name, after in following.items()
    ]


def assert_is_cycle(path: Sequence[str], backends: Iterable[Description]) -> None:
    """Each step of the path must be declared."""
    declared = set()
    for each in backends:
        declared |= {(each.name, other) for other in each.higher_priority_than}
        declared |= {(other, each.name) for other in each.lower_priority_than}
    assert path[0] == path[-1]
    assert len(set(path)) == len(path) - 1
    assert set(itertools.pairwise(path)) <= declared


def assert_mended(backends: Sequence[Description], found: Order, set_order: str = "") -> None:
    """The values that the cycles show must mend them, one after the other."""
    left = len(found.cycles)
    assert left
    while found.cycles:
        found = order(*backends, set_order=found.cycles[0].set_order)
        assert len(found.cycles) == left - 1
        left -= 1
    assert set(found.names) == {"default", *(each.name for each in backends)}
    stated = set(pairs(set_order))
    kept = {(e.before, e.after) for e in found.edges() if e.strength is Strength.ENVIRONMENT}
    installed = {pair for pair in stated if set(pair) <= set(found.names)}
    assert installed <= kept


@pytest.mark.parametrize("length", [2, 3, 40])
def test_backends_on_a_cycle_are_skipped_and_the_value_that_mends_it_is_known(length: int) -> None:
    """P9: a cycle of declared edges never breaks the library."""
    backends = ring(*(f"b{number:02}" for number in range(length)))
    others = [backend("a"), backend("z", higher="a")]
    found = order(*backends, *others)
    assert found.names == ("default", "z", "a")
    (cycle,) = found.cycles
    assert cycle.members == tuple(each.name for each in backends)
    assert len(cycle.path) == length + 1
    assert_is_cycle(cycle.path, backends)
    assert_mended([*backends, *others], found)


def test_a_cycle_may_be_declared_from_both_sides() -> None:
    """P9: higher_priority_than of one, lower_priority_than of the other."""
    backends = [backend("a", higher="b", lower="c"), backend("b", higher="c"), backend("c")]
    found = order(*backends)
    (cycle,) = found.cycles
    assert cycle.members == ("a", "b", "c")
    assert_is_cycle(cycle.path, backends)
    assert_mended(backends, found)


def test_a_cycle_that_only_one_backend_declares_is_that_ones_alone_to_mend() -> None:
    """P9: a and b both say that they go first."""
    backends = [backend("a", lower="b"), backend("b", lower="a")]
    found = order(*backends)
    assert found.names == ("default",)
    assert found.cycles[0].set_order == "a>b"
    assert_mended(backends, found)


def test_a_cycle_through_the_default_does_not_skip_the_default() -> None:
    """P9: the library works."""
    backends = [backend("x", higher="default"), backend("y", higher="x", lower="default")]
    found = order(*backends, backend("z"))
    assert found.names == ("default", "z")
    (cycle,) = found.cycles
    assert cycle.members == ("x", "y")
    assert set(cycle.path) == {"default", "x", "y"}
    assert_is_cycle(cycle.path, backends)
    assert_mended([*backends, backend("z")], found)


def test_a_backend_may_contradict_nobody_but_itself_about_the_default() -> None:
    """P9: two backends around the default."""
    backends = [backend("x", higher="default", lower="y"), backend("y", lower="default")]
    found = order(*backends)
    assert found.names == ("default",)
    assert_mended(backends, found)


def test_overlapping_cycles_are_mended_together() -> None:
    """P9: a>b>a and b>c>d>b share b."""
    backends = [
        backend("a", "m:A", higher="b"),
        backend("b", "m:B", higher="a c"),
        backend("c", "m:C", higher="d"),
        backend("d", "m:D", higher="b"),
    ]
    found = order(*backends, backend("e"))
    assert found.names == ("default", "e")
    (cycle,) = found.cycles
    assert cycle.members == ("a", "b", "c", "d")
    assert_is_cycle(cycle.path, backends)
    assert_mended([*backends, backend("e")], found)


def test_separate_cycles_are_reported_one_by_one() -> None:
    """P9: each has its own path and its own value."""
    backends = [*ring("a", "b"), *ring("x", "y", "z"), backend("m", higher="a", lower="y")]
    found = order(*backends)
    assert found.names == ("default", "m")
    assert [cycle.members for cycle in found.cycles] == [("a", "b"), ("x", "y", "z")]
    assert_mended(backends, found)


def test_what_only_leads_into_a_cycle_or_out_of_it_is_not_on_it() -> None:
    """P9: only backends on it are skipped."""
    backends = [*ring("m", "n"), backend("a", lower="m"), backend("z", higher="n")]
    found = order(*backends)
    assert found.names == ("default", "a", "z")
    assert found.cycles[0].members == ("m", "n")


def test_a_cycle_that_the_environment_has_mended_is_none() -> None:
    """P9: that is how it is mended."""
    found = order(*ring("a", "b", "c"), set_order="a>c")
    assert found.cycles == ()
    assert found.names == ("default", "a", "b", "c")


def test_a_cycle_with_the_environment_is_none_of_declared_edges() -> None:
    """P5: c>a is stronger than a>b and b>c, which together oppose it."""
    found = order(*ring("a", "b", "c"), set_order="c>a")
    assert found.cycles == ()
    assert set(found.names) == {"default", "a", "b", "c"}
    assert found.names.index("c") < found.names.index("a")


def test_a_declared_cycle_beside_one_with_the_environment_is_found() -> None:
    """P5, P9: the environment says nothing about c and d."""
    backends = [
        backend("a"),
        backend("b", higher="c"),
        backend("c", higher="a d"),
        backend("d", higher="c"),
    ]
    found = order(*backends, set_order="a>b")
    assert [cycle.members for cycle in found.cycles] == [("c", "d")]
    assert found.names == ("default", "a", "b")
    assert_mended(backends, found, "a>b")


@pytest.mark.parametrize(
    "set_order",
    ["b>nobody>a", "z>a", "c>z>a", "c>nobody>z>a", "b>y,y>z", "p>q>r", "z>default"],
)
def test_the_value_that_mends_a_cycle_keeps_what_was_set(set_order: str) -> None:
    """P9: the exact value to set."""
    backends = [*ring("a", "b", "c"), *ring("d", "e"), backend("y"), backend("z")]
    found = order(*backends, set_order=set_order)
    assert found.cycles
    for cycle in found.cycles:
        assert cycle.set_order.startswith(",".join(f"{a}>{b}" for a, b in pairs(set_order)))
    assert_mended(backends, found, set_order)


def test_type_specificity_is_in_no_cycle_of_declared_edges() -> None:
    """P5, P9: it is weaker, and gives way."""
    backends = [
        backend("a", "m:A m:B", higher="c"),
        backend("b", "m:A m:B m:C", higher="a"),
        backend("c", "m:A"),
    ]
    assert names(*backends) == "b a c"


# --- through a library ---------------------------------------------------------------


def describe(each: Description) -> dict[str, Any]:
    return {
        "name": each.name,
        "primary_types": list(map(str, each.primary_types)),
        "secondary_types": list(map(str, each.secondary_types)),
        "higher_priority_than": list(each.higher_priority_than),
        "lower_priority_than": list(each.lower_priority_than),
    }


def library(*backends: Description) -> BackendSystem:
    return BackendSystem(
        None, "TESTORDER", ["numpy:ndarray"], backends=[describe(each) for each in backends]
    )


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("PRIORITIZE", "BLOCK", "SET_ORDER"):
        monkeypatch.delenv(f"TESTORDER_{variable}", raising=False)


def test_a_library_shows_its_backends_in_order() -> None:
    """F10, P1: `system.backends` has the order."""
    system = library(backend("b"), backend("a", "@m:A"), backend("c", higher="default b"))
    assert list(system.backends) == ["c", "default", "b", "a"]


def test_backends_without_edges_between_them_keep_their_order_in_every_library() -> None:
    """P1: one order, computed once."""
    system = library(backend("b"), backend("a"))
    assert list(system.backends) == list(system.backends) == ["default", "b", "a"]


def test_a_library_warns_once_about_a_cycle_and_shows_the_value_that_mends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """P9, E2: the warning shows the cycle and the exact value, which mends it."""
    backends = [*ring("a", "b", "c"), backend("d", higher="default")]
    system = library(*backends)
    with pytest.warns(BackendSkippedWarning) as caught:
        assert list(system.backends) == ["d", "default"]
    (warning,) = caught
    text = str(warning.message)
    assert re.search(r"a before b before c before a|b before c before a|c before a before b", text)
    shown = re.search(r"TESTORDER_SET_ORDER='([^']+)'", text)
    assert shown is not None
    assert sorted(str(problem.backend) for problem in system.problems) == ["a", "b", "c"]

    monkeypatch.setenv("TESTORDER_SET_ORDER", shown.group(1))
    mended = library(*backends)
    assert list(mended.backends) == ["d", "default", "a", "b", "c"]
    assert mended.problems == ()
    system.reload()
    assert list(system.backends) == ["d", "default", "a", "b", "c"]
    assert system.problems == ()


def test_a_library_warns_about_each_of_two_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    """P9, E2: each has a warning of its own."""
    backends = [*ring("a", "b"), *ring("x", "y")]
    system = library(*backends)
    with pytest.warns(BackendSkippedWarning) as caught:
        assert list(system.backends) == ["default"]
    values = re.findall(r"TESTORDER_SET_ORDER='([^']+)'", " ".join(str(w.message) for w in caught))
    assert len(values) == 2
    # Both together mend both.
    monkeypatch.setenv("TESTORDER_SET_ORDER", ",".join(values))
    assert list(library(*backends).backends) == ["default", "a", "b", "x", "y"]


def test_a_backend_skipped_for_a_cycle_says_so_when_it_is_asked_for() -> None:
    """P9, S5: the error has the reason."""
    system = library(*ring("a", "b"))
    with pytest.warns(BackendSkippedWarning), pytest.raises(ValueError, match="go in a circle"):
        system.backend_opts(prioritize="a")
