"""NetworkX's own tests, as far as they are quick: a quarter of them, of every kind of function."""

from __future__ import annotations

import pytest
from networkx_tests import differences, expected_failures, run

PARTS = [
    *("assortativity", "bipartite", "centrality", "coloring", "components", "link_analysis"),
    *("minors", "operators", "shortest_paths", "traversal"),
    *("tests.test_dag", "tests.test_planarity"),
]
TESTS = [
    *(f"networkx.algorithms.{part}" for part in PARTS),
    *("networkx.classes.tests.test_function", "networkx.linalg", "networkx.tests"),
    "networkx.utils",
]


@pytest.fixture(scope="module")
def plain() -> dict[str, str]:
    """The outcomes without this distribution."""
    outcomes = run("plain", TESTS)
    assert "failed" not in outcomes.values()
    return outcomes


@pytest.mark.xdist_group("networkx")
@pytest.mark.parametrize("name", ["shim", "conversion"])
def test_what_passes_plainly_passes_here(name: str, plain: dict[str, str]) -> None:
    """Each difference is one of those that are expected, and each of these is there."""
    expected = expected_failures() if name == "conversion" else {}
    assert differences(plain, run(name, TESTS), expected) == {}
    assert len(plain) > 2000


def test_a_difference_is_reported() -> None:
    """A test that fails, or is not run, or passes though it is to fail, or is gone."""
    plain = dict.fromkeys("abcd", "passed") | {"e": "skipped"}
    other = {"a": "passed", "b": "failed", "d": "passed"}
    assert differences(plain, other, {}) == {"b": "failed", "c": "not run"}
    reasons = dict.fromkeys("bcd", "a reason")
    assert differences(plain, other, reasons) == {"d": "passed"}
    assert differences(plain, other, {**reasons, "f": "", "e": ""}).keys() == set("def")
