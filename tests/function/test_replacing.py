"""A finder replaces the arguments of a call: it would use up an iterator."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from spatch_core import BackendDeferredError, BackendSystem, ReplacedArguments
from tests.function.conftest import Foreign


def find(arrays: Any, *args: Any, **kwargs: Any) -> Any:
    arrays = list(arrays)
    return ReplacedArguments(arrays, arrays, *args, **kwargs)


def find_iterators(arrays: Any, *args: Any, **kwargs: Any) -> Any:
    """Replace where that is needed."""
    return find(arrays, *args, **kwargs) if isinstance(arrays, Iterator) else arrays


def first(arrays: Any, n: Any = 0) -> Any:
    return "first", len(arrays), n


def deferring(arrays: Any, n: Any = 0) -> Any:
    assert len(arrays) > 0
    return NotImplemented


def with_context(context: Any, arrays: Any, n: Any = 0) -> Any:
    assert context.dispatch_args == tuple(arrays)
    assert context.types == tuple(dict.fromkeys(map(type, arrays)))
    return "first", len(arrays), n


def should_run(context: Any, arrays: Any, n: Any = 0) -> Any:
    assert context.dispatch_args == tuple(arrays)
    return n != "no" or "it says no"


def describe(name: str, function: Any, **entry: Any) -> Any:
    entry = {"function": function, **entry}
    types = [f"{Foreign.__module__}:Foreign"]
    return {"name": name, "primary_types": types, "functions": {"lib:f": entry}}


def default(arrays: Any, n: Any = 0) -> Any:
    return "default", len(arrays), n


def make(*backends: Any, finder: Any = find, function: Any = default) -> Any:
    system = BackendSystem(None, "MYLIB", backends=backends)
    return system, system.dispatchable(finder, identifier="lib:f")(function)


KINDS: dict[str, list[Any]] = {
    "plain": [describe("first", first)],
    "takes a context": [describe("first", with_context, uses_context=True)],
    "is asked": [describe("first", first, should_run=should_run)],
    "after one that defers": [describe("deferring", deferring), describe("first", first)],
    "may change": [
        describe("first", first),
        {**describe("late", first), "primary_types": ["late_module:Late", "@late_module:Abstract"]},
    ],
}


@pytest.mark.parametrize("finder", [find, find_iterators])
@pytest.mark.parametrize("state", [{}, {"trace": True}], ids=["plain", "traced"])
@pytest.mark.parametrize("backends", [*KINDS.values()], ids=[*KINDS])
def test_the_call_goes_on_with_them(backends: Any, state: Any, finder: Any) -> None:
    """F5: whatever answers, in the first call and in later ones."""
    system, f = make(*backends, finder=finder)
    for _ in range(3):
        with system.backend_opts(**state):
            assert f(iter([Foreign(), Foreign()])) == ("first", 2, 0)
            assert f(iter([Foreign()]), n=1) == ("first", 1, 1)
            assert f(iter([3, 4])) == ("default", 2, 0)
            assert f([Foreign(), 3], 2) == ("first", 2, 2)
            assert f(iter([]), n=3) == ("default", 0, 3)


def test_questions_see_them_too() -> None:
    """F5, F8, F9: they use up an iterator as a call does."""
    _, f = make(describe("first", first, should_run=should_run))
    assert f.explain(iter([Foreign()])).selected == "first"
    assert f.explain(iter([Foreign()]), n="no").selected == "default"
    assert f.invoke(backend="first")(iter([Foreign()])) == ("first", 1, 0)
    assert f.invoke(backend="first")(iter([3, 3])) == ("first", 2, 0)
    assert f.invoke(type=Foreign)(iter([3])) == ("first", 1, 0)
    with pytest.raises(BackendDeferredError, match="it says no"):
        f.invoke(backend="first")(iter([Foreign()]), n="no")


def test_without_backends() -> None:
    """F5: the default gets them."""
    _, f = make()
    assert f(iter([1, 2])) == f(iter([1, 2])) == ("default", 2, 0)


@pytest.mark.parametrize("backends", [[], KINDS["plain"], KINDS["after one that defers"]])
def test_functions_that_suspend(backends: Any) -> None:
    """F16: coroutine functions and generator functions."""
    expected = "first" if backends else "default"

    async def coroutine(arrays: Any, n: Any = 0) -> Any:
        return default(arrays, n)

    def steps(arrays: Any, n: Any = 0) -> Any:
        yield default(arrays, n)

    async def asynchronous(arrays: Any, n: Any = 0) -> Any:
        return first(arrays, n)

    def generator(arrays: Any, n: Any = 0) -> Any:
        yield first(arrays, n)

    def using(function: Any) -> Any:
        named = {"first": function, "deferring": deferring}
        return [describe(each["name"], named[each["name"]]) for each in backends]

    _, f = make(*using(asynchronous), function=coroutine)
    for _ in range(2):
        assert asyncio.run(f(iter([Foreign()]), 1)) == (expected, 1, 1)
    _, f = make(*using(generator), function=steps)
    for _ in range(2):
        assert list(f(iter([Foreign()]), 1)) == [(expected, 1, 1)]


def test_an_answer_of_the_wrong_kind_is_named() -> None:
    """F16: as without replaced arguments."""

    async def coroutine(arrays: Any, n: Any = 0) -> Any: ...

    _, f = make(describe("first", first), function=coroutine)
    for _ in range(2):
        with pytest.raises(TypeError, match="backend 'first' returned"):
            asyncio.run(f(iter([Foreign()])))


def test_the_arguments_of_a_call_are_not_kept() -> None:
    """E6: the table keeps types alone."""
    _, f = make(*KINDS["after one that defers"])
    x = Foreign()
    reference = weakref.ref(x)
    f(iter([x]))
    del x
    gc.collect()
    assert reference() is None
