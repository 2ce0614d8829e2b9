"""The context of a call: what `should_run` and implementations are told."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from spatch_core import BackendSystem, DispatchContext

HERE = __name__
CONTEXTS: list[DispatchContext] = []


class Foreign:
    """The backend's type."""


def f(x: Any, y: Any = None, *rest: Any) -> str:
    return "default"


def implementation(context: DispatchContext, *args: Any, **kwargs: Any) -> str:
    CONTEXTS.append(context)
    return "backend"


def context_of(*args: Any, dispatch_args: Any = ("x", "y"), **kwargs: Any) -> DispatchContext:
    backend = {
        "name": "b",
        "primary_types": [f"{HERE}:Foreign"],
        "functions": {"lib:f": {"function": f"{HERE}:implementation", "uses_context": True}},
    }
    system = BackendSystem(None, "LIB", backends=[backend])
    assert system.dispatchable(dispatch_args, module="lib")(f)(*args, **kwargs) == "backend"
    return CONTEXTS.pop()


def test_it_tells_the_function_the_backend_and_the_types() -> None:
    context = context_of(Foreign(), 2.0)
    assert (context.name, context.function, context.prioritized) == ("b", "lib:f", False)
    assert context.types == (Foreign, float)


@pytest.mark.parametrize(
    ("args", "kwargs", "count"),
    [((), {"x": Foreign()}, 1), ((Foreign(), None), {}, 1), ((Foreign(), Foreign(), 3), {}, 2)],
    ids=["by keyword", "None", "others"],
)
def test_dispatch_args_are_those_that_were_given(args: Any, kwargs: Any, count: int) -> None:
    """Neither None nor arguments that do not count."""
    found = context_of(*args, **kwargs).dispatch_args
    assert [type(each) for each in found] == [Foreign] * count


def test_a_callable_finds_dispatch_args_once_for_a_context() -> None:
    """Once for the call, and once when the backend asks for them."""
    calls: list[Any] = []

    def find(*args: Any) -> Any:
        calls.append(args)
        return args[:1]

    context = context_of(Foreign(), dispatch_args=find)
    assert len({id(context.dispatch_args) for _ in range(3)}) == 1
    assert len(calls) == 2


def test_it_can_be_made_for_a_test_and_pickled() -> None:
    """A backend's tests make one of their own."""
    context = DispatchContext((int,), (1,), "b", True, "lib:f")
    copied = pickle.loads(pickle.dumps(context))
    assert (copied.types, copied.dispatch_args) == ((int,), (1,))
    assert (copied.name, copied.prioritized, copied.function) == ("b", True, "lib:f")
    assert repr(copied) == (
        "DispatchContext(name='b', function='lib:f', types=(<class 'int'>,), prioritized=True)"
    )


def test_backends_share_what_a_callable_has_found() -> None:
    """The second backend that is asked reads what the first one has read."""
    calls: list[Any] = []
    seen: list[Any] = []

    def find(x: Any) -> Any:
        calls.append(x)
        return (x,)

    def reads(context: DispatchContext, x: Any) -> bool:
        seen.append(context.dispatch_args)
        return False

    globals()["reads"] = reads
    reads.__qualname__ = "reads"
    backends = [
        {
            "name": name,
            "primary_types": [f"{HERE}:Foreign"],
            "functions": {
                "lib:f": {"function": f"{HERE}:implementation", "should_run": f"{HERE}:reads"}
            },
        }
        for name in ("a", "b", "c")
    ]
    system = BackendSystem(None, "LIB", backends=backends)
    value = Foreign()
    with system.backend_opts(trace=True):
        assert system.dispatchable(find, module="lib")(f)(value) == "default"
    assert seen == [(value,)] * 3
    assert len(calls) == 2
    del globals()["reads"]
