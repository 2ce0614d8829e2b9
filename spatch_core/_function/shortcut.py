"""Shortcuts: a wrapper's code is exchanged for that of the default implementation, and back.

While no active backend implements a function, its wrapper runs the code object of the default
implementation, with its globals and default values. A call of the wrapper then is a call of the
default implementation: it has one frame, and costs the same.

The exchange changes ``__code__`` alone. The wrapper has the default values of the default
implementation at all times, because its own code does not use any (see `wrapper`). Therefore a
call gets its arguments as given whenever the code is exchanged: between two instructions, by an
audit hook in the middle of the exchange, or by a finalizer that runs while CPython prepares the
frame of a call.
"""

from __future__ import annotations

import sys
from types import FunctionType

from .._dispatch_arguments import NATURES
from .._turns import Turn, is_running
from .acceleration import accelerate, slow_down

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, FrameType
    from typing import Protocol

    from .._call.caller import Caller
    from .._dispatch_arguments import Function
    from .._state.keeper import StateKeeper
    from .._state.state import DispatchState
    from .sleepers import Sleepers

    class Record(Protocol):
        """A `Dispatchable`, as far as its shortcut is concerned."""

        identifier: str
        function: Function
        shortcut: Shortcut | None

    class Dispatcher(Protocol):
        """A `Dispatcher`, as far as shortcuts are concerned."""

        keeper: StateKeeper
        late: set[str]

        @property
        def loaded(self) -> Caller | None: ...

        @property
        def records(self) -> Sequence[Record]: ...


# Without its global lock, CPython may free code that another thread is about to run.
_is_gil_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
_IS_ATOMIC = sys.implementation.name == "cpython" and _is_gil_enabled()

exchanging = Turn()
"""Held while a thread decides about shortcuts, and takes or leaves them.

Without it, one thread could decide to take a shortcut, another could start a trace and leave all
shortcuts, and the first could then take its own: the trace would miss the calls. A thread may
acquire it twice: audit hooks, signal handlers and finalizers may start a trace while it is held.
"""


_collections: list[str] = []
"""Not empty while garbage is collected on CPython 3.10."""

if sys.version_info < (3, 11):
    # There a collection may run while the frame of a call is made: for the code that the function
    # had before, and with the code that it has afterwards. Taking a shortcut can wait.
    import gc

    def _note(phase: str, _: object) -> None:
        if phase == "start":
            _collections.append(phase)
        else:
            _collections.clear()

    gc.callbacks.append(_note)


class Shortcut:
    """Lets a wrapper run the code of its default implementation.

    Parameters
    ----------
    wrapper : types.FunctionType
        The wrapper.
    default : types.FunctionType
        The default implementation.

    Notes
    -----
    The wrapper is in one of three states, told by its code object:

    ============================== ========== =============== ==========
    code                           `is_taken` `take`          `leave`
    ============================== ========== =============== ==========
    generated for the wrapper      False      exchanges       not called
    that of the default            True       changes nothing exchanges
    set by a user, e.g. a profiler False      changes nothing not called
    ============================== ========== =============== ==========
    """

    __slots__ = ("_default", "_frame", "_own", "_taken", "_wrapper")

    @classmethod
    def between(cls, wrapper: FunctionType, default: object) -> Shortcut | None:
        """Return the shortcut; None if the code of `default` must not run in the wrapper."""
        if (
            not _IS_ATOMIC
            or type(default) is not FunctionType
            # CPython exchanges code only for code with as many free variables.
            or default.__code__.co_freevars
            # They are of a subclass of dict, which a wrapper does not share.
            or default.__globals__ is not wrapper.__globals__
            # A decorator that wraps another function may exchange code too.
            or "__wrapped__" in default.__dict__
        ):
            return None
        return cls(wrapper, default)

    def __init__(self, wrapper: FunctionType, default: FunctionType) -> None:
        self._wrapper = wrapper
        self._default = default
        self._own = wrapper.__code__
        # Audit hooks run in the middle of an exchange, and may call the function.
        self._frame: FrameType | None = None
        # The code that `take` gave the wrapper; the default may get other code afterwards.
        self._taken: CodeType | None = None

    @property
    def is_taken(self) -> bool:
        """Whether the wrapper runs the code of the default implementation."""
        return self._wrapper.__code__ is self._taken

    @property
    def _is_exchanging(self) -> bool:
        """Whether this is asked by an audit hook that runs in an exchange.

        An exchange ends with its frame, also where it was interrupted.
        """
        # An audit hook of another thread finds that of its own exchange, or none.
        return is_running(self._frame)

    def take(self) -> None:
        """Let the wrapper run the code of the default implementation."""
        wrapper, default = self._wrapper, self._default
        code = default.__code__
        if (
            wrapper.__code__ is not self._own
            or self._is_exchanging
            or _collections
            # A tool that changed the default may have given it another nature.
            or (code.co_flags ^ self._own.co_flags) & NATURES
        ):
            return
        self._frame = sys._getframe()
        try:
            slow_down(wrapper)
            # They follow the default while the generated code runs, which ignores them.
            if wrapper.__defaults__ is not default.__defaults__:
                wrapper.__defaults__ = default.__defaults__
            if wrapper.__kwdefaults__ is not default.__kwdefaults__:
                wrapper.__kwdefaults__ = default.__kwdefaults__
            self._taken = code
            wrapper.__code__ = code
        finally:
            self._frame = None

    def leave(self) -> None:
        """Let the wrapper run its own code again; only for a shortcut that is taken."""
        if not self._is_exchanging:
            self._frame = sys._getframe()
            try:
                self._wrapper.__code__ = self._own
            finally:
                self._frame = None
            accelerate(self._wrapper)


class Shortcuts:
    """The shortcuts of a library's functions.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher.
    """

    __slots__ = ("_dispatcher", "_sleepers")

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        # Read and exchanged while `exchanging` is held; shortcuts are taken on its word.
        self._sleepers: Sleepers | None = None

    def take_all(self) -> None:
        """Let functions that no active backend implements be their default implementations."""
        caller = self._dispatcher.loaded
        if caller is not None:
            exchanging.run(lambda: self._find_sleepers(caller, again=True))
            for record in self._dispatcher.records:
                self.take(record, caller)

    def take(self, record: Record, caller: Caller) -> None:
        """Let a function be its default implementation while nothing else can answer."""
        shortcut = record.shortcut
        # The first call of one that was added late reads the tables of backends in code.
        if shortcut is None or record.identifier in self._dispatcher.late:
            return
        # Blocks of options that have a policy are observed.
        if caller.resolver.may_refuse(record.function):
            return
        names = caller.resolver.implementers(record.identifier)
        sleepers = self._sleepers
        # Without the turn: those that are known become fewer, until `take_all` finds more.
        if (
            sleepers is not None
            and sleepers.catalog is caller.catalog
            and not sleepers.include(names)
        ):
            return
        observations = self._dispatcher.keeper.observations

        def take() -> None:
            if (
                caller is self._dispatcher.loaded
                and not observations.any()
                and (len(names) == 1 or self._find_sleepers(caller).include(names))
            ):
                shortcut.take()
                # An audit hook that runs in an exchange may have begun an observation.
                if observations.any() and shortcut.is_taken:
                    shortcut.leave()

        exchanging.run(take)

    def _find_sleepers(self, caller: Caller, again: bool = False) -> Sleepers:
        sleepers = self._sleepers
        if again or sleepers is None or sleepers.catalog is not caller.catalog:
            from .sleepers import Sleepers  # not needed when a library is imported

            states = self._dispatcher.keeper.states()
            sleepers = self._sleepers = Sleepers(caller.catalog, states)
        return sleepers

    def wake(self, state: DispatchState) -> None:
        """Let functions dispatch again if a new state activates a backend that implements them."""
        # Without these no state activates more than others. Otherwise the turn: a thread that is
        # looking for sleepers may have read the states before there was this one.
        loaded = self._dispatcher.loaded
        if loaded is None:
            return
        if not self._dispatcher.keeper.default.state.disabled:
            found = map(loaded.catalog.descriptions.get, state.prioritized)
            if not any(each is not None and each.requires_opt_in for each in found):
                return

        def leave() -> None:
            caller, before = self._dispatcher.loaded, self._sleepers
            if caller is None or before is None:
                return
            after = before.woken(state)
            if after is before:
                return
            for record in self._dispatcher.records:
                if record.shortcut is not None and record.shortcut.is_taken:
                    names = caller.resolver.implementers(record.identifier)
                    if not after.include(names):
                        record.shortcut.leave()
            self._sleepers = after

        exchanging.run(leave)

    def leave_all(self) -> None:
        """Let all functions dispatch again: there are other backends, or calls are observed."""

        def leave() -> None:
            for record in self._dispatcher.records:
                if record.shortcut is not None and record.shortcut.is_taken:
                    record.shortcut.leave()
            # Found anew with the next shortcut: new states do not tell who sleeps meanwhile.
            self._sleepers = None

        exchanging.run(leave)
