"""Locks that an interrupted thread cannot leave held, called turns.

A signal handler may raise between any two instructions, so also between acquiring a lock and the
``try`` whose ``finally`` releases it, or in that ``finally``. No order of statements closes this
gap. A turn is therefore held by a generator, for as long as this runs: however it is left, and at
whatever instruction, it does not run any more. Waiting threads look.

Invariants:

- A turn is taken in one step, `dict.setdefault`, by code that runs in the generator.
- Saying that a turn is over only wakes the waiting threads: nothing depends on it.
- In the child of a fork, turns that were taken in the parent are over, because the child has none
  of the parent's other threads.

The stack of another thread would tell the same, but CPython 3.11 may return freed memory to a
thread that reads frames of another one that runs.
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

_LOOK = 0.02  # seconds between two looks at whether a turn lasts


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
    """A thread that has a turn.

    Attributes
    ----------
    thread : int
        Its identity.
    generator : generator or None
        Runs while the turn lasts.
    next : dict
        The holder of the next turn, under None.
    result : object
        What `Turn.run` returns.
    """

    __slots__ = ("_is_over", "_over", "_process", "generator", "next", "result", "thread")

    def __init__(self) -> None:
        self.thread = get_ident()
        self.generator: GeneratorType[Any, None, None] | None = None
        self.next: dict[None, Holder] = {}
        self.result: Any = None
        self._process = getpid()
        self._is_over = False
        self._over = allocate_lock()
        self._over.acquire()

    @property
    def has_turn(self) -> bool:
        """Whether its turn lasts."""
        generator = self.generator
        return (
            generator is not None
            and not self._is_over
            and generator.gi_running
            and self._process == getpid()
        )

    def end(self) -> None:
        """Wake the threads that wait."""
        self._is_over = True
        self._over.release()

    def wait(self) -> None:
        """Wait until the turn is over, or for a moment."""
        if self._over.acquire(timeout=_LOOK):
            self._over.release()  # for the next one that waits
            return
        from ._import_locks import release_left_locks  # few threads wait for long

        # The thread that has the turn may import, and wait for a lock that was left held here.
        release_left_locks()


class Turn:
    """A reentrant lock, which an interrupted thread cannot leave held."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = Holder()

    def holder(self) -> Holder:
        """Return the last one that took the turn, which may have ended."""
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
        """Call a function in one's turn; waits for the turn if need be.

        Parameters
        ----------
        function : callable
            Takes no arguments.
        gives_up : callable, optional
            Called with the holder after each look; stops waiting if it returns True.
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
            # Each refers to the other, and would keep alive what the function refers to.
            mine.generator = mine.result = None

    def _turns(
        self,
        mine: Holder,
        function: Callable[[], R],
        gives_up: Callable[[Holder], bool] | None,
    ) -> Generator[None]:
        """Call the function in one's turn; never yields."""
        while True:
            last = self.holder()
            if last.has_turn:
                last.wait()
                if gives_up is not None and gives_up(last):
                    return
            elif last.next.setdefault(None, mine) is mine:
                break
        self._last = mine
        try:
            mine.result = function()
        finally:
            mine.end()
        return
        yield  # type: ignore[unreachable]  # makes this a generator, which is never suspended
