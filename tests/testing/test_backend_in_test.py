"""What the fixture `spatch_backend` gives."""

from __future__ import annotations

from spatch_core.testing import BackendInTest
from spatch_core.testing.call_outcomes import CallOutcomes


def test_it_tells_answers_and_reasons() -> None:
    """The values are copies, which a test may change."""
    backend = BackendInTest("b", outcomes=CallOutcomes({"f": 2}, {"g": {"small": 3, "odd": 1}}))
    assert (backend.answered, backend.deferred) == ({"f": 2}, {"g": ["small", "odd"]})
    backend.answered.clear()
    assert backend.answered == {"f": 2}


def test_without_a_run_it_is_the_default() -> None:
    assert BackendInTest("default").answered == {}
