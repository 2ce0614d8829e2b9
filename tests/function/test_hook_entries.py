"""What tables hold where hooks are in force."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem
from spatch_core._dispatch_arguments import TakesFound

system = BackendSystem(None, "HOOKING")


@system.dispatchable("x", identifier="lib:f")
def f(x: Any) -> Any:
    return x


@system.dispatchable(lambda *args: args, identifier="lib:found")
def found(x: Any) -> Any:
    return x


def forward(call: Any) -> Any:
    return call.next(*call.args)


def held(index: int) -> list[Any]:
    """Return what the table of a function in force here holds."""
    return [*system._dispatcher.keeper.get()[index].values()]


def test_entries_of_tables() -> None:
    """H1: a plain function, which needs no C stack; for a finder, what takes what it has found."""
    with system.backend_opts(hook=forward):
        assert f(1) == found(1) == 1
        (entry,), (taking,) = held(1), held(2)
        assert entry._tries_whole_chain
        assert isinstance(taking, TakesFound)


def test_a_call_refers_to_the_decorated_function() -> None:
    """H1: by way of the library, which tables do not keep alive."""
    with system.backend_opts(hook=lambda call: call.callable):
        assert f(1) is f
        assert f.invoke(backend="default")(1) is f
