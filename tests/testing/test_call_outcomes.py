"""Counts of calls that a backend answered, declined or never saw."""

from __future__ import annotations

from spatch_core.testing.call_outcomes import CallOutcomes


def test_counts_are_added_by_function_and_reason() -> None:
    """They are the same after a round trip through JSON."""
    total = CallOutcomes({"f": 1}, {"f": {"small": 2}})
    total.add(CallOutcomes({"f": 2, "g": 1}, {"f": {"small": 1, "odd": 1}}, {"h": {"no": 1}}))
    assert total.answered == {"f": 3, "g": 1}
    assert total.deferred == {"f": {"small": 3, "odd": 1}}
    assert CallOutcomes(**total.as_json()) == total


def test_a_backend_is_reached_if_it_is_asked() -> None:
    assert CallOutcomes({"f": 1}).is_reached
    assert CallOutcomes(deferred={"f": {"small": 1}}).is_reached
    assert not CallOutcomes(unseen={"f": {"does not match": 1}}).is_reached
