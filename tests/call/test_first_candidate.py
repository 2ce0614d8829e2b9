"""What is called where a backend must be asked: the same, call by call, as the whole chain."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from spatch_core import BackendSystem, DispatchContext

HERE = __name__
LOG: list[Any] = []


class Foreign:
    """The backends' type."""


def yes(context: DispatchContext, *args: Any, **kwargs: Any) -> bool:
    LOG.append(("yes", context.name, context.dispatch_args, args, kwargs))
    return True


def no(context: DispatchContext, *args: Any, **kwargs: Any) -> str:
    LOG.append(("no", context.name, context.dispatch_args, args, kwargs))
    return "not now"


def plain(*args: Any, **kwargs: Any) -> Any:
    LOG.append(("plain", args, kwargs))
    return "plain"


def with_context(context: DispatchContext, *args: Any, **kwargs: Any) -> Any:
    LOG.append(("with context", context.name, context.dispatch_args, args, kwargs))
    return "with context"


def leave(*args: Any, **kwargs: Any) -> Any:
    LOG.append("leave")
    return NotImplemented


KINDS: dict[str, dict[str, Any]] = {
    "yes": {"function": f"{HERE}:plain", "should_run": f"{HERE}:yes"},
    "no": {"function": f"{HERE}:plain", "should_run": f"{HERE}:no"},
    "context": {"function": f"{HERE}:with_context", "uses_context": True},
    "both": {
        "function": f"{HERE}:with_context",
        "uses_context": True,
        "should_run": f"{HERE}:yes",
    },
    "leaves": {"function": f"{HERE}:leave", "should_run": f"{HERE}:yes"},
    "plain": {"function": f"{HERE}:plain"},
}

CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((Foreign(),), {}),
    ((Foreign(), 2), {}),
    ((Foreign(), 2, 3, 4), {}),
    ((Foreign(),), {"y": 2}),
    ((Foreign(), 2), {"key": 3}),
    ((), {"x": Foreign(), "y": None}),
    ((1, Foreign(), 3), {"key": 4, "other": 5}),
]


def make(kinds: tuple[str, ...], dispatch_args: Any) -> Any:
    backends = [
        {
            "name": f"b{number}",
            "primary_types": [f"{HERE}:Foreign"],
            "secondary_types": ["builtins:int"],
            "functions": {"lib:f": KINDS[kind]},
        }
        for number, kind in enumerate(kinds)
    ]
    system = BackendSystem(None, "MYLIB", backends=backends)

    def f(x: Any = None, y: Any = None, *rest: Any, key: Any = None, **options: Any) -> Any:
        LOG.append(("default", x, y, rest, key, options))
        return "default"

    return system, system.dispatchable(dispatch_args, module="lib", qualname="f")(f)


def heard(function: Any, args: Any, kwargs: Any) -> list[Any]:
    """Return what happens in a call, and its result."""
    LOG.clear()
    return [function(*args, **kwargs), *LOG]


@pytest.mark.parametrize("dispatch_args", ["x", ("x", "y"), ("y", "key"), None, {"x": 0, "far": 9}])
@pytest.mark.parametrize(
    "kinds",
    [
        ("yes",),
        ("no",),
        ("context",),
        ("both",),
        ("leaves",),
        ("no", "yes"),
        ("no", "no", "plain"),
        ("leaves", "both", "plain"),
        ("leaves", "leaves"),
        ("no", "leaves"),
    ],
    ids="-".join,
)
def test_it_does_what_the_chain_does(kinds: Any, dispatch_args: Any) -> None:
    """C8: a trace takes the chain; without one the call takes the short way."""
    system, f = make(kinds, dispatch_args)
    for args, kwargs in CALLS:
        with system.backend_opts(trace=True):
            expected = heard(f, args, kwargs)
        for _ in range(3):
            assert heard(f, args, kwargs) == expected


def keep(context: DispatchContext, *args: Any, **kwargs: Any) -> DispatchContext:
    return context


def test_a_context_lasts() -> None:
    """C5: a context that is kept has the arguments of its own call, without None."""
    entry = {"function": f"{HERE}:keep", "uses_context": True}
    described = {
        "name": "b",
        "primary_types": [f"{HERE}:Foreign"],
        "functions": {"lib:f": entry},
    }
    system = BackendSystem(None, "MYLIB", backends=[described])

    @system.dispatchable(("x", "y", "key"), module="lib", qualname="f")
    def f(x: Any, y: Any = None, *, key: Any = None) -> Any: ...

    a, b, c = Foreign(), Foreign(), Foreign()
    contexts: list[Any] = [f(a, b), f(c), f(a, None, key=b), f(y=a, x=b)]
    assert [each.dispatch_args for each in contexts] == [(a, b), (c,), (a, b), (b, a)]
    assert all(isinstance(each, DispatchContext) for each in contexts)
    assert pickle.loads(pickle.dumps(contexts[0])).types == (Foreign,)
