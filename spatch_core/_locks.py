"""Locks that an interrupted thread cannot leave held, called turns.

A signal handler may raise between any two instructions, also between acquiring a lock and the
``try`` whose ``finally`` releases it, or within that ``finally``. No order of statements closes
this gap. A turn is therefore held by a generator while it runs: at whatever instruction an
exception leaves the generator, it no longer runs. Waiting threads poll ``gi_running``.

Invariants:

- A turn is taken in one atomic step, `dict.setdefault`, by code that runs in the generator.
- `Holder.end` only wakes the waiting threads early: they poll anyway.
- In the child of a fork, turns that were taken in the parent are over, because the child has none
  of the parent's other threads.

Reading the stack of the other thread would give the same answer, but in CPython 3.11 a thread that
reads the frames of a running thread may get freed memory.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock, get_ident
from os import getpid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType, GeneratorType
    from typing import Any, TypeVar

    R = TypeVar("R")

_POLL_INTERVAL = 0.02  # seconds


def is_running(frame: FrameType | None) -> bool:
    """Whether a frame is on the stack of this thread."""
    if frame is None:
        return False
    found: FrameType | None = sys._getframe()
    while found is not None:
        if found is frame:
            return True
        found = found.f_back
    return False


class Holder:
    """A thread that has, had or wants the turn.

    Attributes
    ----------
    thread : int
        The identity of the thread.
    generator : generator or None
        Runs while the thread waits for the turn and has it.
    next : dict
        Its only value, under None, is the next holder: `dict.setdefault` is atomic.
    result : object
        The value that `Turn.run` returns.
    """

    __slots__ = ("_is_over", "_over", "_process", "generator", "next", "result", "thread")

    def __init__(self) -> None:
        self.thread = get_ident()
        self.generator: GeneratorType[Any, None, None] | None = None
        self.next: dict[None, Holder] = {}
        self.result: Any = None
        self._process = getpid()
        self._is_over = False
        # Held until the turn is over: threads wait for the turn by waiting for this lock.
        self._over = allocate_lock()
        self._over.acquire()

    @property
    def has_turn(self) -> bool:
        """Whether this holder still has the turn."""
        generator = self.generator
        return (
            generator is not None
            and not self._is_over
            and generator.gi_running
            and self._process == getpid()
        )

    def end(self) -> None:
        """Wake the waiting threads."""
        self._is_over = True
        self._over.release()

    def wait(self) -> None:
        """Wait until the turn is over, or for `_POLL_INTERVAL`."""
        if self._over.acquire(timeout=_POLL_INTERVAL):
            self._over.release()  # for the next waiting thread
            return
        from ._import_locks import release_abandoned_locks  # few threads wait for long

        # The holder may be importing, and waiting for an import lock that an interrupt has left
        # held by this thread.
        release_abandoned_locks()


class Turn:
    """A reentrant lock, which an interrupted thread cannot leave held."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = Holder()

    def holder(self) -> Holder:
        """Return the last holder; its turn may be over."""
        last = self._last
        while last.next:
            last = last.next[None]
        return last

    def run(
        self,
        function: Callable[[], R],
        gives_up: Callable[[Holder], bool] | None = None,
        otherwise: R | None = None,
    ) -> R:
        """Call a function while this thread has the turn; waits for it if need be.

        Parameters
        ----------
        function : callable
            Takes no arguments.
        gives_up : callable, optional
            Called with the holder after each poll; this thread stops waiting if it returns True.
        otherwise : object, optional
            The value to return if the thread stopped waiting.
        """
        holder = self.holder()
        if holder.thread == get_ident() and holder.has_turn:
            return function()
        mine = Holder()
        generator: Any = self._turns(mine, function, gives_up)
        mine.generator = generator
        mine.result = otherwise
        try:
            # Without a handler for StopIteration: CPython 3.11 and newer leave the exception in
            # the thread's state if tracing raises between the instructions that end a handler.
            next(generator, None)
            return mine.result  # type: ignore[no-any-return]
        finally:
            # Break the cycle of holder and generator, which refers to the function.
            mine.generator = mine.result = None

    def _turns(
        self,
        mine: Holder,
        function: Callable[[], R],
        gives_up: Callable[[Holder], bool] | None,
    ) -> Generator[None]:
        """Wait for the turn and call the function; never yields."""
        while True:
            last = self.holder()
            if last.has_turn:
                last.wait()
                if gives_up is not None and gives_up(last):
                    return
            elif last.next.setdefault(None, mine) is mine:
                break
        # This only shortens the walk of `holder`: an interrupt before it does no harm.
        self._last = mine
        try:
            mine.result = function()
        finally:
            mine.end()
        return
        # Makes this a generator, which is never suspended.
        yield  # type: ignore[unreachable, unused-ignore]
