"""Turns: locks that an interrupted thread cannot leave held.

A signal handler may raise between any two instructions, so also between acquiring a lock and the
``try`` whose ``finally`` releases it, or in that ``finally``. No order of statements closes this
gap. A turn therefore records the frame that took it, and lasts until it is given back or that
frame is no longer on its thread's stack, whichever comes first. Waiting threads look.

Invariants:

- A turn is taken in one step, `dict.setdefault`, which records the thread and its frame.
- Giving back is only faster than looking: nothing depends on it.
- In the child of a fork, turns of the parent's other threads are over, because these threads
  have no stack there.
- Interpreters without a global lock cannot look at another thread's stack while it runs. There a
  turn of another thread lasts until it is given back.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock, get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_is_gil_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
_SEES_OTHERS = hasattr(sys, "_current_frames") and _is_gil_enabled()

_LOOK = 0.02  # seconds between two looks at the stack of the thread that is waited for


def is_running(thread: int, frame: FrameType | None) -> bool:
    """Whether a frame is on the stack of a thread."""
    if frame is None:
        return False
    found: FrameType | None
    if thread == get_ident():
        found = sys._getframe()
    elif _SEES_OTHERS:
        found = sys._current_frames().get(thread)
    else:
        return True
    while found is not None:
        if found is frame:
            return True
        found = found.f_back
    return False


class Holder:
    """A thread that has a turn, and the frame that took it.

    Attributes
    ----------
    thread : int
        Its identity.
    frame : frame or None
        None once the turn was given back.
    next : dict
        The holder of the next turn, under None.
    """

    __slots__ = ("_over", "frame", "next", "thread")

    def __init__(self, thread: int, frame: FrameType | None) -> None:
        self.thread = thread
        self.frame = frame
        self.next: dict[None, Holder] = {}
        self._over = allocate_lock()
        self._over.acquire()

    @property
    def has_turn(self) -> bool:
        """Whether its turn lasts."""
        return is_running(self.thread, self.frame)

    def give_back(self) -> None:
        """End the turn."""
        self.frame = None
        self._over.release()

    def wait(self) -> None:
        """Wait until the turn is given back, or for a moment."""
        if self._over.acquire(timeout=_LOOK):
            self._over.release()  # for the next one that waits


class Turn:
    """A reentrant lock for ``with``, which an interrupted thread cannot leave held.

    The function that takes it must not go on after an exception has left the block.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = Holder(0, None)

    def holder(self) -> Holder:
        """Return the last one that took the turn, which may have ended."""
        last = self._last
        while last.next:
            last = last.next[None]
        return last

    def take(self, frame: FrameType, gives_up: Callable[[Holder], bool] | None = None) -> bool:
        """Take the turn for as long as `frame` runs, and wait for it if need be.

        Parameters
        ----------
        frame : frame
            A frame of this thread.
        gives_up : callable, optional
            Called with the holder after each look; stops waiting if it returns True.

        Returns
        -------
        bool
            False if it stopped waiting.
        """
        mine = Holder(get_ident(), frame)
        while True:
            last = self.holder()
            if last.has_turn:
                if last.thread == mine.thread:
                    return True
                last.wait()
                if gives_up is not None and gives_up(last):
                    return False
            elif last.next.setdefault(None, mine) is mine:
                self._last = mine
                return True

    def give_back(self, frame: FrameType) -> None:
        """End the turn that `frame` took; does nothing if it has none."""
        holder = self.holder()
        if holder.frame is frame:
            holder.give_back()

    def __enter__(self) -> None:
        self.take(sys._getframe(1))

    def __exit__(self, *error: object) -> None:
        self.give_back(sys._getframe(1))
