"""How long a thread waits for another one that discovers the backends.

A backend may start a thread while it is imported, let it call the library, and wait for it. Such
a call must not wait for the discovery, which waits for it. It cannot be told for certain from the
first call of any other thread, which must wait. So the stack of the discovering thread decides: a
thread that waits for others stands still, in a module that is there for this.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from sys import _current_frames
from time import monotonic

from .._locks import Holder

_WAITS = frozenset({"threading", "queue", "selectors", "multiprocessing.connection"})
"""Modules whose functions wait for threads and processes."""

_PATIENCE = {(True, True): 0.1, (True, False): 10.0, (False, True): 5.0, (False, False): 60.0}
"""Seconds for which the discovering thread may stand still: by whether the waiting thread was
started after the discovery, and whether the discovering one waits in one of the modules."""


class Waiting:
    """Decides when one thread stops waiting.

    Parameters
    ----------
    threads : callable
        Returns the identities of the threads that there were when the discovery began.
    """

    def __init__(self, threads: Callable[[], frozenset[int]]) -> None:
        self._threads = threads
        self._place: tuple[int, int] | None = None
        self._since = 0.0

    def __call__(self, holder: Holder) -> bool:
        """Whether the discovering thread seems to wait for this one; asked again and again."""
        frame = _current_frames().get(holder.thread)
        waits = False
        # A thread that runs is not followed further: its frames may end at any moment.
        while frame is not None and frame.f_globals.get("__name__") in _WAITS:
            frame, waits = frame.f_back, True
        if frame is None:
            return False
        place = id(frame), frame.f_lasti
        if place != self._place:
            self._place, self._since = place, monotonic()
            return False
        is_new = get_ident() not in self._threads()
        return monotonic() - self._since >= _PATIENCE[is_new, waits]
