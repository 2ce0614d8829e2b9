"""NetworkX's own tests, as far as they are quick: a quarter of them, of every kind of function."""

from __future__ import annotations

import pytest
from networkx_tests import differences, expected_failures, run

PARTS = [
    *("assortativity", "bipartite", "centrality", "coloring", "components", "flow"),
    *("link_analysis", "minors", "operators", "shortest_paths", "traversal"),
]
TESTS = [
    *(f"networkx.algorithms.{part}" for part in PARTS),
    *("networkx.linalg", "networkx.readwrite", "networkx.tests", "networkx.utils"),
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
    here = {test: reason for test, reason in expected.items() if test in plain}
    assert differences(plain, run(name, TESTS), here) == {}
    assert len(plain) > 2000


def test_a_difference_is_reported() -> None:
    """A test that fails, or is not run, or passes though it is to fail, or is gone."""
    plain = dict.fromkeys("abcd", "passed") | {"e": "skipped"}
    other = {"a": "passed", "b": "failed", "d": "passed"}
    assert differences(plain, other, {}) == {"b": "failed", "c": "not run"}
    reasons = dict.fromkeys("bcd", "a reason")
    assert differences(plain, other, reasons) == {"d": "passed"}
    assert differences(plain, other, {**reasons, "f": "", "e": ""}).keys() == set("def")
