"""Trace events, as people read them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from spatch_core.types import Outcome, TraceEvent
from tests.deferring_library import Foreign, Own, f, system


def trace(*calls: Any) -> list[TraceEvent]:
    with system.backend_opts(trace=True) as events:
        for args in calls:
            f(*args)
    return events


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((Own(),), ["lib:f -> default called"]),
        ((3,), ["lib:f -> default called: nothing else answers"]),
        ((Foreign(),), ["lib:f -> first called"]),
        (
            (Foreign(), 1),
            [
                "lib:f -> first called",
                "lib:f -> first deferred: it returned NotImplemented",
                "lib:f -> second called",
            ],
        ),
        (
            (Foreign(), 2),
            [
                "lib:f -> first deferred: n is too large",
                "lib:f -> second called",
                "lib:f -> default called",
            ],
        ),
    ],
    ids=["own", "fallback", "answers", "defers afterwards", "defers before and calls again"],
)
def test_events_tell_what_happened(args: Any, expected: list[str]) -> None:
    """S9, C3, C6: the candidates in order, and why they deferred; inner calls after outer ones."""
    assert list(map(str, trace(args))) == expected


def test_event_has_its_data() -> None:
    """A program reads the same from attributes."""
    (event,) = trace((Foreign(),))
    assert event == TraceEvent("lib:f", "first", Outcome.CALLED, "", (Foreign,))
    assert event.outcome == "called"
    assert f"{event.outcome}" == str(event.outcome) == "called"
    with pytest.raises(FrozenInstanceError):
        event.backend = "second"  # type: ignore[misc]


def test_events_of_a_call_that_fails() -> None:
    """S9: the event is recorded before the implementation runs, so it shows which one failed."""
    wrong: Any = (Foreign(), "wrong", 3)
    with system.backend_opts(trace=True) as events, pytest.raises(TypeError):
        f(*wrong)
    assert [event.backend for event in events] == []
    with system.backend_opts(trace=True, disable="first") as events, pytest.raises(TypeError):
        f(*wrong)
    assert [event.backend for event in events] == ["second"]


def test_invocations_are_traced() -> None:
    """`invoke` is a call like any other."""
    with system.backend_opts(trace=True) as events:
        f.invoke(backend="second")(3)
        f.invoke(type=Foreign)(3)
    assert list(map(str, events)) == ["lib:f -> second called", "lib:f -> first called"]
    assert events[1].types == (int, Foreign)
