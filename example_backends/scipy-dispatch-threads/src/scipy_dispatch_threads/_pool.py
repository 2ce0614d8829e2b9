"""The thread pool: its size, and how threads share the slabs of a call."""

from __future__ import annotations

import contextvars
import multiprocessing
import operator
import os
import threading
import warnings
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    T = TypeVar("T")

VARIABLE = "SCIPY_DISPATCH_THREADS_WORKERS"
"""The environment variable that holds the number of workers."""

THREAD_NAME = "scipy-dispatch-threads"

# Name prefixes of threads whose pool already has a thread for each core: this pool's, those of
# `concurrent.futures` (also used by Dask's threaded scheduler), and Dask workers.
_NAMES_OF_POOL_THREADS = (THREAD_NAME, "ThreadPoolExecutor-", "Dask-")

# Modules that define the target functions of pool threads, for pools that name threads
# otherwise.
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
    return _pool.explicit_workers or available_cores()


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
    number = None if number is None else operator.index(number)
    if number is not None and number < 1:
        raise ValueError(f"the number of workers must be at least 1, not {number!r}")
    _pool.explicit_workers = workers_of_environment(os.environ) if number is None else number
    _pool.release()


def workers_of_environment(environment: os._Environ[str] | dict[str, str]) -> int | None:
    """Read the environment variable; warn about a malformed value and ignore it."""
    value = environment.get(VARIABLE, "").strip()
    if not value:
        return None
    if value.isdecimal() and int(value) > 0:
        return int(value)
    warnings.warn(
        f"{VARIABLE}={value!r} is ignored: it must be a whole number of at least 1",
        RuntimeWarning,
        stacklevel=2,
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
    target = getattr(thread, "_target", None)
    if (
        thread.name.startswith(_NAMES_OF_POOL_THREADS)
        or getattr(target, "__module__", None) in _MODULES_OF_POOLS
    ):
        return f"the calling thread, {thread.name!r}, is one of a pool that is parallel already"
    if _pool.explicit_workers is None and multiprocessing.parent_process() is not None:
        return (
            "this process was started by multiprocessing, beside others that are parallel "
            f"already; set {VARIABLE} if it is not"
        )
    if workers() == 1:
        return "there is one worker"
    return None


def run(task: Callable[[T], object], items: Iterable[T], share: int) -> None:
    """Run a task for every item, in the calling thread and in helper threads.

    The calling thread takes items as the helpers do, so that the call ends even if all helpers
    stay busy elsewhere. A call from within a helper runs in that helper alone. The helpers run
    in a copy of the caller's context, so that ``numpy.errstate`` applies there. The first exception
    of a task is raised, and no item is started after it.
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

    helpers = _pool.submit(work, min(share, len(remaining)) - 1)
    try:
        work()
    finally:
        remaining.clear()
        # Cancel helpers that have not begun. Wait for the others: they write to the caller's
        # arrays, so that the call must not end before they do.
        begun = [helper for helper in helpers if not helper.cancel()]
        failures = [helper.exception() for helper in begun]
    for failure in failures:
        if failure is not None:
            raise failure


class _Pool:
    """Helper threads, started on first use and forgotten in a forked child process.

    The lock guards `executor`, which another thread may release or create at any time.
    """

    def __init__(self) -> None:
        self.explicit_workers = workers_of_environment(os.environ)
        self.forget()

    def forget(self) -> None:
        self.lock = threading.Lock()
        self.executor: ThreadPoolExecutor | None = None

    def release(self) -> None:
        """Let the helpers finish their current work and then end."""
        with self.lock:
            if self.executor is not None:
                self.executor.shutdown(wait=False)
            self.executor = None

    def submit(self, work: Callable[[], None], number: int) -> list[Future[None]]:
        """Submit the work to `number` helpers; to fewer if no more threads can be started."""
        if number < 1 or threading.current_thread().name.startswith(THREAD_NAME):
            return []
        futures: list[Future[None]] = []
        with self.lock:
            if self.executor is None:
                self.executor = ThreadPoolExecutor(max(workers() - 1, 1), THREAD_NAME)
            try:
                for _ in range(number):
                    # The executor queues the work before it tries to start a thread. If starting
                    # fails, an existing helper may still run the work. So the caller needs every
                    # future.
                    future: Future[None] = Future()
                    futures.append(future)
                    context = contextvars.copy_context()
                    self.executor.submit(context.run, _fulfil, future, work)
            except RuntimeError:  # no new thread can be started; the caller does the work
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


_pool = _Pool()
# Threads do not survive a fork, and the lock may have been held when it happened.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)
