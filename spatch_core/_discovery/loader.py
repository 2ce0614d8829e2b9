"""Loads a library's backends when they are first needed, once for all threads.

One lock is held while backends are discovered and while the result is published. The thread that
holds it gets None if a module that the discovery imports needs the backends, and so does a thread
that has waited for `_PATIENCE` seconds: the discovering thread may be waiting for it, because a
backend's module has started it, or for a module that it is importing.

If discovery raises, nothing has changed, and the next caller tries again. If publishing does, the
next caller publishes.

*Provisional*: the backends were needed while a backend's module, or a module that the backend
needs, was being imported. The result without that backend is neither published nor warned about,
and is used until the imports have ended.
"""

from __future__ import annotations

from _thread import RLock, get_ident
from collections.abc import Callable
from os import getpid
from sys import modules
from typing import Any, Generic, Protocol, TypeVar

from .._callers_line import warn_caller
from .._patterns import is_initializing
from .catalog import Catalog

_PATIENCE = 5.0
"""How many seconds a thread waits for another one that discovers."""

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
        Takes each complete result when it has become `loaded`. It is called again with the same
        result if it was interrupted.

    Attributes
    ----------
    loaded : object or None
        The latest complete result.
    """

    def __init__(self, discover: Callable[[], Found], publish: Callable[[Found], None]) -> None:
        self._discover = discover
        self._publish = publish
        self.loaded: Found | None = None
        self._unpublished: Found | None = None
        self._provisional: _Provisional[Found] | None = None
        self._lock = RLock()
        self._thread: int | None = None  # the one that discovers
        self._process = getpid()

    @property
    def settled(self) -> Found | None:
        """The latest complete result, if all of it has been published."""
        return self.loaded if self._unpublished is None else None

    @property
    def is_discovering(self) -> bool:
        """Whether a thread is discovering; true until its result is `loaded`."""
        return self._thread is not None

    def get(self) -> Found:
        """Return the result of discovery; discovers if need be.

        Raises
        ------
        RuntimeError
            If a module that the discovery imports needs the backends, in the discovering thread
            or in a thread for which that one waits.
        """
        found = self.settled or self.load() or self.loaded
        if found is None:
            raise RuntimeError(
                "the backends are being discovered, and a module that the discovery imports needs "
                "them; use them only after its import"
            )
        return found

    def load(self, again: bool = False) -> Found | None:
        """Discover the backends; None if this thread is discovering them already.

        The result is also None after this thread has waited in vain for another one.

        Parameters
        ----------
        again : bool, optional
            Whether to discover backends that are loaded already.
        """
        # Read once: another thread may replace it.
        provisional = self._provisional
        if not again and provisional is not None and provisional.is_valid():
            return provisional.found
        result = self._in_turn(lambda: self._load(again))
        if result is None:
            return None
        found: Found
        found, is_new = result
        if is_new:
            # Last, because a filter may turn warnings into exceptions.
            for warning in found.catalog.warnings():
                warn_caller(warning)
        return found

    def _in_turn(self, run: Callable[[], Any]) -> Any:
        """Return the result of `run`, while this thread has the lock; None if it cannot have it."""
        thread, process = get_ident(), getpid()
        if process != self._process:
            # The child of a fork has none of the parent's threads, one of which may discover.
            self._lock, self._thread, self._process = RLock(), None, process
        if self._thread == thread or not self._lock.acquire(timeout=_PATIENCE):
            return None
        try:
            self._thread = thread
            return run()
        finally:
            self._thread = None
            self._lock.release()

    def _load(self, again: bool) -> tuple[Found, bool]:
        """Return the result of discovery, and whether this call has loaded it."""
        self._provisional = None
        if self._unpublished is not None:
            self._settle(self._unpublished)
        if self.loaded is not None and not again:
            return self.loaded, False  # another thread loaded it while this one waited
        found = self._discover()
        if not found.catalog.is_complete:
            self._provisional = _Provisional(found)
            return found, False
        self._settle(found)
        return found, True

    def _settle(self, found: Found) -> None:
        """Make a result the loaded one, and publish it."""
        # In this order, so that an unpublished result never counts as settled.
        self._unpublished = found
        self.loaded = found
        self._publish(found)
        self._unpublished = None


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
