"""P4: type specificity."""

from __future__ import annotations

import pytest

from spatch_core._description.description import Description
from spatch_core._order.edges import Strength
from spatch_core._order.ordering import order_backends
from tests.order.conftest import backend, edges, names, order


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
    """P4: 1, against the base order."""
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
    """P4, P5: 1 and: equal opposite edges cancel out."""
    for one, two in ((first, second), (second, first)):
        found = order(backend("a", *one), backend("b", *two))
        assert edges(found, Strength.SPECIFICITY) == set()
        assert found.names == ("default", "a", "b")


def test_of_two_opposite_subsets_neither_counts_and_then_the_prefixes_do() -> None:
    """P4: 1: the same types named more narrowly, when subsets decide nothing."""
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
    """P4: 1: the empty set of types is not more specific than others."""
    library = Description("default", (), in_code=True)
    found = order_backends([library, backend("a", "m:A m:B"), backend("b", "m:A")])
    assert found.names == ("default", "b", "a")
    assert [(edge.before, edge.after) for edge in found.edges()] == [("b", "a")]


def test_abstract_backends_can_come_before_concrete_ones_by_their_types() -> None:
    """P3, P4: edges are stronger than the base order."""
    assert names(backend("a", "m:B m:C"), backend("z", "@m:B")) == "z a"


def test_specificity_on_a_cycle_cancels_out() -> None:
    """P5: three that are each more specific than the next keep the base order."""
    cycle = [
        backend("c", "m:A", "m:C"),
        backend("b", "m:B", "m:A"),
        backend("a", "m:C", "m:B"),
    ]
    found = order(*cycle)
    assert found.names == ("default", "a", "b", "c")
    assert edges(found, Strength.SPECIFICITY) == set()
    # What leads into the cycle and out of it still counts.
    found = order(*cycle, backend("d", "m:C m:D"), backend("e", "m:D"), backend("z", "m:E", "m:D"))
    assert edges(found, Strength.SPECIFICITY) >= {"e>d", "e>z", "a>d"}
    assert found.names == ("default", "a", "b", "c", "e", "d", "z")
