"""Loads a library's backends when they are first needed, once for all threads.

What a thread gets from a loader depends on the loader's state:

==============================  ==========================  ================  ==================
state                           ``get()``                   ``load()``        ``load(again=True)``
==============================  ==========================  ================  ==================
not loaded                      discovers                   discovers         discovers
this thread is discovering      `loaded`; raises if None    None              None
another thread is discovering   `settled`; waits if None    waits             waits, discovers
provisional, imports go on      the provisional catalog     the same          discovers
provisional, imports ended      discovers                   discovers         discovers
publishing was interrupted      publishes                   publishes         discovers
loaded                          `loaded`                    `loaded`          discovers
==============================  ==========================  ================  ==================

*Discovering* means calling ``discover`` in one's turn. If ``discover`` raises, for whatever reason
and at whatever instruction, nothing has changed, and the next caller tries again. A complete result
becomes `loaded` in one step, and `settled` when it has been published. An interrupt in between
publishes once more before it goes on; a second one leaves this to the next caller.

*Waiting* means waiting for the turn, which ends however it is left (see `_locks`). Two kinds of
threads do not wait to the end. One that is in the middle of an import: the discovering thread may
import modules, and so may wait for the very import lock that this one holds. It discovers for
itself, at the same time as the other; the first to finish publishes. And one for which the
discovering thread may be waiting itself (see `waiting`): it is told the same as the discovering
thread.

*Provisional*: a backend's module could not be imported, because this thread was asked in the
middle of importing it, or a module that it needs. That is no fault of the backend. The result
without it is neither published nor warned about, and it serves until the imports have ended.
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
        Takes each complete result when it has become `loaded`. It may be called again with the
        same result, if it was interrupted.

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
        # By thread, the frame that discovers or did; only those that are running count.
        self._discovering: dict[int, FrameType] = {}
        # The threads that there were when the turn was taken.
        self._threads: frozenset[int] = frozenset()

    @property
    def settled(self) -> Found | None:
        """The latest complete result, if all of it has been published."""
        return self.loaded if self._unpublished is None else None

    @property
    def is_discovering(self) -> bool:
        """Whether a thread is discovering; what it finds is `loaded` before this is over."""
        return bool(self._discovering)

    def get(self) -> Found:
        """Return the result of discovery; discovers if need be.

        Raises
        ------
        RuntimeError
            If this thread is discovering the backends, or one for which this thread works,
            and one of them, while it is imported, asks which backends there are.
        """
        found = self.settled or self.load() or self.loaded
        if found is None:
            raise RuntimeError(
                "a module that is imported in order to discover the backends asks which "
                "backends there are; it can only know later"
            )
        return found

    def load(self, again: bool = False) -> Found | None:
        """Discover the backends; None if this very thread is discovering them already.

        It is None as well for a thread for which the discovering one may be waiting.

        Parameters
        ----------
        again : bool, optional
            Whether to do so even if they have been discovered.
        """
        if is_running(self._discovering.get(get_ident())):
            return None
        # Read once: another thread may replace it.
        provisional = self._provisional
        if not again and provisional is not None and provisional.is_valid():
            return provisional.found
        self._provisional = None
        # See the module's docstring for why a thread that is importing must not wait.
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
            # After everything else, because a filter may turn warnings into exceptions.
            for warning in found.catalog.warnings():
                warn_caller(warning)
        return found

    def change(self, make: Callable[[Found], Found]) -> None:
        """Replace what is loaded by what `make` makes of it, in this thread's turn.

        It is left as it is if this very thread is discovering, or nothing is loaded.
        """
        if is_running(self._discovering.get(get_ident())):
            return

        def in_turn() -> None:
            thread = get_ident()
            try:
                self._discovering[thread] = _getframe()
                before = self.loaded
                if before is not None:
                    found = make(before)
                    if found is not before:
                        self._settle(found, again=True)
            finally:
                self._discovering.pop(thread, None)

        if outermost_import() is not None:
            in_turn()  # see the module's docstring for why it must not wait
        else:
            self._turn.run(in_turn, Waiting(lambda: self._threads), None)

    def _load(self, again: bool, imports: FrameType | None) -> tuple[Found, bool]:
        """Return the result of discovery, and whether it is loaded since now."""
        thread = get_ident()
        try:
            self._discovering[thread] = _getframe()
            unpublished = self._unpublished
            if unpublished is not None:
                self._settle(unpublished, again=True)
            if self.loaded is not None and not again:
                return self.loaded, False  # by the thread that this one waited for
            found = self._discover()
            if not found.catalog.is_complete:
                self._provisional = _Provisional(found, imports)
                return found, False
            settled = self._settle(found, again)
            return settled, settled is found
        finally:
            self._discovering.pop(thread, None)

    def _settle(self, found: Found, again: bool) -> Found:
        """Make a result the one that is loaded, unless another thread was faster."""

        def settle() -> Found:
            if self.loaded is not None and not again:
                return self.loaded
            # In this order: from here on, nothing is settled until everything is.
            self._unpublished = found
            self.loaded = found
            try:
                self._publish(found)
                self._unpublished = None
            except BaseException:
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

        An interrupted import may leave its module marked as one that goes on. So the frame of the
        import must be running, too; what other threads can tell of it is whether its thread is.
        """
        if self._thread == get_ident():
            goes_on = is_running(self._frame)
        else:
            goes_on = self._frame is not None and self._thread in _current_frames()
        return goes_on and any(map(is_initializing, self._importing))
