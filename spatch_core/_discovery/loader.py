"""Loads a library's backends when they are first needed, once for all threads.

What a thread gets from a loader depends on the loader's state:

==============================  ==========================  ================  ==================
state                           ``get()``                   ``load()``        ``load(again=True)``
==============================  ==========================  ================  ==================
not loaded                      discovers                   discovers         discovers
this thread is discovering      `loaded`; raises if None    None              None
another thread is discovering   `loaded`; waits if None     waits             waits, discovers
provisional, imports go on      the provisional catalog     the same          discovers
provisional, imports ended      discovers                   discovers         discovers
loaded                          `loaded`                    `loaded`          discovers
==============================  ==========================  ================  ==================

*Discovering* means calling ``discover`` with the lock held. A complete result becomes
`loaded` and is published before the lock is released; if ``discover`` raises, the state stays
as it was and the next caller tries again.

*Waiting* means waiting for the lock. One thread never waits: one that is in the middle of an
import. The discovering thread may import modules, and so may wait for the very import lock
that this one holds. It discovers for itself, at the same time as the other.

*Provisional*: a backend's module could not be imported, because this thread was asked in the
middle of importing it, or a module that it needs. That is no fault of the backend. The result
without it is neither published nor warned about, and it serves until the imports have ended.

*After a fork* the child continues in the parent's state, except that the parent's other
threads, which may have held the lock, do not exist in it: the child makes a new lock.
"""

from __future__ import annotations

from _thread import allocate_lock, get_ident
from collections.abc import Callable
from sys import modules
from typing import Generic, Protocol, TypeVar

from .._identifiers import is_importing, is_initializing
from .._warning import warn_caller
from .catalog import Catalog

Found = TypeVar("Found", bound="Discovered")


class Discovered(Protocol):
    """A catalog, or an object made from one."""

    @property
    def catalog(self) -> Catalog: ...


class Loader(Generic[Found]):
    """Holds the result of discovery, once it has been needed.

    Parameters
    ----------
    discover : callable
        Returns a new result, whose ``catalog`` says whether it is complete; may import
        modules.
    publish : callable
        Takes each complete result when it has become `loaded`.

    Attributes
    ----------
    loaded : object or None
        The latest complete result.
    """

    def __init__(self, discover: Callable[[], Found], publish: Callable[[Found], None]) -> None:
        self._discover = discover
        self._publish = publish
        self.loaded: Found | None = None
        self._provisional: _Provisional[Found] | None = None
        # The lock and the threads that discover are those of one process.
        self._process: int | None = None
        self._lock = allocate_lock()
        self._discovering: set[int] = set()

    def get(self) -> Found:
        """Return the result of discovery; discovers if need be.

        Raises
        ------
        RuntimeError
            If this thread is discovering the backends, and one of them, while it is
            imported, asks which backends there are.
        """
        found = self.loaded or self.load()
        if found is None:
            raise RuntimeError(
                "a module that is imported in order to discover the backends asks which "
                "backends there are; it can only know later"
            )
        return found

    def load(self, again: bool = False) -> Found | None:
        """Discover the backends; None if this very thread is discovering them already.

        Parameters
        ----------
        again : bool, optional
            Whether to do so even if they have been discovered.
        """
        self._leave_parent()
        thread = get_ident()
        if thread in self._discovering:
            return None
        # Read once: another thread may replace it.
        provisional = self._provisional
        if not again and provisional is not None and provisional.is_valid():
            return provisional.found
        self._provisional = None
        # See the module's docstring for why a thread that is importing must not wait.
        acquired = self._lock.acquire(blocking=not is_importing())
        self._discovering.add(thread)
        try:
            if self.loaded is not None and not again:
                return self.loaded  # by the thread that this one waited for
            found = self._discover()
            if not found.catalog.is_complete:
                self._provisional = _Provisional(found)
                return found
            self.loaded = found
            self._publish(found)
        finally:
            self._discovering.discard(thread)
            if acquired:
                self._lock.release()
        # After everything else, because a filter may turn warnings into exceptions.
        for warning in found.catalog.warnings():
            warn_caller(warning)
        return found

    def _leave_parent(self) -> None:
        """In a forked process, forget the lock and the threads of the parent."""
        from os import getpid

        process = getpid()
        # A new loader has no process yet, so that its lock is not replaced while two
        # threads use it for the first time.
        if self._process not in (None, process):
            self._lock, self._discovering = allocate_lock(), set()
        self._process = process


class _Provisional(Generic[Found]):
    """An incomplete result, and the imports that were going on when it was made."""

    __slots__ = ("_importing", "found")

    def __init__(self, found: Found) -> None:
        self.found = found
        # Copy, because other threads may import modules meanwhile.
        self._importing = [each for each in [*modules.values()] if is_initializing(each)]

    def is_valid(self) -> bool:
        """Whether one of the imports is still going on."""
        return any(map(is_initializing, self._importing))
