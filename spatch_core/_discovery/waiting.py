"""How long a thread waits for another one that discovers the backends.

While a backend is imported, it may start a thread that calls the library, and wait for that thread.
This call must not wait for the discovery: that would be a deadlock. It looks like the first call of
any other thread, which must wait. So the stack of the discovering thread decides: a thread that
waits for others stands still, usually in a module such as `threading`.
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
"""Seconds that the discovering thread may stand still before another one stops waiting for it.

The keys say whether that other thread was started after the discovery began, and whether the
discovering thread stands in one of the modules `_WAITS`.
"""


class Waiting:
    """Decides when one thread stops waiting.

    Parameters
    ----------
    threads : callable
        Returns the identities of the threads that existed when the discovery began.
    """

    def __init__(self, threads: Callable[[], frozenset[int]]) -> None:
        self._threads = threads
        self._place: tuple[int, int] | None = None
        self._since = 0.0

    def __call__(self, holder: Holder) -> bool:
        """Whether the discovering thread seems to wait for this one; called at every poll."""
        frame = _current_frames().get(holder.thread)
        waits = False
        # Only the frames of a waiting thread are followed: others may end at any moment.
        while frame is not None and frame.f_globals.get("__name__") in _WAITS:
            frame, waits = frame.f_back, True
        if frame is None:
            return False
        # The thread stands still if it is at the same instruction of the same frame at each poll.
        place = id(frame), frame.f_lasti
        if place != self._place:
            self._place, self._since = place, monotonic()
            return False
        is_new = get_ident() not in self._threads()
        return monotonic() - self._since >= _PATIENCE[is_new, waits]
