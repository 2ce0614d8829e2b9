"""P1, P2, P7: the base order, the moves, and the order of a library."""

from __future__ import annotations

import dataclasses
import re
import sys
from typing import Any

import pytest

from spatch_core import BackendSkippedWarning, BackendSystem
from spatch_core._description.description import Description
from spatch_core._order.edges import Strength
from spatch_core._order.ordering import order_all
from spatch_core._type_patterns import TypePattern
from tests.order.conftest import backend, names, order, ring

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
    """P1: it does not depend on imported modules."""
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


# --- the moves and the sort ----------------------------------------------------------


def test_the_base_order_is_kept_wherever_the_edges_allow() -> None:
    """P7: a backend with an edge moves up, and no other backend moves."""
    backends = [backend(name) for name in "abcdefg"]
    assert names(*backends, set_order="g>b") == "a g b c d e f"
    assert names(*backends, set_order="g>a") == "g a b c d e f"
    assert names(*backends, set_order="c>a,d>b") == "c a d b e f g"
    assert names(*backends, set_order="d>c>b>a") == "d c b a e f g"
    assert names(*backends, set_order="a>g") == "a b c d e f g"
    assert names(*backends, set_order="e>a,e>c,f>a") == "e f a b c d g"


def test_an_edge_moves_no_other_backend_before_the_default() -> None:
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


def test_a_backend_that_goes_after_others_moves_down_and_no_further_than_it_must() -> None:
    """P7: the others keep the base order."""
    assert names(backend("a", lower="c"), *map(backend, "bcd")) == "b c a d"
    assert names(backend("a", lower="c"), backend("b", lower="c"), *map(backend, "cd")) == "c a b d"
    assert names(backend("a", lower="c b"), *map(backend, "bcd")) == "b c a d"
    assert names(backend("a", lower="b"), backend("b", lower="d"), *map(backend, "cd")) == "c d b a"


def test_a_backend_that_goes_before_others_moves_up_and_no_further_than_it_must() -> None:
    """P7: the others keep the base order, and so do those that move together."""
    a, b, c = map(backend, "abc")
    d = backend("d", higher="b")
    assert names(a, b, c, d) == "a d b c"
    assert names(a, b, backend("c", higher="b"), d) == "a c d b"
    assert names(a, b, backend("c", higher="b"), backend("d", higher="c")) == "a d c b"
    found = order(*(backend(name, higher="default") for name in "cab"), backend("B"))
    assert found.names == ("a", "b", "c", "default", "B")


# --- reasons -------------------------------------------------------------------------


def test_of_several_sources_of_an_edge_the_strongest_is_told() -> None:
    """P8: the edge is reported once."""
    found = order(backend("a", "m:A", higher="b"), backend("b", "m:A m:B"))
    assert [(e.before, e.after, e.strength) for e in found.edges()] == [
        ("a", "b", Strength.DECLARED)
    ]


def test_the_library_may_have_a_name_of_its_own_in_reasons() -> None:
    """F15, P8: names themselves stay."""
    default = Description("default", (TypePattern("m:A"), TypePattern("m:B")))
    found = dataclasses.replace(
        order_all([default, backend("a", "m:A"), backend("b", "m:A m:B m:C")]),
        default_name="networkx",
    )
    reasons = {(e.before, e.after): e.reason for e in found.edges()}
    assert reasons["a", "default"].endswith("the types that networkx supports")
    assert reasons["default", "b"].startswith("the primary types of networkx (")
    found = order(backend("a", higher="default", lower="b"), backend("b", lower="default"))
    assert found.cycles[0].in_words("networkx") == "a before networkx before b before a"


def test_every_edge_has_its_reason() -> None:
    """P8: every edge keeps its reason in words."""
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
    """P9, E2: the warning shows the cycle and the exact value, which resolves it."""
    backends = [*ring("a", "b", "c"), backend("d", higher="default")]
    system = library(*backends)
    with pytest.warns(BackendSkippedWarning) as caught:
        assert list(system.backends) == ["d", "default", "a", "b", "c"]
    (warning,) = caught
    text = str(warning.message)
    assert re.search(r"a before b before c before a|b before c before a|c before a before b", text)
    shown = re.search(r"TESTORDER_SET_ORDER='([^']+)'", text)
    assert shown is not None
    assert sorted(str(problem.backend) for problem in system.problems) == ["a", "b", "c"]

    monkeypatch.setenv("TESTORDER_SET_ORDER", shown.group(1))
    resolved = library(*backends)
    assert list(resolved.backends) == ["d", "default", "a", "b", "c"]
    assert resolved.problems == ()
    system.reload()
    assert list(system.backends) == ["d", "default", "a", "b", "c"]
    assert system.problems == ()


def test_a_library_warns_about_each_of_two_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    """P9, E2: each has its own warning."""
    backends = [*ring("a", "b"), *ring("x", "y")]
    system = library(*backends)
    with pytest.warns(BackendSkippedWarning) as caught:
        assert list(system.backends) == ["default", "a", "b", "x", "y"]
    values = re.findall(r"TESTORDER_SET_ORDER='([^']+)'", " ".join(str(w.message) for w in caught))
    assert len(values) == 2
    # Both together resolve both.
    monkeypatch.setenv("TESTORDER_SET_ORDER", ",".join(values))
    assert list(library(*backends).backends) == ["default", "a", "b", "x", "y"]


def test_a_backend_on_a_cycle_can_be_prioritized() -> None:
    """P9, S5: the user's order needs no declared edge."""
    system = library(*ring("a", "b"))
    with pytest.warns(BackendSkippedWarning):
        options = system.backend_opts(prioritize="b")
    assert options.backends == ("b", "default", "a")
