"""P4, P5: nearness, which the dispatch types of a call decide."""

from __future__ import annotations

import pytest

from spatch_core._description.description import Description
from spatch_core._order.nearness import is_nearer
from spatch_core._order.ordering import Order, order_backends
from tests.order.conftest import backend, pairs

Nearness = list[list[frozenset[str]]]


def near(*types: str) -> Nearness:
    """``near("b c", "a|b")``: for the first type b before c, for the second a and b alike."""
    return [[frozenset(names.split("|")) for names in each.split()] for each in types]


def order(*backends: Description, nearness: Nearness, set_order: str = "") -> Order:
    found = order_backends(backends, pairs(set_order), "LIB_SET_ORDER", nearness)
    again = order_backends(backends[::-1], pairs(set_order), "LIB_SET_ORDER", nearness)
    assert found.names == again.names
    return found


def test_the_nearer_backend_goes_first() -> None:
    """P4: though its name is later, and though no types of the two are equal."""
    backends = backend("a", "~m:Base"), backend("b", "m:Sub")
    assert order(*backends, nearness=[]).names == ("a", "b")
    found = order(*backends, nearness=near("b a"))
    assert found.names == ("b", "a")
    (edge,) = found.edges()
    assert edge.reason == (
        "b (m:Sub) names a class that is nearer to the dispatch type than a does"
    )


def test_nearness_overrides_type_specificity() -> None:
    """P4: a names a subset of the types of b, but b names the class itself."""
    backends = backend("a", "~m:Base"), backend("b", "m:Sub ~m:Base")
    assert order(*backends, nearness=[]).names == ("a", "b")
    assert order(*backends, nearness=near("b a")).names == ("b", "a")


@pytest.mark.parametrize(
    ("a", "b", "set_order"),
    [
        (backend("a", "~m:Base", higher="b"), backend("b", "m:Sub"), ""),
        (backend("a", "~m:Base"), backend("b", "m:Sub", lower="a"), ""),
        (backend("a", "~m:Base"), backend("b", "m:Sub"), "a>b"),
        (backend("a", "~m:Base"), backend("b", "m:Sub", higher="a"), "a>x>b"),
    ],
    ids=["higher", "lower", "environment", "environment, against both"],
)
def test_explicit_edges_override_nearness(a: Description, b: Description, set_order: str) -> None:
    """P5: it is the weakest kind."""
    assert order(a, b, nearness=near("b a"), set_order=set_order).names == ("a", "b")


def test_a_path_of_explicit_edges_overrides_nearness() -> None:
    """P5: a before c before b."""
    a, c = backend("a", "~m:Base", higher="c"), backend("c", "m:C", higher="b")
    found = order(a, backend("b", "m:Sub"), c, nearness=near("b a"))
    assert found.names == ("a", "c", "b")


def test_types_that_disagree_decide_nothing() -> None:
    """P4: neither is nearer, so type specificity decides."""
    a, b = backend("a", "~m:Base m:Other"), backend("b", "m:Sub")
    assert order(a, b, nearness=near("b a", "a b")).names == ("a", "b")
    narrow, wide = backend("z", "m:Other"), backend("a", "~m:Base m:Other")
    assert order(narrow, wide, nearness=near("z a", "a z")).names == ("z", "a")


def test_edges_of_nearness_on_a_cycle_cancel() -> None:
    """P5: a before b, b before c, c before a, each for a type of its own."""
    backends = [backend(name, f"m:{name.upper()}") for name in "abc"]
    found = order(*backends, nearness=near("a b", "b c", "c a"))
    assert found.names == ("a", "b", "c")
    assert list(found.edges()) == []


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0,), (1,), True),
        ((1,), (0,), False),
        ((0,), (0,), False),
        ((0,), (-1,), False),
        ((-1,), (0,), False),
        ((0, -1), (1, 0), True),
        ((0, 1), (1, 0), False),
        ((0, 1), (1, 1), True),
        ((), (), False),
    ],
)
def test_a_backend_is_nearer_for_one_type_and_farther_for_none(
    first: tuple[int, ...], second: tuple[int, ...], expected: bool
) -> None:
    """P4: types that are not primary for both do not count."""
    assert is_nearer(first, second) is expected
