"""Functions that raise an `AssertionError` with TensorLy's own managers of backends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import tensorly as tl
from tensorly.backend.numpy_backend import NumpyBackend


class Other(NumpyBackend, backend_name="other"):  # type: ignore[misc, call-arg]
    float64 = "another float64"


other = Other()


def in_new_thread(function: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def two_tasks_do_not_see_each_others_backend() -> None:
    async def first(entered: asyncio.Event) -> None:
        with tl.backend_context(other, local_threadsafe=True):
            await entered.wait()
            assert tl.get_backend() == "other"

    async def second(entered: asyncio.Event) -> None:
        with tl.backend_context("numpy", local_threadsafe=True):
            entered.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    async def both() -> None:
        entered = asyncio.Event()
        await asyncio.gather(first(entered), second(entered))

    asyncio.run(both())


def leaving_a_local_context_does_not_write_the_default() -> None:
    def work() -> None:
        tl.set_backend(other, local_threadsafe=True)
        # The same without an exception.
        with suppress(ZeroDivisionError), tl.backend_context("numpy", local_threadsafe=True):
            raise ZeroDivisionError

    in_new_thread(work)
    assert in_new_thread(tl.get_backend) == "numpy"


def what_a_job_sets_is_not_set_for_the_next_one() -> None:
    async def jobs() -> str:
        # Both run in the same thread of asyncio's pool.
        await asyncio.to_thread(tl.set_backend, other, local_threadsafe=True)
        return str(await asyncio.to_thread(tl.get_backend))

    assert asyncio.run(jobs()) == "numpy"


def an_exception_in_one_of_two_tasks_leaves_no_backend() -> None:
    async def fail(entered: asyncio.Event) -> None:
        with tl.backend_context(other):
            await entered.wait()
            raise ZeroDivisionError

    async def work(entered: asyncio.Event) -> None:
        with tl.backend_context("numpy"):
            entered.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    async def both() -> None:
        entered = asyncio.Event()
        await asyncio.gather(fail(entered), work(entered), return_exceptions=True)

    asyncio.run(both())
    # The task that entered last leaves last, and restores what the other one had set.
    assert tl.get_backend() == "numpy"


def an_attribute_follows() -> None:
    with tl.backend_context(other):
        # A copy that TensorLy made when it was imported; tl.float32 is none.
        assert tl.float64 is tl.backend.float64


FUNCTIONS = [
    two_tasks_do_not_see_each_others_backend,
    leaving_a_local_context_does_not_write_the_default,
    what_a_job_sets_is_not_set_for_the_next_one,
    an_exception_in_one_of_two_tasks_leaves_no_backend,
    an_attribute_follows,
]


def failing() -> list[str]:
    """Call each function; return the names of those that raise an `AssertionError`."""
    found = []
    for function in FUNCTIONS:
        tl.set_backend("numpy")
        try:
            function()
        except AssertionError:
            found.append(function.__name__)
    return found
