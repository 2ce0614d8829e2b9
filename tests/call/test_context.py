"""The context of a call: what `should_run` and implementations are told."""

from __future__ import annotations

import pickle
from abc import ABC
from typing import Any

import pytest

from spatch_core import BackendDeferredError, BackendSystem, DispatchContext

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


def prepares(context: DispatchContext, x: Any, number: int) -> bool | str:
    assert context.prepared is None
    context.prepared = [number]
    return number > 0 or "the number is too small"


def is_prepared(context: DispatchContext, x: Any, number: int) -> Any:
    return context.prepared


def test_should_run_prepares_the_call_for_the_implementation() -> None:
    """C5: in this call alone; by force, nothing is prepared."""
    table = {"function": is_prepared, "should_run": prepares, "uses_context": True}
    backend = {"name": "b", "primary_types": [f"{HERE}:Foreign"], "functions": {"lib:f": table}}
    system = BackendSystem(None, "LIB", backends=[backend])
    f: Any = system.dispatchable("x", identifier="lib:f")(lambda x, number: "default")
    assert [f(Foreign(), number) for number in (1, 2, -1, 3)] == [[1], [2], "default", [3]]
    assert f.invoke(backend="b")(Foreign(), 4) == [4]
    assert f.invoke(backend="b", force=True)(Foreign(), 5) is None
    assert f.explain(Foreign(), -1).selected == "default"


@pytest.mark.parametrize(
    ("args", "kwargs", "count"),
    [((), {"x": Foreign()}, 1), ((Foreign(), None), {}, 1), ((Foreign(), Foreign(), 3), {}, 2)],
    ids=["by keyword", "None", "others"],
)
def test_dispatch_args_are_those_that_were_given(args: Any, kwargs: Any, count: int) -> None:
    """Neither None nor arguments that do not count."""
    found = context_of(*args, **kwargs).dispatch_args
    assert [type(each) for each in found] == [Foreign] * count


def test_it_can_be_made_for_a_test_and_pickled() -> None:
    """C5: a backend's tests make one of their own; it cannot be changed."""
    context = DispatchContext((int,), (1,), "b", True, "lib:f")
    for name in ("types", "dispatch_args", "name", "prioritized", "function"):
        with pytest.raises(AttributeError):
            setattr(context, name, None)
    copied = pickle.loads(pickle.dumps(context))
    assert (copied.types, copied.dispatch_args) == ((int,), (1,))
    assert (copied.name, copied.prioritized, copied.function) == ("b", True, "lib:f")
    assert repr(copied) == (
        "DispatchContext(name='b', function='lib:f', types=(<class 'int'>,), prioritized=True)"
    )


SEEN: list[Any] = []
ANSWERS: dict[str, Any] = {}


def looks(context: DispatchContext, *args: Any, **kwargs: Any) -> Any:
    SEEN.append(context.dispatch_args)
    return ANSWERS["should_run"]


def answers(context: DispatchContext, *args: Any, **kwargs: Any) -> Any:
    SEEN.append(context.dispatch_args)
    return ANSWERS["function"]


class Shape(ABC):  # noqa: B024  # nothing is registered with it
    pass


def call_twice(system: Any, f: Any, *args: Any) -> None:
    f(*args)
    SEEN.clear()
    f(*args)


WAYS: dict[str, Any] = {
    "call": lambda system, f, *args: f(*args),
    "second call": call_twice,
    "keyword": lambda system, f, x, y, z: f(x, y, z=z),
    "invoke backend": lambda system, f, *args: f.invoke(backend="a")(*args),
    "invoke type": lambda system, f, *args: f.invoke(type=Foreign)(*args),
    "explain": lambda system, f, *args: f.explain(*args),
    "trace": lambda system, f, *args: system.backend_opts(trace=True)(f)(*args),
}


@pytest.mark.parametrize("kinds", [(), ("should_run",), ("should_run", "context")], ids=str)
@pytest.mark.parametrize("pattern", ["Foreign", "~Foreign", "@Shape"])
@pytest.mark.parametrize(
    "reply",
    [{"should_run": True, "function": "b"}, {"should_run": False, "function": NotImplemented}],
    ids=["runs", "defers"],
)
@pytest.mark.parametrize("way", WAYS)
def test_a_finder_runs_once_however_a_function_is_called(
    way: str, reply: dict[str, Any], pattern: str, kinds: tuple[str, ...]
) -> None:
    """F4: it may be slow, or use up an iterator; the context has what it has found."""
    ANSWERS.update(reply)
    SEEN.clear()
    calls: list[Any] = []
    first, second = Foreign(), Foreign()

    def find(*args: Any, z: Any = None) -> Any:
        calls.append(args)
        return iter((args[0], None, second))

    mark = "" if pattern[0].isalpha() else pattern[0]
    fields: dict[str, Any] = {"function": f"{HERE}:{'answers' if 'context' in kinds else 'defers'}"}
    if "context" in kinds:
        fields["uses_context"] = True
    if "should_run" in kinds:
        fields["should_run"] = f"{HERE}:looks"
    backends = [
        {
            "name": name,
            "primary_types": [f"{mark}{HERE}:{pattern.strip('~@')}", f"{HERE}:Foreign"],
            "functions": {"lib:g": fields},
        }
        for name in ("a", "b")
    ]
    system = BackendSystem(None, "LIB", backends=backends)

    def g(x: Any, y: Any = None, z: Any = None) -> str:
        return "default"

    function = system.dispatchable(find, module="lib", qualname="g")(g)
    try:
        WAYS[way](system, function, first, 2, 3)
    except BackendDeferredError:
        assert way == "invoke backend"
    assert len(calls) == (2 if way == "second call" else 1)
    assert set(SEEN) <= {(first, second)}
    if kinds and way != "invoke backend":
        assert SEEN


def defers(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented
