"""NetworkX's own tests, as far as they are quick: a quarter of them, of every kind of function."""

from __future__ import annotations

import pytest
from networkx_tests import add_runs, expected_failures, run

from library_tests import differences

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
INSTALLED = {"graphblas": "graphblas_algorithms", "parallel": "nx_parallel"}
"""Backends that are written for NetworkX's own dispatching, and their packages."""
TESTS_OF_INSTALLED = [
    f"networkx.algorithms.tests.test_{part}"
    for part in ("cluster", "cuts", "isolate", "tournament")
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


@pytest.mark.xdist_group("networkx")
@pytest.mark.parametrize("backend", INSTALLED)
def test_what_passes_on_a_backend_by_networkx_passes_on_it_here(backend: str) -> None:
    """Beside NetworkX's own dispatching, in which each function falls back to NetworkX's."""
    pytest.importorskip(INSTALLED[backend], reason=f"{INSTALLED[backend]} is not installed")
    theirs, these = (run(name, TESTS_OF_INSTALLED) for name in add_runs(backend))
    assert differences(theirs, these, {}) == {}
    assert len(theirs) > 60


def test_a_difference_is_reported() -> None:
    """A test that fails, or is not run, or passes though it is to fail, or is gone."""
    plain = dict.fromkeys("abcd", "passed") | {"e": "skipped"}
    other = {"a": "passed", "b": "failed", "d": "passed"}
    assert differences(plain, other, {}) == {"b": "failed", "c": "not run"}
    reasons = dict.fromkeys("bcd", "a reason")
    assert differences(plain, other, reasons) == {"d": "passed"}
    assert differences(plain, other, {**reasons, "f": "", "e": ""}).keys() == set("def")
