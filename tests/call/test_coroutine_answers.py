"""Coroutine functions, generator functions and asynchronous generator functions dispatch."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import sys
from typing import Any

import pytest

from tests import library
from tests.library import Foreign, answering, declines, describe

FLAGS = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)


# --- default implementations


async def wait(x: Any, y: Any = None) -> Any:
    await asyncio.sleep(0)
    return "default", x


def count(x: Any, y: Any = None) -> Any:
    sent = yield "one"
    try:
        yield ("sent", sent)
    except KeyError as error:
        yield ("caught", error)
    return "default"


async def stream(x: Any, y: Any = None) -> Any:
    sent = yield "one"
    try:
        yield ("sent", sent)
    except KeyError as error:
        yield ("caught", error)


# --- implementations of the backend


async def waits(x: Any, y: Any = None) -> Any:
    await asyncio.sleep(0)
    return "first"


def future(x: Any, y: Any = None) -> Any:
    made = asyncio.get_running_loop().create_future()
    made.set_result("first")
    return made


def counts(x: Any, y: Any = None) -> Any:
    yield "one"
    return "first"


def iterates(x: Any, y: Any = None) -> Any:
    return iter(["one", "two"])


async def streams(x: Any, y: Any = None) -> Any:
    try:
        sent = yield "one"
        yield ("first", sent)
    finally:
        ENDED.append(x)


ENDED: list[Any] = []


def make(default: Any, implementation: Any = None, **entry: Any) -> Any:
    fields = {"functions": {}} if implementation is None else entry
    backend = describe("first", implementation, types="~Foreign", **fields)
    return library.make(backend, default=default, types="builtins:int")


def drive(generator: Any, sent: Any = None) -> list[Any]:
    """Return all that a generator yields, and returns."""
    seen = []
    try:
        seen.append(next(generator))
        while True:
            seen.append(generator.send(sent))
    except StopIteration as end:
        return [*seen, end.value]


KINDS: dict[str, Any] = {
    "coroutine": (wait, waits),
    "generator": (count, counts),
    "asynchronous generator": (stream, streams),
}


@pytest.mark.parametrize("implementation", [True, False], ids=["a backend", "no backend"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrap", [lambda each: each, functools.partial], ids=["", "partial"])
def test_nature_is_kept(kind: str, implementation: bool, wrap: Any) -> None:
    """F1, F12: Before and after the first call, with and without a backend, and while traced."""
    default, backend = KINDS[kind]
    system, function = make(wrap(default), backend if implementation else None)

    def natures(of: Any) -> list[bool]:
        found = [check(of) for check in FLAGS]
        if sys.version_info < (3, 14):  # deprecated since
            found.append(asyncio.iscoroutinefunction(of))
        return found

    expected = natures(default)
    for _ in range(3):
        assert natures(function) == expected
        for x in (1, Foreign()):
            made = function(x)
            if kind == "coroutine":

                async def main(made: Any = made) -> Any:
                    return await made

                asyncio.run(main())
            elif kind == "generator":
                assert drive(made)[0] == "one"
            else:
                asyncio.run(made.__anext__())
        with system.backend_opts(trace=True):
            assert natures(function) == expected


def test_it_dispatches_when_the_body_starts() -> None:
    """F12: Under the options in force there, not where the coroutine was made."""
    system, function = make(wait, waits)
    made = function(Foreign())
    with system.backend_opts(disable="first"):
        assert asyncio.run(made)[0] == "default"
        made = function(Foreign())
    assert asyncio.run(made) == "first"


ASKED: list[dict[str, Any]] = [{}, {"should_run": answering(True)}]


@pytest.mark.parametrize("entry", ASKED, ids=["plain", "asks"])
@pytest.mark.parametrize("implementation", [waits, future, declines])
def test_coroutine_functions(implementation: Any, entry: Any) -> None:
    """F12, C6: an implementation returns any awaitable; ``NotImplemented`` in its place defers."""
    system, function = make(wait, implementation, **entry)
    x = Foreign()

    async def main() -> list[Any]:
        found = [await function(x) for _ in range(2)]
        with system.backend_opts(trace=True) as trace:
            found.append(await function(x))
        names = ["first", "first", "default"] if implementation == declines else ["first"]
        assert [event.backend for event in trace] == names
        if implementation != declines:
            assert await function.invoke(backend="first")(1) == "first"
            assert await function.invoke(type=Foreign)(None) == "first"
        return found

    expected: Any = ("default", x) if implementation == declines else "first"
    assert asyncio.run(main()) == [expected] * 3


def test_generators() -> None:
    """F12: What is sent, thrown and returned passes through."""
    for x, last in ((1, "default"), (Foreign(), "first")):
        _, function = make(count, counts)
        for _ in range(3):
            steps: list[Any] = ["one", ("sent", 7)] if last == "default" else ["one"]
            assert drive(function(x), 7) == [*steps, last]
    _, function = make(count, iterates)
    assert [*function(Foreign())] == ["one", "two"]
    assert drive(function(Foreign())) == ["one", "two", None]
    _, function = make(count, declines)
    for _ in range(2):
        generator = function(Foreign())
        next(generator)
        generator.send(1)
        error = KeyError("x")
        assert generator.throw(error) == ("caught", error)
        generator.close()
        assert [*generator] == []


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("implementation", [declines, streams])
def test_asynchronous_generators(implementation: Any, traced: bool) -> None:
    """F12: they are sent to, thrown into and closed like the implementation itself."""
    system, function = make(stream, implementation)
    x = Foreign()

    async def main() -> None:
        for each in (function, function.invoke(type=Foreign)):
            assert "one" in [step async for step in each(x)][:1]
        made = function(x)
        assert await made.__anext__() == "one"
        assert (await made.asend(7))[1] == 7
        error = ValueError("mine")
        with pytest.raises(ValueError, match="mine") as caught:
            await made.athrow(error)
        assert caught.value is error
        with pytest.raises(StopAsyncIteration):
            await made.__anext__()
        ENDED.clear()
        made = function(x)
        await made.__anext__()
        await made.aclose()
        assert [x] * (implementation == streams) == ENDED

    with system.backend_opts(trace=traced):
        asyncio.run(main())


def test_tasks_and_cancellation() -> None:
    """F12: Options, context variables and cancellation reach the implementation."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    seen: list[Any] = []

    async def default(x: Any) -> Any:
        seen.append(variable.get())
        variable.set("inside")
        try:
            await asyncio.sleep(60 if x else 0)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "default"

    system, function = make(default)

    async def main() -> None:
        assert [*await asyncio.gather(function(0), function(0))] == ["default"] * 2
        for observed in (False, True):
            seen.clear()
            variable.set("set")
            with system.backend_opts(trace=observed):
                task = asyncio.create_task(function(1))
                await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert seen == ["set", "cancelled"]
            assert variable.get() == "set"
            await function(0)
            assert variable.get() == "inside"

    asyncio.run(main())


async def waits_for_nothing(x: Any, y: Any = None) -> Any:
    await asyncio.sleep(0)
    return NotImplemented


@pytest.mark.parametrize("entry", ASKED, ids=["plain", "asks"])
def test_what_is_awaited_is_passed_through(entry: Any) -> None:
    """F12: and not looked at again."""
    system, function = make(wait, waits_for_nothing, **entry)

    async def main() -> list[Any]:
        found = [await function(Foreign()), await function.invoke(backend="first")(1)]
        with system.backend_opts(trace=True, hook=lambda call: call.next(*call.args)) as trace:
            found.append(await function(Foreign()))
        assert [event.backend for event in trace] == ["first"]
        return found

    assert asyncio.run(main()) == [NotImplemented] * 3
