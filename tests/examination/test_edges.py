"""Edges of the priority order, with their origins."""

from __future__ import annotations

import pytest

from spatch_core import BackendSystem
from spatch_core.examination.edges import mending, steps


def system(*backends: dict[str, object]) -> BackendSystem:
    described = [{"primary_types": ["m:T"], "functions": {}, **each} for each in backends]
    return BackendSystem(None, "EDGES", backends=described)


def test_each_edge_says_who_declares_it() -> None:
    """An edge that moves a backend down is declared by the backend that goes after."""
    order = (
        system(
            {"name": "a", "higher_priority_than": ["default"]},
            {"name": "b", "lower_priority_than": ["a"]},
        )
        ._catalog()
        .order
    )
    found = {(each.before, each.after, each.origin, each.declared_by) for each in steps(order)}
    assert ("a", "default", "declared", "a") in found
    assert ("a", "b", "declared", "b") in found
    assert mending(order) is None


def test_cycles_have_one_value_that_mends_them(recwarn: pytest.WarningsRecorder) -> None:
    order = (
        system(
            {"name": "a", "higher_priority_than": ["b"]},
            {"name": "b", "higher_priority_than": ["a"]},
        )
        ._catalog()
        .order
    )
    assert mending(order) == order.cycles[0].set_order
