"""Loads a library's backends when they are first needed, once, whatever threads do."""

from __future__ import annotations

from _thread import allocate_lock, get_ident
from sys import modules

from .._identifiers import is_importing, is_initializing
from ..exceptions import warn_caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Loader:
    """Holds the resolver of a library, once somebody needs it.

    Parameters
    ----------
    discover : callable
        Returns a new resolver; may import modules.
    publish : callable
        Takes the resolver when it is in place.
    """

    def __init__(self, discover: Callable[[], Any], publish: Callable[[Any], None]) -> None:
        self._discover = discover
        self._publish = publish
        self._process: int | None = None
        self._lock = allocate_lock()
        self._loading: set[int] = set()
        self._provisional: Any = None
        self._awaited: list[object] = []
        self.loaded: Any = None

    def get(self) -> Any:
        """Return the resolver.

        Raises
        ------
        RuntimeError
            If this thread is discovering the backends, and one of them, while it is
            imported, asks which backends there are.
        """
        resolver = self.loaded or self.load()
        if resolver is None:
            raise RuntimeError(
                "a module that is imported in order to discover the backends asks which "
                "backends there are; it can only know later"
            )
        return resolver

    def load(self, again: bool = False) -> Any:
        """Discover the backends; None if this very thread is discovering them already.

        Parameters
        ----------
        again : bool, optional
            Whether to do so although they have been discovered.
        """
        from os import getpid

        if self._process not in (None, getpid()):
            # Forked, perhaps while another thread had the lock.
            self._lock, self._loading = allocate_lock(), set()
        self._process = getpid()
        thread = get_ident()
        if thread in self._loading:
            return None
        if not again and any(map(is_initializing, self._awaited)):
            return self._provisional
        self._provisional, self._awaited = None, []
        # Discovery may import modules. A thread that is in the middle of an import must not
        # wait for one that may want what it is importing; it discovers for itself.
        acquired = self._lock.acquire(blocking=not is_importing())
        self._loading.add(thread)
        try:
            if self.loaded is not None and not again:
                return self.loaded
            resolver = self._discover()
            if not resolver.catalog.is_complete:
                # Good while the imports last in the middle of which this was asked.
                self._provisional = resolver
                self._awaited = [each for each in [*modules.values()] if is_initializing(each)]
                return resolver
            self.loaded = resolver
            self._publish(resolver)
        finally:
            self._loading.discard(thread)
            if acquired:
                self._lock.release()
        # Last, because a filter may turn warnings into errors.
        for warning in resolver.catalog.warnings():
            warn_caller(warning)
        return resolver
