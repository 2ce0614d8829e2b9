"""Frozen coroutine functions; generator functions are refused."""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from spatch_core.types import BackendOptions


def asyncio_run(function: Any) -> Any:
    return asyncio.run(function())


@pytest.mark.parametrize("name", ["generator", "async_generator"])
@pytest.mark.parametrize("wrap", [lambda function: function, functools.partial])
def test_generator_functions_are_refused(library: Any, work: Any, name: str, wrap: Any) -> None:
    """S5: their bodies would run outside of the options."""
    function = wrap(getattr(work, name))
    for decorate in (library.backend_opts(prioritize="third"), library.backend_opts().freeze):
        with pytest.raises(TypeError, match=rf"{name}.* generator function.*Decorate the function"):
            decorate(function)


def test_coroutine_functions(library: Any, work: Any) -> None:
    """S5: a coroutine runs under the options from its first step to its last."""

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
    """S5, S3: an exception or a cancellation leaves the state."""

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
    """S5: coroutine functions travel like functions, under the frozen state."""
    assert process.submit(asyncio_run, work.coroutine).result(60) == ["third", "third"]
    with library.backend_opts(prioritize="second"):
        frozen = library.backend_opts(disable="first")(work.plain_coroutine)
    assert asyncio.run(frozen()) == "second"
    assert process.submit(asyncio_run, frozen).result(60) == "second"
