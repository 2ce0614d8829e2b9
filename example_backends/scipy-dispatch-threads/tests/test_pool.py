"""The thread pool: the number of threads, and the handling of errors in them."""

from __future__ import annotations

import contextvars
import os
import threading

import pytest

from scipy_dispatch_threads import _pool, set_workers, workers
from spatch_core.testing import run_python

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
