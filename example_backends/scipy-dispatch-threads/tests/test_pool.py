"""The thread pool: the number of threads, and the handling of errors in them."""

from __future__ import annotations

import asyncio
import contextvars
import multiprocessing
import multiprocessing.pool
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from scipy_dispatch_threads import _pool, set_workers, workers
from spatch_core.testing import run_python

if TYPE_CHECKING:
    from collections.abc import Callable

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")


def threads_of(items: int, share: int) -> set[threading.Thread]:
    """Return the threads that process the items, if each thread takes one."""
    found = []
    barrier = threading.Barrier(min(items, share), timeout=60)

    def task(item: int) -> None:
        found.append(threading.current_thread())
        barrier.wait()

    _pool.run(task, range(items), share)
    assert len(found) == items
    return set(found)


def in_thread(function: Callable[[], object]) -> object:
    """Return the result of a function that runs in a thread of a pool."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(function).result(60)


def test_the_caller_works_like_its_helpers() -> None:
    found = threads_of(3, 3)
    assert len(found) == 3
    assert threading.current_thread() in found


def test_there_are_as_many_threads_as_asked_for_last() -> None:
    set_workers(5)
    assert len(threads_of(5, 5)) == 5
    helpers = threads_of(5, 5) - {threading.current_thread()}
    set_workers(2)
    assert len(threads_of(2, 2)) == 2
    for helper in helpers:
        helper.join(60)
        assert not helper.is_alive()


def test_a_helper_does_everything_by_itself() -> None:
    """Sharing work within a slab would deadlock: threads would wait for each other."""
    inner: list[set[threading.Thread]] = []
    barrier = threading.Barrier(2, timeout=60)

    def task(item: int) -> None:
        barrier.wait()
        if threading.current_thread() is not caller:
            inner.append(threads_of_serial())

    def threads_of_serial() -> set[threading.Thread]:
        found: list[threading.Thread] = []
        _pool.run(lambda _: found.append(threading.current_thread()), range(10), 3)
        return set(found)

    caller = threading.current_thread()
    _pool.run(task, range(2), 2)
    ((thread,),) = inner
    assert thread is not caller


def test_a_call_ends_even_if_no_helper_has_time() -> None:
    """The calling thread processes the items that no helper begins."""
    release, busy = threading.Event(), threading.Barrier(4, timeout=60)

    def occupy(item: int) -> None:
        busy.wait()
        release.wait(60)

    other = threading.Thread(target=_pool.run, args=(occupy, range(3), 3))
    threads_of(3, 3)  # start two helpers
    other.start()
    busy.wait()
    done: list[int] = []
    _pool.run(done.append, range(5), 3)
    release.set()
    other.join(60)
    assert sorted(done) == list(range(5))


@pytest.mark.parametrize("share", [1, 3])
def test_the_first_error_reaches_the_caller_and_nothing_is_begun_after_it(share: int) -> None:
    begun: list[int] = []

    def task(item: int) -> None:
        begun.append(item)
        raise ZeroDivisionError(item)

    with pytest.raises(ZeroDivisionError) as caught:
        _pool.run(task, range(100), share)
    assert len(begun) <= share
    assert caught.value.args[0] in begun


def test_an_error_of_a_helper_reaches_the_caller() -> None:
    caller = threading.current_thread()
    barrier = threading.Barrier(2, timeout=60)

    def task(item: int) -> None:
        barrier.wait()
        if threading.current_thread() is not caller:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _pool.run(task, range(2), 2)


def test_helpers_see_the_caller_s_context() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(5)
    seen: list[int] = []
    barrier = threading.Barrier(3, timeout=60)

    def task(item: int) -> None:
        seen.append(variable.get())
        barrier.wait()
        variable.set(item)

    _pool.run(task, range(3), 3)
    assert seen == [5, 5, 5]


def test_pools_are_recognized() -> None:
    assert _pool.why_serial() is None
    assert "is one of a pool" in str(in_thread(_pool.why_serial))
    with multiprocessing.pool.ThreadPool(1) as pool:
        assert "is one of a pool" in str(pool.apply(_pool.why_serial))
    with ThreadPoolExecutor(1, thread_name_prefix="mine") as executor:
        assert "'mine_0', is one of a pool" in str(executor.submit(_pool.why_serial).result(60))
    assert "is one of a pool" in str(asyncio.run(asyncio.to_thread(_pool.why_serial)))


# Why the tasks of a Dask graph work alone; None for those that may share their work.
OF_TASKS = """
from concurrent.futures import ThreadPoolExecutor

import dask
from scipy_dispatch_threads import _pool

def reasons(**scheduler):
    tasks = [dask.delayed(_pool.why_serial)() for _ in range(4)]
    return dask.compute(*tasks, **scheduler)

if __name__ == "__main__":
    _pool.set_workers(3)
    assert reasons(scheduler="synchronous") == (None,) * 4
    assert all(reasons(scheduler="threads", num_workers=2))
    with ThreadPoolExecutor(2, thread_name_prefix="mine") as pool:
        assert all(reasons(scheduler="threads", pool=pool))
        nested = pool.submit(reasons, scheduler="threads", num_workers=2)
        assert all(nested.result(60))
    assert all(reasons(scheduler="processes", num_workers=2))
"""
OF_A_CLUSTER = """
import distributed
from scipy_dispatch_threads import _pool

if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster, distributed.Client(cluster) as client:
        assert all(client.gather(client.map(lambda _: _pool.why_serial(), range(4))))
"""


@pytest.mark.parametrize(
    ("library", "program"), [("dask", OF_TASKS), ("distributed", OF_A_CLUSTER)]
)
def test_tasks_of_dask_work_alone(library: str, program: str) -> None:
    """Dask's threads and processes are as many as the user wants to work."""
    pytest.importorskip(library)
    run_python(program, environment={_pool.VARIABLE: None})


def test_many_callers_share_the_helpers() -> None:
    run_python(
        """
        import threading
        import numpy as np
        from scipy import ndimage as scipy_ndimage
        from scipy_dispatch_threads import _pool, ndimage, set_workers

        set_workers(3)
        image = np.random.default_rng(0).standard_normal((900, 800))
        expected = scipy_ndimage.gaussian_filter(image, 2)
        right = []

        def work():
            for _ in range(5):
                right.append(np.array_equal(ndimage.gaussian_filter(image, 2), expected))

        callers = [threading.Thread(target=work) for _ in range(6)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(60)
        assert right == [True] * 30
        names = [each.name for each in threading.enumerate()]
        assert len([name for name in names if name.startswith(_pool.THREAD_NAME)]) == 2
        """
    )


@needs_fork
def test_a_forked_child_starts_threads_of_its_own() -> None:
    """The threads of the parent do not exist in the child, so waiting for them would hang."""
    run_python(
        """
        import os, sys, warnings
        import numpy as np
        from scipy import ndimage as scipy_ndimage
        from scipy_dispatch_threads import ndimage, set_workers

        warnings.simplefilter("ignore", DeprecationWarning)
        set_workers(3)
        image = np.random.default_rng(0).standard_normal((900, 800))
        expected = scipy_ndimage.median_filter(image, 3)
        assert np.array_equal(ndimage.median_filter(image, 3), expected)
        child = os.fork()
        if child == 0:
            os._exit(7 if np.array_equal(ndimage.median_filter(image, 3), expected) else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7
        assert np.array_equal(ndimage.median_filter(image, 3), expected)
        """
    )


@needs_fork
def test_a_process_of_multiprocessing_works_alone_unless_told_otherwise() -> None:
    """Usually there are as many processes as cores."""
    run_python(
        """
        import multiprocessing
        from scipy_dispatch_threads import _pool, set_workers

        def reasons(_):
            before = _pool.why_serial()
            set_workers(2)
            return before, _pool.why_serial()

        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(1) as pool:
                ((before, after),) = pool.map(reasons, [0])
            assert "started by multiprocessing" in before, before
            assert after is None, after
        """,
        environment={_pool.VARIABLE: None},
    )


def test_at_the_end_of_the_interpreter_the_caller_does_it_all() -> None:
    done = run_python(
        """
        import atexit
        import numpy as np
        from scipy_dispatch_threads import ndimage, set_workers

        set_workers(3)
        image = np.ones((1300, 1300))
        ndimage.sobel(image)
        atexit.register(lambda: print(ndimage.sobel(image).sum()))
        """
    )
    assert done.stdout == "0.0\n"


def test_the_number_of_workers() -> None:
    set_workers(5)
    assert workers() == 5
    set_workers(1)
    assert _pool.why_serial() == "there is one worker"
    with pytest.raises(ValueError, match="at least 1, not 0"):
        set_workers(0)
    assert workers() == 1


def test_the_environment_sets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_pool.VARIABLE, " 4 ")
    set_workers(None)
    assert workers() == 4
    monkeypatch.delenv(_pool.VARIABLE)
    set_workers(None)
    assert workers() == _pool.available_cores()


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_a_malformed_value_is_reported_and_ignored(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(_pool.VARIABLE, value)
    with pytest.warns(RuntimeWarning, match=f"SCIPY_DISPATCH_THREADS_WORKERS='{value}' is ignored"):
        set_workers(None)
    assert workers() == _pool.available_cores()


def test_a_call_ends_after_all_its_work_although_no_thread_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The executor has already queued the work, and an existing helper may still run it."""
    set_workers(3)
    busy, free, begun = (threading.Event() for _ in range(3))
    done = []

    def wait(item: int) -> None:
        busy.set()
        free.wait(60)

    def task(item: int) -> None:
        if threading.current_thread() is threading.main_thread():
            free.set()
            begun.wait(60)
        else:
            begun.set()
            threading.Event().wait(0.2)  # the caller has no work left by then
        done.append(item)

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    other = threading.Thread(target=_pool.run, args=(wait, range(2), 2))
    other.start()
    assert busy.wait(60)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        _pool.run(task, range(2), 3)
    assert sorted(done) == [0, 1]
    other.join()
