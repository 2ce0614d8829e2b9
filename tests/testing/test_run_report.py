"""The table and the JSON at the end of a run."""

from __future__ import annotations

from spatch_core.testing.call_outcomes import CallOutcomes
from spatch_core.testing.run_report import RunReport


def test_a_report_tells_functions_and_tests() -> None:
    """X2: the most frequent reasons in the table, all of them in the JSON."""
    report = RunReport({"backend": "b"}, ["m:f", "m:unused"])
    reasons = {f"reason {number}": number for number in range(1, 6)}
    report.add("t1", CallOutcomes({"m:f": 2}, {"m:f": reasons}).as_json(), "")
    report.add("t2", CallOutcomes(unseen={"m:g": {"does not match": 4}}).as_json(), "m:f")
    assert [*report.lines()] == [
        "FUNCTION  ANSWERED  DEFERRED  NEVER SAW  TESTS",
        "m:f              2        15          0      1",
        "    5 deferred: reason 5",
        "    4 deferred: reason 4",
        "    3 deferred: reason 3",
        "    3 deferred: 2 other reasons",
        "m:g              0         0          4      1",
        "    4 never saw: does not match",
        "",
        "functions of the backend that were not called (1):",
        "    m:unused",
        "tests that never reached it (1 of 2):",
        "    t2",
        "tests that failed as expected of their functions: 1",
    ]
    content = report.content()
    assert content["functions"]["m:f"]["deferred"] == reasons
    assert (content["not_reached"], content["not_called"]) == (["t2"], ["m:unused"])


def test_a_function_that_has_not_failed_is_needless() -> None:
    """X5: only if the backend has answered it."""
    report = RunReport({}, [])
    report.add("t", CallOutcomes({"m:f": 1, "m:g": 1}).as_json(), "m:g")
    assert report.needless({"m:f": "", "m:g": "", "m:h": ""}) == ["m:f"]
