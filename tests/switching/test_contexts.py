"""Contexts of the whole process: rule W7."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core import UnknownBackendError
from spatch_core.testing import isolated

if TYPE_CHECKING:
    from tests.switching.conftest import Library


@pytest.fixture(autouse=True)
def _in_a_context_of_its_own(library: Library) -> Iterator[None]:
    """Nothing that a test sets is left in the context of the tests."""
    with isolated(library.system):
        yield


def in_thread(work: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def test_threads_follow_while_it_lasts(library: Library) -> None:
    """W7: those that have set nothing; also after an exception."""
    switch = library.switch
    with switch.backend_context("jax", globally=True) as context:
        assert library.now() == in_thread(library.now) == "jax"
        assert "ProcessContext" in repr(context)
        with switch.backend_context("torch"):
            assert (library.now(), in_thread(library.now)) == ("torch", "jax")
        with switch.backend_context("torch", globally=True):
            assert library.now() == in_thread(library.now) == "torch"
        assert library.now() == in_thread(library.now) == "jax"
    assert library.now() == in_thread(library.now) == "numpy"
    with pytest.raises(ZeroDivisionError), switch.backend_context("jax", globally=True):
        raise ZeroDivisionError
    assert library.now() == in_thread(library.now) == "numpy"


def test_an_own_setting_is_not_touched(library: Library) -> None:
    """W5, W7: neither in the thread that enters the block, nor in others."""
    switch = library.switch
    switch.set_backend("torch")
    with switch.backend_context("jax", globally=True):
        assert library.now() == "jax"
        assert [*switch] == ["jax", "torch"]

        def work() -> tuple[str, str]:
            before = library.now()
            switch.set_backend("cupy")
            return before, library.now()

        assert in_thread(work) == ("jax", "cupy")
        switch.set_backend("cupy", globally=True)
        assert (library.now(), in_thread(library.now)) == ("cupy", "jax")
    assert (library.now(), in_thread(library.now)) == ("torch", "cupy")


def test_tasks_that_overlap(library: Library) -> None:
    """W7: each has its own; when all have ended nothing is left."""
    switch = library.switch

    async def work(name: str, until: asyncio.Event, then: asyncio.Event) -> None:
        with switch.backend_context(name, globally=True):
            then.set()
            await until.wait()
            assert library.now() == name
            if name == "torch":
                raise ZeroDivisionError

    async def main() -> None:
        first, second, last = asyncio.Event(), asyncio.Event(), asyncio.Event()
        one = asyncio.create_task(work("jax", second, first))
        await first.wait()
        two = asyncio.create_task(work("torch", last, second))
        await one  # entered first, left first
        assert library.now() == in_thread(library.now) == "torch"
        last.set()
        with pytest.raises(ZeroDivisionError):
            await two
        assert library.now() == in_thread(library.now) == "numpy"

    asyncio.run(main())


def test_one_object_in_many_threads(library: Library) -> None:
    """W7: it may be entered several times, also at once; and decorate a function."""
    context = library.switch.backend_context("jax", globally=True)
    wait = threading.Barrier(4)

    def work() -> None:
        with context, context:
            wait.wait()
            assert library.now() == "jax"
        assert library.now() in ("jax", "numpy")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert library.now() == "numpy"
    assert context(library.now)() == "jax"
    assert library.now() == "numpy"
    with pytest.raises(RuntimeError, match="was not entered in this context"):
        context.__exit__()


class Interrupt(BaseException):
    """What a signal handler may raise."""


def interrupted(work: Any, place: int) -> bool:
    """Run `work` with an interrupt before some line of what holds in the process; say if it was."""
    left = place

    def trace(frame: Any, event: str, argument: object) -> Any:
        nonlocal left
        code = frame.f_code
        if Path(code.co_filename).name not in ("contexts.py", "process_blocks.py"):
            return None
        if event == "line":
            left -= 1
            if left < 0:
                sys.settrace(None)
                raise Interrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_interrupts(library: Library) -> None:
    """W7, E7: wherever one comes, the process is as it was once the block's object is gone."""
    switch = library.switch

    def work() -> None:
        with switch.backend_context("jax", globally=True):
            assert in_thread(library.now) == "jax"

    work()
    place = 0
    while interrupted(work, place):
        assert in_thread(library.now) == "numpy", place
        switch.unset_backend()
        place += 1
    assert place > 10


def test_an_unknown_name(library: Library) -> None:
    """W7: nothing has changed."""
    with pytest.raises(UnknownBackendError, match="did you mean 'jax'"):
        library.switch.backend_context("jx", globally=True)
    assert in_thread(library.now) == "numpy"


def test_discovering_again_and_resetting(library: Library) -> None:
    """W7, S11, F11: `reload` and `reset_globally` change what is below the block."""
    switch, options = library.switch, library.options
    switch.set_backend("torch", globally=True)
    with switch.backend_context("jax", globally=True):
        options.reload()
        assert library.now() == in_thread(library.now) == "jax"
        options.reset_globally()
        assert in_thread(library.now) == "jax"
    assert library.now() == in_thread(library.now) == "numpy"
