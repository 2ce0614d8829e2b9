"""The shortcuts of a library: which functions take theirs, and when they leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .._locks import Turn
from .inactive_backends import InactiveBackends
from .shortcut import Shortcut

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, FunctionType

    from .._call.caller import Caller
    from .._dispatch_arguments import Function
    from .._state.state import DispatchState
    from .._state.state_keeper import StateKeeper
    from .wrapper_support import Link


class Record(Protocol):
    """The part of `Dispatchable` that its shortcut needs."""

    identifier: str
    function: Function
    wrapper: FunctionType
    code: CodeType | None
    shortcut: Shortcut | None


class Dispatcher(Protocol):
    """The part of `Dispatcher` that shortcuts need."""

    keeper: StateKeeper
    link: Link
    shortcuts: Shortcuts

    @property
    def loaded(self) -> Caller | None: ...

    @property
    def records(self) -> Sequence[Record]: ...


exchanging = Turn()
"""Held while a thread decides about shortcuts, and takes or leaves them.

Without it, one thread could decide to take a shortcut, another could start a trace and leave all
shortcuts, and the first could then take its own: the trace would miss the calls. A thread may
acquire it twice: audit hooks, signal handlers and finalizers may start a trace while it is held.
"""


def install(dispatcher: Dispatcher) -> None:
    """Give a library its shortcuts, and let them follow the states in force.

    Before there is a loader, no function has taken its shortcut, and no state need be watched.
    """
    # In one step: if several threads do this at once, the first one's stay.
    vars(dispatcher).setdefault("shortcuts", Shortcuts(dispatcher))
    keeper, link = dispatcher.keeper, dispatcher.link
    keeper.observations.before = link.leave_shortcuts
    keeper.observations.after = link.take_shortcuts
    keeper.on_new_state = link.on_new_state


class Shortcuts:
    """The shortcuts of a library's functions.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher.
    """

    __slots__ = ("_dispatcher", "_inactive")

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        # Written only while `exchanging` is held. It decides which shortcuts are taken.
        self._inactive: InactiveBackends | None = None

    def take_all(self) -> None:
        """Let functions take their shortcuts that no active backend implements."""
        caller = self._dispatcher.loaded
        if caller is not None:
            # The states that are read here may include one that `on_new_state` was not called for
            # yet. That call will find nothing new, so the shortcuts for it are left here.
            exchanging.run(
                lambda: self._leave_activated(caller, self._find_inactive(caller, again=True))
            )
            for record in self._dispatcher.records:
                self.take(record, caller)

    def take(self, record: Record, caller: Caller) -> None:
        """Let a function take its shortcut if nothing but its default can answer."""
        own = record.code
        if own is None:
            return
        shortcut = record.shortcut
        if shortcut is None:
            wrapper: Any = record.wrapper  # to type checkers, a function of a class is a method
            made = Shortcut.between(wrapper, record.function.default, own)
            if made is None:
                return
            # In one step: two threads must use the same shortcut, which knows whether it is taken.
            shortcut = vars(record).setdefault("shortcut", made)
        # Policies of blocks do not matter here: these blocks are observed.
        if caller.resolver.may_refuse(record.function):
            return
        names = caller.resolver.implementers(record.identifier)
        inactive = self._inactive
        # Read without the turn: the set only shrinks, so that a negative answer stays right until
        # `take_all` computes the set anew, and comes here again.
        if (
            inactive is not None
            and inactive.catalog is caller.catalog
            and not inactive.include(names)
        ):
            return
        observations = self._dispatcher.keeper.observations

        def take() -> None:
            # All is tested in the turn: before it, backends and states may still change.
            if (
                caller is self._dispatcher.loaded
                and not observations.any()
                and (len(names) == 1 or self._find_inactive(caller).include(names))
            ):
                shortcut.take()
                # An audit hook that runs in an exchange may have begun an observation.
                if observations.any() and shortcut.is_taken:
                    shortcut.leave()

        exchanging.run(take)

    def _find_inactive(self, caller: Caller, again: bool = False) -> InactiveBackends:
        inactive = self._inactive
        if again or inactive is None or inactive.catalog is not caller.catalog:
            states = self._dispatcher.keeper.states()
            inactive = self._inactive = InactiveBackends(caller.catalog, states)
        return inactive

    def on_new_state(self, state: DispatchState) -> None:
        """Let functions dispatch again if a new state activates a backend that implements them."""
        # A state activates a backend only if the default disables one, or if it prioritizes one
        # that requires opt-in. Then the turn is needed: another thread may be computing the
        # inactive backends from the states before this one.
        loaded = self._dispatcher.loaded
        if loaded is None:
            return
        if not self._dispatcher.keeper.default.state.disabled:
            found = map(loaded.catalog.descriptions.get, state.prioritized)
            if not any(each is not None and each.requires_opt_in for each in found):
                return

        def leave() -> None:
            caller, before = self._dispatcher.loaded, self._inactive
            if caller is None or before is None:
                return
            after = before.without_activated(state)
            if after is before:
                return
            self._leave_activated(caller, after)
            self._inactive = after

        exchanging.run(leave)

    def _leave_activated(self, caller: Caller, inactive: InactiveBackends) -> None:
        """Let functions dispatch again if a backend that is not inactive implements them."""
        for record in self._dispatcher.records:
            shortcut = record.shortcut
            if shortcut is None or not shortcut.is_taken:
                continue
            if not inactive.include(caller.resolver.implementers(record.identifier)):
                shortcut.leave()

    def leave_all(self) -> None:
        """Let all functions dispatch again: there are other backends, or calls are observed."""

        def leave() -> None:
            for record in self._dispatcher.records:
                if record.shortcut is not None and record.shortcut.is_taken:
                    record.shortcut.leave()
            # Computed anew for the next shortcut. Until then none is taken, and `on_new_state` has
            # nothing to do.
            self._inactive = None

        exchanging.run(leave)
