"""The threads: how many there are, and how they share the parts of a call."""

from __future__ import annotations

import contextvars
import multiprocessing
import operator
import os
import threading
import warnings
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    T = TypeVar("T")

VARIABLE = "SCIPY_DISPATCH_THREADS_WORKERS"
"""The environment variable that holds the number of workers."""
THREAD_NAME = "scipy-dispatch-threads"

# Threads of these names, or with a target of these modules, belong to a pool that has a thread for
# each core already: this one, those of `concurrent.futures` and `multiprocessing`, and Dask's.
_NAMES_OF_POOLS = (THREAD_NAME, "ThreadPoolExecutor-", "Dask-")
_MODULES_OF_POOLS = frozenset(
    {"concurrent.futures.thread", "distributed.threadpoolexecutor", "multiprocessing.pool"}
)


def workers() -> int:
    """Return the number of threads that share a call.

    This is the number set by `set_workers`, else that of the environment variable
    ``SCIPY_DISPATCH_THREADS_WORKERS``, else the number of cores that this process may use.

    Returns
    -------
    int
        At least 1, the calling thread included.

    Examples
    --------
    >>> workers() >= 1
    True
    """
    return _explicit_workers or available_cores()


def set_workers(number: int | None) -> None:
    """Set the number of threads that share a call, for the whole process.

    Parameters
    ----------
    number : int or None
        At least 1, the calling thread included. None returns to the environment variable
        and the number of cores.

    Raises
    ------
    TypeError
        If `number` is not an integer.
    ValueError
        If `number` is less than 1.

    Examples
    --------
    >>> set_workers(2)
    >>> workers()
    2
    >>> set_workers(None)
    """
    global _explicit_workers  # noqa: PLW0603 - one number for the process
    number = None if number is None else operator.index(number)
    if number is not None and number < 1:
        raise ValueError(f"the number of workers must be at least 1, not {number!r}")
    _explicit_workers = _workers_of_environment() if number is None else number
    _helpers.cache_clear()  # threads without work end when their executor is forgotten


def _workers_of_environment() -> int | None:
    """Read the environment variable; warn about a malformed value and ignore it."""
    value = os.environ.get(VARIABLE, "").strip()
    if not value or (value.isdecimal() and int(value) > 0):
        return int(value) if value else None
    warnings.warn(
        f"{VARIABLE}={value!r} is ignored: it must be a whole number of at least 1",
        RuntimeWarning,
        stacklevel=3,
    )
    return None


def available_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "process_cpu_count"):  # since Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def why_serial() -> str | None:
    """Return why the calling thread should work alone; None if it may share its work."""
    thread = threading.current_thread()
    # A running thread keeps its target function in `_target`.
    module = getattr(getattr(thread, "_target", None), "__module__", None)
    if thread.name.startswith(_NAMES_OF_POOLS) or module in _MODULES_OF_POOLS:
        return f"the calling thread, {thread.name!r}, is one of a pool that is parallel already"
    if _explicit_workers is None and multiprocessing.parent_process() is not None:
        return (
            "this process was started by multiprocessing, beside others that are parallel "
            f"already; set {VARIABLE} if it is not"
        )
    return "there is one worker" if workers() == 1 else None


def run(task: Callable[[T], object], items: Iterable[T], share: int) -> None:
    """Run a task for every item, in the calling thread and in `share - 1` helper threads.

    The calling thread takes items as the helpers do, so that the call ends even if all helpers
    stay busy elsewhere. The helpers run in a copy of the caller's context, so that
    ``numpy.errstate`` applies there. The first exception of a task is raised, and no item is
    started after it.
    """
    remaining = deque(items)

    # Threads share this queue without a lock: `popleft` and `clear` are atomic.
    def work() -> None:
        while True:
            try:
                item = remaining.popleft()
            except IndexError:
                return
            try:
                task(item)
            except BaseException:
                remaining.clear()
                raise

    futures = _submit(work, min(share, len(remaining)) - 1)
    try:
        work()
    finally:
        remaining.clear()
        # Cancel what has not begun. Wait for the rest: it writes to the caller's arrays, so the
        # call must not end before it does.
        begun = [future for future in futures if not future.cancel()]
        failures = [future.exception() for future in begun]
    for failure in failures:
        if failure is not None:
            raise failure


@lru_cache(maxsize=1)
def _helpers(process: int, number: int) -> ThreadPoolExecutor:
    """Return the helpers of a process. Threads do not survive a fork, so a child has others."""
    return ThreadPoolExecutor(number, THREAD_NAME)


def _submit(work: Callable[[], None], number: int) -> list[Future[None]]:
    """Give the work to `number` helpers; to fewer if no more threads can be started."""
    futures: list[Future[None]] = []
    if number < 1 or threading.current_thread().name.startswith(THREAD_NAME):
        return futures
    helpers = _helpers(os.getpid(), max(workers() - 1, 1))
    try:
        for _ in range(number):
            # The executor queues the work before it tries to start a thread. If that fails, an
            # existing helper may still run the work, so the caller needs this future as well.
            future: Future[None] = Future()
            futures.append(future)
            helpers.submit(contextvars.copy_context().run, _fulfil, future, work)
    except RuntimeError:  # no thread can be started; the caller does the work
        pass
    return futures


def _fulfil(future: Future[None], work: Callable[[], None]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - passed on to the caller
        future.set_exception(error)
    else:
        future.set_result(None)


_explicit_workers = _workers_of_environment()
