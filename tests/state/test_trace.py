"""Trace events, as people read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core.testing import run_python
from spatch_core.types import TraceEvent
from tests.deferring_library import Foreign, Own, f, system

PACKAGE = Path(spatch_core.__file__).parents[1]


def trace(*calls: Any) -> list[TraceEvent]:
    with system.backend_opts(trace=True) as events:
        for args in calls:
            f(*args)
    return list(events)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((Own(),), ["lib:f -> default called"]),
        ((3,), ["lib:f -> default called: no backend takes the call"]),
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
    """S6, C3, C6: the candidates in order, and why they deferred; inner calls after outer ones."""
    assert list(map(str, trace(args))) == expected


def test_events_of_a_call_that_fails() -> None:
    """S6: the event is recorded before the implementation runs, so it shows which one failed."""
    wrong: Any = (Foreign(), "wrong", 3)
    with system.backend_opts(trace=True) as events, pytest.raises(TypeError):
        f(*wrong)
    assert [event.backend for event in events] == []
    with system.backend_opts(trace=True, disable="first") as events, pytest.raises(TypeError):
        f(*wrong)
    assert [event.backend for event in events] == ["second"]


@pytest.mark.parametrize("value", ["1", "0"])
def test_a_variable_traces_a_program_that_one_cannot_edit(tmp_path: Path, value: str) -> None:
    """S8, S6: a line on stderr for each event, unless a block has a trace of its own."""
    (tmp_path / "traced.py").write_text(
        "from spatch_core import BackendSystem\n"
        "backend = {'name': 'shout', 'primary_types': ['builtins:str'],\n"
        "           'functions': {'traced:f': {'function': 'builtins:repr'}}}\n"
        "system = BackendSystem(None, 'TRACEDLIB', ['builtins:int'], [backend])\n"
        "@system.dispatchable('x')\n"
        "def f(x): return x\n"
    )
    done = run_python(
        """
        from traced import f, system
        f("a")
        with system.backend_opts(disable="shout"):
            f("a")
        with system.backend_opts(trace=True):
            f("a")
        f(1)
        """,
        path=[tmp_path, PACKAGE],
        environment={"TRACEDLIB_TRACE": value},
    )
    printed = ["shout called", "default called: no backend takes the call", "default called"]
    assert done.stdout == ""
    assert done.stderr.splitlines() == [f"traced:f -> {each}" for each in printed if value == "1"]
