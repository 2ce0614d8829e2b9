"""What is called where a backend must be asked: the same, call by call, as the whole chain."""

from __future__ import annotations

import copy
import pickle
import traceback
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
    """C10: a trace takes the chain; without one the call takes the short way."""
    system, f = make(kinds, dispatch_args)
    for args, kwargs in CALLS:
        with system.backend_opts(trace=True):
            expected = heard(f, args, kwargs)
        for _ in range(3):
            assert heard(f, args, kwargs) == expected


class TestContext:
    """It is made for every call, so that making it must cost little."""

    def context(self) -> DispatchContext:
        return DispatchContext((Foreign, int), (Foreign(), 1), "b0", False, "lib:f")

    def test_it_can_be_made_by_hand(self) -> None:
        """For the tests of a backend's own ``should_run``."""
        context = self.context()
        assert context.types == (Foreign, int)
        assert context.dispatch_args[1] == 1
        assert (context.name, context.prioritized, context.function) == ("b0", False, "lib:f")
        assert repr(context).startswith("DispatchContext(name='b0', function='lib:f', types=(")

    def test_it_cannot_be_changed(self) -> None:
        """It says what is so."""
        context = self.context()
        for name in ("types", "dispatch_args", "name", "prioritized", "function"):
            with pytest.raises(AttributeError):
                setattr(context, name, None)

    def test_it_can_be_copied_and_pickled(self) -> None:
        """An implementation may send it elsewhere."""
        context = self.context()
        for twin in (copy.copy(context), pickle.loads(pickle.dumps(context))):
            assert type(twin) is DispatchContext
            assert twin.types == context.types
            assert [type(each) for each in twin.dispatch_args] == [Foreign, int]
            assert twin.name == context.name


def keep(context: DispatchContext, *args: Any, **kwargs: Any) -> DispatchContext:
    return context


def test_a_context_lasts() -> None:
    """C6: a context that is kept has the arguments of its own call, without None."""
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


def test_its_source_is_shown() -> None:
    """In tracebacks, as that of every wrapper; and it is no line of anybody's own."""

    def fail(context: DispatchContext, *args: Any) -> bool:
        raise LookupError

    globals()["failing"] = fail
    entry = {"function": f"{HERE}:plain", "should_run": f"{HERE}:failing"}
    described = {"name": "b", "primary_types": [f"{HERE}:Foreign"], "functions": {"lib:g": entry}}
    system = BackendSystem(None, "MYLIB", backends=[described])
    g: Any = system.dispatchable(("x", "y"), module="lib", qualname="g")(lambda x, y: None)
    for _ in range(2):
        with pytest.raises(LookupError) as caught:
            g(Foreign(), 1)
    frame = traceback.extract_tb(caught.tb)[-2]
    assert frame.filename == "<dispatch of 2 arguments, should_run>"
    assert frame.line == "answer = should_run(context, a0, a1)"


def test_a_dispatchable_may_be_an_implementation_that_defers() -> None:
    """What a table holds is told from what it may hold by chance."""
    other = BackendSystem(None, "OTHER")

    @other.dispatchable("x", module="other")
    def step_aside(x: Any) -> Any:
        return NotImplemented

    globals()["stepping_aside"] = step_aside
    entry = {"function": f"{HERE}:stepping_aside"}
    described = {"name": "b", "primary_types": [f"{HERE}:Foreign"], "functions": {"lib:f": entry}}
    system = BackendSystem(None, "MYLIB", backends=[described])
    f: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")
    assert [f(Foreign()) for _ in range(3)] == ["default"] * 3
