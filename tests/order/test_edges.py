"""P3, P5, P9: edges that are declared or set by the environment, and their contradictions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import pytest

from spatch_core._description.description import Description
from spatch_core._order.edges import Strength
from spatch_core._order.ordering import Order
from tests.order.conftest import backend, edges, names, order, pairs, ring

# --- declared edges ------------------------------------------------------------------


def test_a_backend_may_declare_what_it_goes_before_and_after() -> None:
    """P3: 2."""
    assert names(backend("a"), backend("b", higher="a")) == "b a"
    assert names(backend("a", lower="b"), backend("b")) == "b a"
    found = order(backend("a", lower="b"), backend("b", higher="a"))
    assert edges(found, Strength.DECLARED) == {"b>a"}


def test_a_backend_may_go_before_the_default() -> None:
    """P3: 2: "default" is the library."""
    assert order(backend("a"), backend("b", higher="default")).names == ("b", "default", "a")
    assert order(backend("a", lower="default")).names == ("default", "a")
    found = order(backend("b", higher="default a"), backend("a", higher="default"))
    assert found.names == ("b", "a", "default")


def test_names_that_are_not_installed_declare_nothing() -> None:
    """D8, P6: the backends that it names need not be installed."""
    found = order(backend("a", higher="absent", lower="absent_too"), backend("b"))
    assert found.names == ("default", "a", "b")
    assert list(found.edges()) == []


def test_in_code_backends_can_be_passed_by_entry_points() -> None:
    """P3, P7: the base order yields to edges."""
    assert names(backend("own", in_code=True), backend("a", higher="own")) == "a own"


# --- the environment -----------------------------------------------------------------


def test_set_order_overrides_a_declared_edge() -> None:
    """P5: 3."""
    backends = backend("a", higher="b"), backend("b")
    found = order(*backends, set_order="b>a")
    assert found.names == ("default", "b", "a")
    assert edges(found, Strength.DECLARED) == set()
    assert edges(found, Strength.ENVIRONMENT) == {"b>a"}
    # From the other side as well.
    assert names(backend("a"), backend("b", lower="a"), set_order="b>a") == "b a"


def test_set_order_can_move_the_default() -> None:
    """P3: 3."""
    assert order(backend("a"), backend("b"), set_order="b>default").names == ("b", "default", "a")
    found = order(backend("a", higher="default"), set_order="default>a")
    assert found.names == ("default", "a")


def test_a_chain_in_set_order_overrides_a_declared_edge_across_it() -> None:
    """P5: 3: edges of the environment together oppose a declared one, too."""
    backends = backend("a", higher="c"), backend("b"), backend("c")
    found = order(*backends, set_order="c>b>a")
    assert found.names == ("default", "c", "b", "a")
    assert edges(found, Strength.DECLARED) == set()
    assert found.cycles == ()


def test_set_order_overrides_a_chain_of_declared_edges() -> None:
    """P5: 3: a before b before c by declaration, but c before a by the environment."""
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
    """P8: the strongest edge gives the reason."""
    found = order(backend("a"), backend("b", higher="a"), set_order="b>a")
    assert edges(found, Strength.ENVIRONMENT) == {"b>a"}
    assert edges(found, Strength.DECLARED) == set()


@pytest.mark.parametrize("set_order", ["c>absent>a", "absent>a,c>absent", "c>x>y>z>a"])
def test_set_order_holds_across_names_that_are_not_installed(set_order: str) -> None:
    """P6: a name that is not installed is ignored; its neighbours stay connected."""
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


def test_strengths_are_as_the_rules_are_numbered() -> None:
    """P3: strongest first: 3, 2, 1."""
    assert [Strength.ENVIRONMENT, Strength.DECLARED, Strength.SPECIFICITY] == [3, 2, 1]


# --- cycles --------------------------------------------------------------------------


def assert_is_cycle(path: Sequence[str], backends: Iterable[Description]) -> None:
    """Each step of the path must be declared."""
    declared = set()
    for each in backends:
        declared |= {(each.name, other) for other in each.higher_priority_than}
        declared |= {(other, each.name) for other in each.lower_priority_than}
    assert path[0] == path[-1]
    assert len(set(path)) == len(path) - 1
    assert set(itertools.pairwise(path)) <= declared


def assert_resolved(backends: Sequence[Description], found: Order, set_order: str = "") -> None:
    """The values that the cycles show must resolve them, one after the other."""
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
def test_backends_on_a_cycle_are_skipped_and_a_value_that_resolves_it_is_known(length: int) -> None:
    """P9: a cycle of declared edges never breaks the library."""
    backends = ring(*(f"b{number:02}" for number in range(length)))
    others = [backend("a"), backend("z", higher="a")]
    found = order(*backends, *others)
    assert found.names == ("default", "z", "a")
    (cycle,) = found.cycles
    assert cycle.members == tuple(each.name for each in backends)
    assert len(cycle.path) == length + 1
    assert_is_cycle(cycle.path, backends)
    assert_resolved([*backends, *others], found)


def test_a_cycle_may_be_declared_from_both_sides() -> None:
    """P9: 2: higher_priority_than of one backend, lower_priority_than of the other."""
    backends = [backend("a", higher="b", lower="c"), backend("b", higher="c"), backend("c")]
    found = order(*backends)
    (cycle,) = found.cycles
    assert cycle.members == ("a", "b", "c")
    assert_is_cycle(cycle.path, backends)
    assert_resolved(backends, found)


def test_two_backends_that_each_go_after_the_other_are_a_cycle() -> None:
    """P9: edges that move backends down form cycles, too."""
    backends = [backend("a", lower="b"), backend("b", lower="a")]
    found = order(*backends)
    assert found.names == ("default",)
    assert found.cycles[0].set_order == "a>b"
    assert_resolved(backends, found)


def test_a_cycle_through_the_default_does_not_skip_the_default() -> None:
    """P9: the library works."""
    backends = [backend("x", higher="default"), backend("y", higher="x", lower="default")]
    found = order(*backends, backend("z"))
    assert found.names == ("default", "z")
    (cycle,) = found.cycles
    assert cycle.members == ("x", "y")
    assert set(cycle.path) == {"default", "x", "y"}
    assert_is_cycle(cycle.path, backends)
    assert_resolved([*backends, backend("z")], found)


def test_two_backends_may_contradict_each_other_about_the_default() -> None:
    """P5: y goes before x, x before the default, and the default before y."""
    backends = [backend("x", higher="default", lower="y"), backend("y", lower="default")]
    found = order(*backends)
    assert found.names == ("default",)
    assert_resolved(backends, found)


def test_overlapping_cycles_are_resolved_together() -> None:
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
    assert_resolved([*backends, backend("e")], found)


def test_separate_cycles_are_reported_one_by_one() -> None:
    """P9: each has a path and a remedy of its own."""
    backends = [*ring("a", "b"), *ring("x", "y", "z"), backend("m", higher="a", lower="y")]
    found = order(*backends)
    assert found.names == ("default", "m")
    assert [cycle.members for cycle in found.cycles] == [("a", "b"), ("x", "y", "z")]
    assert_resolved(backends, found)


def test_a_backend_before_or_after_a_cycle_is_not_on_it() -> None:
    """P9: only backends on it are skipped."""
    backends = [*ring("m", "n"), backend("a", lower="m"), backend("z", higher="n")]
    found = order(*backends)
    assert found.names == ("default", "a", "z")
    assert found.cycles[0].members == ("m", "n")


def test_a_cycle_that_the_environment_resolves_is_not_reported() -> None:
    """P9: the environment resolves a cycle."""
    found = order(*ring("a", "b", "c"), set_order="a>c")
    assert found.cycles == ()
    assert found.names == ("default", "a", "b", "c")


def test_declared_edges_give_way_on_a_cycle_with_the_environment() -> None:
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
    assert_resolved(backends, found, "a>b")


@pytest.mark.parametrize(
    "set_order",
    ["b>absent>a", "z>a", "c>z>a", "c>absent>z>a", "b>y,y>z", "p>q>r", "z>default"],
)
def test_the_value_that_resolves_a_cycle_keeps_what_was_set(set_order: str) -> None:
    """P9: the exact value to set."""
    backends = [*ring("a", "b", "c"), *ring("d", "e"), backend("y"), backend("z")]
    found = order(*backends, set_order=set_order)
    assert found.cycles
    for cycle in found.cycles:
        assert cycle.set_order.startswith(",".join(f"{a}>{b}" for a, b in pairs(set_order)))
    assert_resolved(backends, found, set_order)
