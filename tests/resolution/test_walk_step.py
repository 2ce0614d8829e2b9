"""The reasons why a backend is a candidate although its types do not say so."""

from __future__ import annotations

from spatch_core import BackendSystem
from spatch_core._identifiers import DEFAULT
from spatch_core._resolution.candidate import IS_CURRENT
from spatch_core._resolution.explanation import Verdict
from spatch_core._resolution.walk_step import LAST_RESORT
from tests.resolution.conftest import HERE, Foreign, Own, describe, f


def make_system() -> BackendSystem:
    backends = [describe("same", Own), describe("other", Foreign)]
    return BackendSystem(None, "LIB", [f"{HERE}:Own"], backends=backends)


def test_the_default_that_does_not_match_is_the_last_resort() -> None:
    """It comes behind every backend, with the reason."""
    function = make_system().dispatchable(("x", "y"), module="lib")(f)
    last = function.explain(1).backends[-1]
    assert (last.backend, last.verdict, last.reason) == (DEFAULT, Verdict.RUNS, LAST_RESORT)


def test_the_current_backend_is_chosen_where_types_say_nothing() -> None:
    """It comes first, with the reason."""
    system = make_system()
    function = system.dispatchable(("x", "y"), module="lib")(f)
    with system.backend_opts(backend="other"):
        first = function.explain(1).backends[0]
    assert (first.backend, first.verdict, first.reason) == ("other", Verdict.RUNS, IS_CURRENT)
