"""F16, S8, F5: where coroutine functions and generators meet options, `invoke` and finders."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from spatch_core import BackendSystem


@pytest.fixture
def module() -> Iterator[Any]:
    """The module of the implementations."""
    sys.modules["suspendingimpl"] = found = ModuleType("suspendingimpl")
    yield found
    del sys.modules["suspendingimpl"]


def library(**functions: dict[str, dict[str, str]]) -> BackendSystem:
    """Return a library of integers with backends for floats."""
    backends = [
        {
            "name": name,
            "primary_types": ["builtins:float"],
            "functions": {f"lib:{key}": value for key, value in implemented.items()},
        }
        for name, implemented in functions.items()
    ]
    return BackendSystem(None, "LIB", ["builtins:int"], backends)


async def collect(iterator: Any) -> list[Any]:
    return [each async for each in iterator]


def test_a_block_in_a_frozen_generator_lasts_from_step_to_step() -> None:
    """S8: in an asynchronous one, too, whose steps are awaited one by one."""
    options = library(b={}).backend_opts

    @options(disable="b")
    async def asynchronous() -> Any:
        with options(prioritize="b"):
            yield options().prioritized
            await asyncio.sleep(0)
            yield options().prioritized
        yield options().prioritized

    @options(disable="b")
    def plain() -> Any:
        with options(prioritize="b"):
            yield options().prioritized
            yield options().prioritized
        yield options().prioritized

    expected = [("b",), ("b",), ()]
    assert asyncio.run(collect(asynchronous())) == expected
    assert list(plain()) == expected
    assert options().prioritized == ()


def test_what_invoke_returns_is_frozen_by_its_nature() -> None:
    """S8: its body runs under the frozen options."""
    system = library(b={})
    options = system.backend_opts

    @system.dispatchable("x", module="lib")
    async def awaits(x: Any) -> Any:
        return options().disabled

    @system.dispatchable("x", module="lib")
    def steps(x: Any) -> Any:
        yield options().disabled

    @system.dispatchable("x", module="lib")
    async def both(x: Any) -> Any:
        yield options().disabled

    frozen = options(disable="b").freeze
    assert asyncio.run(frozen(awaits.invoke(backend="default"))(1)) == ("b",)
    assert list(frozen(steps.invoke(backend="default"))(1)) == [("b",)]
    assert asyncio.run(collect(frozen(both.invoke(backend="default"))(1))) == [("b",)]


def test_any_asynchronous_iterator_can_be_iterated(module: Any) -> None:
    """F16: from the function, and from `invoke`."""

    class Two:
        count = 0

        def __aiter__(self) -> Any:
            return self

        async def __anext__(self) -> int:
            self.count += 1
            if self.count > 2:
                raise StopAsyncIteration
            return self.count

    module.two = lambda x: Two()
    system = library(b={"two": {"function": "suspendingimpl:two"}})

    @system.dispatchable("x", module="lib", qualname="two")
    async def two(x: Any) -> Any:
        yield "default"

    for function in (two, two.invoke(backend="b"), two.invoke(type=float)):
        assert asyncio.run(collect(function(1.0))) == [1, 2]


@pytest.mark.parametrize("how", ["plain", "traced", "invoked"])
def test_a_finder_runs_once_if_an_awaited_answer_defers(module: Any, how: str) -> None:
    """F5: also where the next backend reads what it has found."""

    async def defers(x: Any) -> Any:
        return NotImplemented

    async def answers(x: Any) -> str:
        return "c"

    module.defers, module.answers = defers, answers
    module.should_run = lambda context, *args: list(context.dispatch_args) == [1.0]
    system = library(
        b={"co": {"function": "suspendingimpl:defers"}},
        c={
            "co": {
                "function": "suspendingimpl:answers",
                "should_run": "suspendingimpl:should_run",
            }
        },
    )
    runs = []

    def finder(x: Any) -> list[Any]:
        runs.append(x)
        return [x]

    @system.dispatchable(finder, module="lib", qualname="co")
    async def co(x: Any) -> str:
        return "default"

    async def call() -> Any:
        if how == "invoked":
            return await co.invoke(type=float)(1.0)
        with system.backend_opts(trace=how == "traced"):
            return await co(1.0)

    assert asyncio.run(call()) == "c"
    assert runs == [1.0]
