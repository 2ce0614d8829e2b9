"""Groups of backends of the same types, and the edges of type specificity between them."""

from __future__ import annotations

from spatch_core._order.edges import Edge, Strength
from spatch_core._order.groups import group_backends, specificity_edges
from tests.order.conftest import backend, edges, names, order


def test_backends_of_the_same_types_and_edges_are_one_group() -> None:
    """Their number, not the number of backends, decides how long the order takes."""
    described = [
        backend("a", "m:A m:B"),
        backend("b", "m:A", "m:B"),
        backend("c", "m:B m:A"),
        backend("d", "m:A m:B"),
    ]
    group_of = group_backends(described, [Edge("x", "d", Strength.DECLARED, "")])

    assert list(group_of) == ["a", "b", "c", "d"]
    assert group_of["a"] is group_of["c"]
    assert len(set(group_of.values())) == 3
    assert [item.name for item in group_of["a"].members] == ["a", "c"]
    assert group_of["d"].after == {"x"}


def test_one_edge_of_type_specificity_stands_for_all_members() -> None:
    described = [backend(f"narrow{n}", "m:A") for n in range(3)]
    described += [backend(f"wide{n}", "m:A m:B") for n in range(3)]
    group_of = group_backends(described, [])

    assert specificity_edges(group_of, []) == [(group_of["narrow0"], group_of["wide0"])]


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


def test_set_order_overrides_type_specificity() -> None:
    """P5: 3."""
    backends = backend("narrow", "m:A"), backend("wide", "m:A m:B")
    found = order(*backends, set_order="wide>narrow")
    assert found.names == ("default", "wide", "narrow")
    assert edges(found, Strength.SPECIFICITY) == set()


def test_type_specificity_is_in_no_cycle_of_declared_edges() -> None:
    """P5, P9: it is weaker, and gives way."""
    backends = [
        backend("a", "m:A m:B", higher="c"),
        backend("b", "m:A m:B m:C", higher="a"),
        backend("c", "m:A"),
    ]
    assert names(*backends) == "b a c"
