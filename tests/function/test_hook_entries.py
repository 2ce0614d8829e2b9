"""What tables hold where hooks are in force."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem

system = BackendSystem(None, "HOOKING")


@system.dispatchable("x", identifier="lib:f")
def f(x: Any) -> Any:
    return x


def test_a_call_refers_to_the_decorated_function() -> None:
    """H1: by way of the library, which tables do not keep alive."""
    with system.backend_opts(hook=lambda call: call.callable):
        assert f(1) is f
        assert f.invoke(backend="default")(1) is f
