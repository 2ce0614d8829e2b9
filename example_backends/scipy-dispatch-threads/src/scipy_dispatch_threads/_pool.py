"""The threads: how many there are, and how they share the slabs of a call."""

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

# How threads are called of which there are as many as cores already: those of
# `concurrent.futures` (and of Dask's threaded scheduler), and of a Dask worker.
_NAMES_OF_POOL_THREADS = (THREAD_NAME, "ThreadPoolExecutor-", "Dask-")

# Where what they run is defined, for pools that call their threads otherwise.
_MODULES_OF_POOLS = frozenset(
    {"concurrent.futures.thread", "distributed.threadpoolexecutor", "multiprocessing.pool"}
)


def workers() -> int:
    """Return how many threads share a call.

    That is what `set_workers` says, else what the environment variable
    ``SCIPY_DISPATCH_THREADS_WORKERS`` says, else the number of cores that this process may
    use.

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
    """Set how many threads share a call, in the whole process.

    Parameters
    ----------
    number : int or None
        At least 1, the calling thread included. None returns to the environment variable
        and the number of cores.

    Raises
    ------
    TypeError
        If `number` is no whole number.
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
    """Read the environment variable; a malformed value is reported and ignored."""
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
    if hasattr(os, "sched_getaffinity"):  # where the system has it
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def why_serial() -> str | None:
    """Say why the calling thread had better work alone.

    Returns
    -------
    str or None
        The reason; None if it may share its work.
    """
    thread = threading.current_thread()
    # A thread has what it runs for as long as it runs.
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
    """Do a task for every item, in the calling thread and in helpers.

    The calling thread takes items like every helper, so that a call ends even if no helper
    ever has time for it. Inside a helper everything is done by the helper itself. The
    helpers run in a copy of the caller's context, so that ``numpy.errstate`` holds there.

    Parameters
    ----------
    task : callable
        What to do; its result is dropped.
    items : iterable
        What to do it for, in this order.
    share : int
        How many threads to share the items among, the calling one included.

    Raises
    ------
    BaseException
        The first exception of a task. No item is begun after it.
    """
    remaining = deque(items)

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
        # One that has not begun is not needed any more; the others write to the caller's
        # arrays, so that the call must not end before they do.
        begun = [helper for helper in helpers if not helper.cancel()]
        failures = [helper.exception() for helper in begun]
    for failure in failures:
        if failure is not None:
            raise failure


class _Pool:
    """Helper threads, started when first needed, forgotten by a forked child."""

    def __init__(self) -> None:
        self.explicit_workers = workers_of_environment(os.environ)
        self.forget()

    def forget(self) -> None:
        self.lock = threading.Lock()
        self.executor: ThreadPoolExecutor | None = None

    def release(self) -> None:
        """Let the helpers end when they have done what they have begun."""
        with self.lock:
            if self.executor is not None:
                self.executor.shutdown(wait=False)
            self.executor = None

    def submit(self, work: Callable[[], None], number: int) -> list[Future[None]]:
        """Have so many helpers do the work; fewer if the interpreter is shutting down."""
        if number < 1 or threading.current_thread().name.startswith(THREAD_NAME):
            return []
        futures: list[Future[None]] = []
        with self.lock:
            if self.executor is None:
                self.executor = ThreadPoolExecutor(max(workers() - 1, 1), THREAD_NAME)
            try:
                for _ in range(number):
                    # The executor queues the work before it tries to start a thread. If it
                    # cannot, another helper may yet begin it, so that the caller has to know.
                    future: Future[None] = Future()
                    futures.append(future)
                    context = contextvars.copy_context()
                    self.executor.submit(context.run, _fulfil, future, work)
            except RuntimeError:  # no new threads at this time; the caller does it all
                pass
        return futures


def _fulfil(future: Future[None], work: Callable[[], None]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - it is the caller's
        future.set_exception(error)
    else:
        future.set_result(None)


_pool = _Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)
