"""What a table holds, from an implementation to a guard."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._call.candidate_chain import Chain
from spatch_core._call.table_entries import tries_whole_chain

HERE = __name__


class Foreign:
    """The backends' type."""


def f(x: Any) -> str:
    return "default"


def implementation(*args: Any) -> str:
    return "backend"


def defers(x: Any) -> Any:
    return NotImplemented


def decides(context: Any, x: Any) -> bool:
    return True


def make(**fields: Any) -> Any:
    fields.setdefault("function", f"{HERE}:implementation")
    backend = {
        "name": "b",
        "primary_types": [f"{HERE}:Foreign"],
        "functions": {"lib:f": fields},
    }
    system = BackendSystem(None, "LIB", backends=[backend])
    return system, system.dispatchable("x", module="lib")(f)


def held(system: BackendSystem) -> Any:
    (target,) = system._dispatcher.keeper.get()[1].values()
    return target


def chain_of(target: Any) -> Any:
    """Return what a function that tries a whole chain runs, if it is no generated one."""
    run = inspect.getclosurevars(target).nonlocals.get("run")
    return getattr(run, "__self__", None)


def test_a_plain_implementation_is_held_itself() -> None:
    """So that a call costs no more than looking it up."""
    system, function = make()
    function(Foreign())
    assert held(system) is implementation
    assert not tries_whole_chain(held(system))


@pytest.mark.parametrize(
    "fields", [{"should_run": f"{HERE}:decides"}, {"uses_context": True}], ids=str
)
def test_a_backend_that_is_asked_is_held_with_the_question(fields: Any) -> None:
    system, function = make(**fields)
    assert function(Foreign()) == "backend"
    assert tries_whole_chain(held(system))
    assert chain_of(held(system)) is None


def test_a_traced_state_holds_the_chain() -> None:
    system, function = make()
    options = system.backend_opts(trace=True)
    with options:
        function(Foreign())
        assert isinstance(chain_of(held(system)), Chain)


def test_the_rest_of_a_chain_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """After ``NotImplemented`` the same backends go on, call after call."""
    system, function = make(function=f"{HERE}:defers")
    assert function(Foreign()) == "default"
    caller = system._dispatcher.ensure_loaded()
    found: list[Any] = []
    monkeypatch.setattr(caller.resolver, "candidates", lambda *args: found.append(args))
    assert [function(Foreign()) for _ in range(3)] == ["default"] * 3
    assert not found
    monkeypatch.undo()
    system._dispatcher.keeper.forget_tables()
    assert function(Foreign()) == "default"
