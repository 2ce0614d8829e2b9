"""What tables hold for adopted functions; the calls are tested in `tests/function`."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem
from spatch_core._call.adopted_entries import adopted_target
from spatch_core._resolution.adopted_function import AdoptedFunction
from spatch_core._state.state import DispatchState


def targets(*functions: Any, types: tuple[type, ...] = (int,), trace: Any = None) -> Any:
    """Return what is called where backends have these functions."""
    backends = [
        {
            "name": f"b{n}",
            "primary_types": ["builtins:int"],
            "functions": {"lib:f": {"function": function}},
        }
        for n, function in enumerate(functions)
    ]
    system = BackendSystem(None, "MYLIB", [], backends)
    caller = system._dispatcher.ensure_loaded()
    state = DispatchState(trace=trace)
    return adopted_target(caller, AdoptedFunction("lib:f", len), state, types)


def test_one_candidate_is_called_as_it_is() -> None:
    """T2: its result, whatever that is, is the result."""
    assert targets(abs) == (abs, True)


def test_none_stays_none() -> None:
    """T2: and may be kept, if no class can be registered with a pattern."""
    assert targets() == (None, True)
    assert targets(abs, types=(str,)) == (None, True)


def test_several_are_called_in_turn() -> None:
    """T2: by a function that says that it tries the whole chain."""
    target, is_kept = targets(lambda x: NotImplemented, abs)
    assert is_kept
    assert target(-3) == 3
    assert target._tries_whole_chain
    assert targets(abs, lambda x: NotImplemented)[0](-3) == 3


def test_calls_are_recorded() -> None:
    """T3: if the state is traced."""
    events: list[Any] = []
    target, _ = targets(abs, trace=events)
    assert target(-3) == 3
    assert [event.backend for event in events] == ["b0"]
