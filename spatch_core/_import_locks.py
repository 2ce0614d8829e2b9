"""Abandoned locks of the import system: an interrupt has left them held.

A signal handler may raise after the import system has acquired a lock and before it enters the
``try`` that releases it. In a callback of a weak reference, the exception is even ignored: the
thread continues, without a trace of the interrupt, and keeps the lock.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any


def is_importing() -> bool:
    """Whether this thread is in the middle of importing a module."""
    return outermost_import() is not None


def outermost_import() -> FrameType | None:
    """Return the frame of the import that this thread is in the middle of, or None.

    The import system has no function that tells this, but its frames are on the stack.
    """
    found = None
    frame = sys._getframe()
    while frame.f_back is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            found = frame
        frame = frame.f_back
    return found


def release_abandoned_locks() -> None:
    """Release the locks of the import system that this thread holds without importing."""
    # A thread that is not importing has no use for a lock, so one that it holds was left behind.
    if is_importing():
        return
    import _frozen_importlib
    from _imp import release_lock
    from _thread import get_ident

    thread = get_ident()
    references: dict[str, Any] = getattr(_frozen_importlib, "_module_locks", {})
    for reference in [*references.values()]:
        lock = reference()
        # Locks of single modules, as `_frozen_importlib._ModuleLock` has them.
        while getattr(lock, "owner", None) == thread:
            if not lock.count:
                # An interrupted release has lowered the count, but not woken the waiting threads.
                lock.acquire()
            lock.release()
    try:
        while True:
            release_lock()
    except RuntimeError:  # this thread does not hold the global import lock (any more)
        pass
