"""A hook that notes what became of each call under a backend."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import IF_NEEDED, BackendSystem
from spatch_core.testing.observed_calls import ObservedCalls


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (True, "answered", ""),
        (False, "deferred", "should_run"),
        ("too small", "deferred", "too small"),
        (IF_NEEDED, "unseen", "IF_NEEDED"),
    ],
    ids=["yes", "no", "reason", "if needed"],
)
def test_each_outcome_is_noted(answer: Any, kind: str, reason: str) -> None:
    """X2: also where the backend says that it runs if no other one does."""
    fields = {"function": lambda x: x, "should_run": lambda context, x: answer}
    backend = {
        "name": "some",
        "primary_types": ["builtins:float"],
        "functions": {"notes:double": fields},
    }
    types = ["builtins:int", "builtins:float"]
    system = BackendSystem(None, "NOTES", types, backends=[backend])
    double = system.dispatchable("x", module="notes", qualname="double")(lambda x: 2 * x)
    calls = ObservedCalls(system, "some")
    with system.backend_opts(prioritize="some", hook=calls):
        double(1.0)
        double(1)
    noted = calls.outcomes.as_json()
    unseen = noted["unseen"]["notes:double"]
    assert unseen.pop("does not match: it does not know builtins:int", 0) == 1 or unseen
    if kind == "answered":
        assert noted[kind] == {"notes:double": 1}
    else:
        (found,) = [each for each in noted[kind]["notes:double"] if reason in each]
        assert noted[kind]["notes:double"][found] == 1


def test_each_test_has_calls_of_its_own() -> None:
    """X2: a call counts for the test in which it begins."""
    system = BackendSystem(None, "NOTES", ["builtins:int"])
    calls = ObservedCalls(system, "default")

    @system.dispatchable("x", module="notes")
    def twice(x: int) -> int:
        calls.begin()
        return x

    before = calls.outcomes
    with system.backend_opts(hook=calls):
        twice(1)
    assert [*before.answered.values()] == [1]
    assert not calls.outcomes.answered


def test_a_call_tells_who_has_deferred() -> None:
    """H4: with the reasons, after `next`."""
    seen = []

    def hook(call: Any) -> Any:
        seen.append(call.deferred)
        result = call.next(*call.args, **call.kwargs)
        seen.append(call.deferred)
        return result

    fields = {"function": lambda x: NotImplemented}
    backend = {
        "name": "some",
        "primary_types": ["builtins:float"],
        "functions": {"notes:twice": fields},
    }
    system = BackendSystem(None, "NOTES", ["builtins:int"], backends=[backend])
    twice = system.dispatchable("x", module="notes", qualname="twice")(lambda x: 2 * x)
    with system.backend_opts(hook=hook):
        assert twice(1.0) == 2.0
        assert twice(1) == 2
    assert seen == [{}, {"some": "it returned NotImplemented"}, {}, {}]
