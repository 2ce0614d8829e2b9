"""Frozen coroutine functions and generator functions."""

from __future__ import annotations

import asyncio
import functools
import inspect
import pickle
import sys
import types
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core import BackendSystem

if TYPE_CHECKING:
    from spatch_core._state.options import BackendOptions

PACKAGE = Path(spatch_core.__file__).parents[1]


async def collect(iterator: Any) -> list[Any]:
    return [each async for each in iterator]


def asyncio_run(function: Any) -> Any:
    return asyncio.run(function())


@pytest.mark.parametrize("wrap", [lambda function: function, functools.partial])
def test_generator_functions(library: Any, work: Any, wrap: Any) -> None:
    """S8: The options are in force inside of each step, and never between two."""
    frozen: Any = library.backend_opts(prioritize="third")(wrap(work.generator))
    assert inspect.isgeneratorfunction(frozen)
    x = library.Foreign()
    generator: Any
    for generator in (frozen(), pickle.loads(pickle.dumps(frozen))()):
        assert isinstance(generator, types.GeneratorType)
        for _ in range(2):
            assert next(generator) == "third"
            assert library.f(x) == "first"
        with library.backend_opts(prioritize="second"):
            assert generator.send("sent") == ("sent", "third")
            assert library.f(x) == "second"
            error = KeyError("x")
            assert generator.throw(error) == (error, "third")
        with pytest.raises(StopIteration, match="third"):
            next(generator)
        assert library.f(x) == "first"


@pytest.mark.parametrize("wrap", [lambda function: function, functools.partial])
def test_asynchronous_generator_functions(library: Any, work: Any, wrap: Any) -> None:
    """S8: The same, where each step may await."""
    frozen: Any = library.backend_opts(prioritize="third")(wrap(work.async_generator))
    assert inspect.isasyncgenfunction(frozen)
    x = library.Foreign()

    async def main(generator: Any) -> None:
        assert isinstance(generator, types.AsyncGeneratorType)
        for _ in range(2):
            assert await generator.__anext__() == "third"
            assert library.f(x) == "first"
        with library.backend_opts(prioritize="second"):
            assert await generator.asend("sent") == ("sent", "third")
            assert library.f(x) == "second"
            error = KeyError("x")
            assert await generator.athrow(error) == (error, "third")
        with pytest.raises(StopAsyncIteration):
            await generator.__anext__()
        assert library.f(x) == "first"

    for each in (frozen, pickle.loads(pickle.dumps(frozen))):
        asyncio.run(main(each()))


def test_generators_of_one_function_do_not_meet(library: Any, work: Any) -> None:
    """S8: Steps of several generators in turn, in blocks that end in another order."""
    frozen = {
        name: library.backend_opts(prioritize=name)(work.generator)
        for name in ("first", "second", "third")
    }
    running = {name: function() for name, function in frozen.items()}
    for _ in range(3):
        for name, generator in running.items():
            with library.backend_opts(disable="third"):
                assert name in str(next(generator))


def test_blocks_inside_of_frozen_generators_last_until_they_end(library: Any) -> None:
    """S8: Also across a ``yield``, unseen by the consumer."""
    x = library.Foreign()

    @library.backend_opts(prioritize="third")  # type: ignore[untyped-decorator]  # of any kind
    def generate() -> Any:
        with library.backend_opts(prioritize="second"):
            yield library.f(x)
            yield library.f(x)
        yield library.f(x)

    generator = generate()
    seen = []
    for found in generator:
        seen.append(found)
        assert library.f(x) == "first"
    assert seen == ["second", "second", "third"]


def test_frozen_generators_that_end_early(library: Any) -> None:
    """S8: Closing runs under the options, too; an error leaves nothing in force."""
    x = library.Foreign()
    ended = []

    def work(fails: bool = False) -> Any:
        try:
            yield 1
            if fails:
                raise LookupError
        finally:
            ended.append(library.f(x))

    frozen: Any = library.backend_opts(prioritize="third")(work)
    generator = frozen()
    next(generator)
    generator.close()
    generator = frozen()
    next(generator)
    del generator
    with pytest.raises(LookupError):
        list(frozen(fails=True))
    assert ended == ["third"] * 3
    assert library.f(x) == "first"


def test_frozen_coroutine_that_is_driven_by_hand(library: Any, work: Any) -> None:
    """S8: Nothing is in force between two steps, though no task isolates them."""
    x = library.Foreign()
    coroutine = work.coroutine()
    coroutine.send(None)
    assert library.f(x) == "first"
    with pytest.raises(StopIteration) as caught:
        coroutine.send(None)
    assert caught.value.value == ["third"] * 2
    coroutine = work.coroutine()
    coroutine.send(None)
    coroutine.close()
    assert library.f(x) == "first"


def test_an_inner_trace_sees_the_steps_of_a_frozen_generator(library: Any) -> None:
    """S8, S10: While it waits, the process is observed, and other calls are not recorded."""
    x = library.Foreign()
    options = library.backend_opts(trace=True)

    @options  # type: ignore[untyped-decorator]  # of any kind
    def generate() -> Any:
        yield library.f(x)
        yield library.f(x)

    generator = generate()
    next(generator)
    library.f(x)
    assert len(options.trace) == 1
    next(generator)
    assert len(options.trace) == 2


def test_coroutine_functions(library: Any, work: Any) -> None:
    """S8: a coroutine runs under the options from its first step to its last."""

    async def main() -> Any:
        with library.backend_opts(prioritize="second"):
            one = work.coroutine()
        other = asyncio.create_task(work.coroutine())
        await asyncio.sleep(0)
        between = library.f(library.Foreign())
        return await one, between, await other, library.f(library.Foreign())

    assert asyncio.run(main()) == (["third"] * 2, "first", ["third"] * 2, "first")
    assert inspect.iscoroutinefunction(work.coroutine)
    if sys.version_info < (3, 14):  # deprecated since
        assert asyncio.iscoroutinefunction(work.coroutine)
    assert work.coroutine.__doc__ == "Wait, and call the library."
    assert str(inspect.signature(work.coroutine)) == "(x=1)"


def test_coroutine_that_fails(library: Any, options: type[BackendOptions]) -> None:
    """S8, S3: an exception or a cancellation leaves the state."""

    @options(prioritize="third")
    async def fail(wait: bool) -> None:
        if wait:
            await asyncio.Event().wait()
        raise LookupError(library.f(library.Foreign()))

    async def main() -> Any:
        with pytest.raises(LookupError, match="third"):
            await fail(False)
        task = asyncio.create_task(fail(True))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return library.f(library.Foreign())

    assert asyncio.run(main()) == "first"


def test_coroutines_run_in_another_process(
    library: Any, work: Any, process: ProcessPoolExecutor
) -> None:
    """S9: coroutine functions travel like functions, under the frozen state."""
    assert process.submit(asyncio_run, work.coroutine).result(60) == ["third", "third"]
    with library.backend_opts(prioritize="second"):
        frozen = library.backend_opts(disable="first")(work.plain_coroutine)
    assert asyncio.run(frozen()) == "second"
    assert process.submit(asyncio_run, frozen).result(60) == "second"


def test_a_block_in_a_frozen_generator_lasts_from_step_to_step() -> None:
    """S8: in an asynchronous one, too, whose steps are awaited one by one."""
    options = BackendSystem(
        None, "LIB", ["builtins:int"], [{"name": "b", "primary_types": ["builtins:float"]}]
    ).backend_opts

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
