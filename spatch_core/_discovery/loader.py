"""Loads a library's backends when they are first needed, once for all threads.

The result depends on the loader's state:

==============================  ==========================  ================  ==================
state                           ``get()``                   ``load()``        ``load(again=True)``
==============================  ==========================  ================  ==================
not loaded                      discovers                   discovers         discovers
this thread is discovering      `loaded`; raises if None    None              None
another thread is discovering   `settled`; waits if None    waits             waits, discovers
provisional, imports continue   the provisional catalog     the same          discovers
provisional, imports ended      discovers                   discovers         discovers
publishing was interrupted      publishes                   publishes         discovers
loaded                          `loaded`                    `loaded`          discovers
==============================  ==========================  ================  ==================

*Discovering* means calling ``discover`` in this thread's turn. If ``discover`` raises, at whatever
instruction, nothing has changed, and the next caller tries again. A complete result becomes
`loaded` in one step, and `settled` when it has been published. If an interrupt stops publishing, it
is done once more before the interrupt propagates; if that is stopped too, the next caller does it.

*Waiting* means waiting for the turn, which ends however its holder is stopped (see `_locks`). Two
kinds of threads do not wait to the end:

- A thread that is importing a module. The discovering thread may be waiting for that module's
  import lock. So this thread discovers too, at the same time; the first to finish publishes.
- A thread for which the discovering thread may itself be waiting (see `waiting`). It gets the same
  result as the discovering thread.

*Provisional*: the backends were needed while this thread was importing a backend's module, or a
module that the backend needs. The result without that backend is neither published nor warned
about, and is used until the imports have ended.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from sys import _current_frames, _getframe, modules
from types import FrameType
from typing import Generic, Protocol, TypeVar

from .._callers_line import warn_caller
from .._identifiers import is_initializing
from .._import_locks import outermost_import
from .._locks import Turn, is_running
from .catalog import Catalog
from .waiting import Waiting

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
        self._turn = Turn()
        self._publishing = Turn()
        # For each thread, the frame that discovers. An interrupt may leave an entry behind, so it
        # counts for its own thread only while the frame is running.
        self._discovering: dict[int, FrameType] = {}
        # The threads that existed when the turn was taken.
        self._threads: frozenset[int] = frozenset()

    @property
    def settled(self) -> Found | None:
        """The latest complete result, if all of it has been published."""
        return self.loaded if self._unpublished is None else None

    @property
    def is_discovering(self) -> bool:
        """Whether a thread is discovering; true until its result is `loaded`."""
        return bool(self._discovering)

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

        The result is also None in a thread for which the discovering one may be waiting.

        Parameters
        ----------
        again : bool, optional
            Whether to discover backends that are loaded already.
        """
        if is_running(self._discovering.get(get_ident())):
            return None
        # Read once: another thread may replace it.
        provisional = self._provisional
        if not again and provisional is not None and provisional.is_valid():
            return provisional.found
        self._provisional = None
        # A thread that is importing must not wait; see the module's docstring.
        imports = outermost_import()
        found: Found | None
        if imports is not None:
            found, is_new = self._load(again, imports)
        else:

            def in_turn() -> tuple[Found | None, bool]:
                self._threads = frozenset(_current_frames())
                return self._load(again, None)

            nothing: tuple[Found | None, bool] = None, False
            found, is_new = self._turn.run(in_turn, Waiting(lambda: self._threads), nothing)
        if is_new and found is not None:
            # Last, because a filter may turn warnings into exceptions.
            for warning in found.catalog.warnings():
                warn_caller(warning)
        return found

    def _load(self, again: bool, imports: FrameType | None) -> tuple[Found, bool]:
        """Return the result of discovery, and whether this call has loaded it."""
        thread = get_ident()
        try:
            self._discovering[thread] = _getframe()
            unpublished = self._unpublished
            if unpublished is not None:
                self._settle(unpublished, again=True)
            if self.loaded is not None and not again:
                return self.loaded, False  # another thread loaded it while this one waited
            found = self._discover()
            if not found.catalog.is_complete:
                self._provisional = _Provisional(found, imports)
                return found, False
            settled = self._settle(found, again)
            return settled, settled is found
        finally:
            self._discovering.pop(thread, None)

    def _settle(self, found: Found, again: bool) -> Found:
        """Make a result the loaded one, unless another thread was faster, and publish it."""

        def settle() -> Found:
            if self.loaded is not None and not again:
                return self.loaded
            # In this order, so that an unpublished result never counts as settled.
            self._unpublished = found
            self.loaded = found
            try:
                self._publish(found)
                self._unpublished = None
            except BaseException:
                # An interrupt may have stopped it halfway. Publishing twice is harmless.
                self._publish(found)
                self._unpublished = None
                raise
            return found

        return self._publishing.run(settle)


class _Provisional(Generic[Found]):
    """An incomplete result, and the imports that were going on when it was made."""

    __slots__ = ("_frame", "_importing", "_thread", "found")

    def __init__(self, found: Found, imports: FrameType | None) -> None:
        self.found = found
        self._thread = get_ident()
        self._frame = imports
        # Copy, because other threads may import modules meanwhile.
        self._importing = [each for each in [*modules.values()] if is_initializing(each)]

    def is_valid(self) -> bool:
        """Whether one of the imports is still going on.

        An interrupted import may leave its module marked as initializing. So the frame of the
        import must be running, too; another thread can only check that the importing thread lives.
        """
        if self._thread == get_ident():
            goes_on = is_running(self._frame)
        else:
            goes_on = self._frame is not None and self._thread in _current_frames()
        return goes_on and any(map(is_initializing, self._importing))
