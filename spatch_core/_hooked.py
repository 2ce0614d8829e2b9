"""Calls in states with hooks: each hook sees the call, innermost first, before the candidates.

With two hooks, the inner ``a`` and the outer ``b``, a call runs:

=========================  ========================================
callable                   the hooks in force meanwhile
=========================  ========================================
``a(call)``                ``b``
``b(call)``, by ``next``   none
the chain, by ``next``     ``a`` and ``b``: the state of the call
=========================  ========================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._call import Chain
from ._context import Progress, are_same
from ._freezing import stepwise
from ._observed import Call
from ._wrapper import TakesFound, given, missing

if TYPE_CHECKING:
    from ._entries import Calls, Guard
    from ._function import Function
    from ._state import DispatchState, Scope, Stages, StateKeeper

    Way = Callable[[tuple[type, ...]], "Chain | Guard"]
    """Takes dispatch types; returns the chain for these, or a `Guard` of it."""


class Hooked(TakesFound):
    """Calls of a function with the same types and hooks.

    Parameters
    ----------
    calls : Calls
        The library's.
    record : Dispatchable
        The function, with its wrapper.
    scope : Scope
        The state of the call.
    state : DispatchState
        The same state, with the ``type`` of `invoke` if there is one.
    way : callable
        Returns the candidates for dispatch types.
    types : tuple of type
        The dispatch types.
    key : tuple of type
        The classes of all dispatch arguments, including None and `missing`.
    """

    __slots__ = (
        *("_places", "_scope", "_stages", "_way", "calls", "candidates", "function"),
        *("record", "state", "types"),
    )

    def __init__(
        self,
        calls: Calls,
        record: Any,
        scope: Scope,
        state: DispatchState,
        way: Way,
        types: tuple[type, ...],
        key: tuple[type, ...],
    ) -> None:
        self.calls = calls
        self.record = record
        self.function: Function = record.function
        self.state = state
        self.types = types
        self._scope = scope
        self._stages = _stages_of(calls.keeper, scope)
        self._way = way
        self.candidates = way(types)
        self._places: Any = None
        if self.function.parameters is not None:
            self._places = tuple(
                (each.position, each.name, cls)
                for each, cls in zip(self.function.parameters, key, strict=False)
            )

    def chain(self) -> Chain:
        """Return the candidates as they are now."""
        found = self.candidates
        return found if isinstance(found, Chain) else found.current()

    def entry(self) -> Callable[..., Any]:
        """Return the entry of a table: a function, unless there is a finder; see `as_function`."""
        if self.function.parameters is None:
            found: Any = self
            return found  # type: ignore[no-any-return]  # a `TakesFound`
        ask, new = self.ask, Call

        def call(*args: Any, **kwargs: Any) -> Any:
            # `begin`, inlined to save a frame.
            made = new()
            made.args, made.kwargs = args, kwargs
            made._hooked, made._place, made._found = self, 0, None
            made._has_gone_on, made._after = False, None
            return ask(made)

        entry: Any = call
        entry._tries_whole_chain = True
        return call

    def call_found(self, found: tuple[Any, ...] | None, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call with dispatch arguments that a finder has returned."""
        return self.ask(self.begin(0, found, args, kwargs))

    def begin(
        self,
        place: int,
        found: tuple[Any, ...] | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Call:
        """Return the `Call` for the hook at a place."""
        call = Call()
        call.args = args
        call.kwargs = kwargs
        call._hooked = self
        call._place = place
        # With a copy of `kwargs`, because the hook may change the dictionary.
        call._found = None if self._places is not None else (found, args, {**kwargs})
        call._has_gone_on = False
        call._after = None
        return call

    def ask(self, call: Call) -> Any:
        """Call a hook in the scope of the hooks outside of it."""
        hook, tables = self._stages[call._place]
        keeper = self.calls.keeper
        before = keeper.get()
        keeper.set(tables)
        try:
            result = hook(call)
        finally:
            keeper.set(before)
        if result is NotImplemented and not call._has_gone_on:
            return self.go_on(call, call.args, call.kwargs)
        function = self.function
        if function.nature and result is not NotImplemented:
            # The steps of the answer run in the scope of the hook: the hook is not in force.
            return stepwise(function.nature, keeper, tables[0], lambda: result)
        return result

    def go_on(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the next hook, or the candidates."""
        hooked, found = self, None
        passed = kwargs
        if call._found is not None:
            found, before, by_name = call._found
            if not are_same((args, kwargs), (before, by_name)):
                found = self.function.find(args, kwargs)
                hooked = self._for(found)
            # Hooks see the `like` argument, which candidates do not get.
            passed = self.function.without_like(kwargs)
        elif not self._has_types_of(args, kwargs):
            hooked = self._for(self.function.values(args, kwargs))
        place = call._place + 1
        if place < len(self._stages):
            call._after = inner = hooked.begin(place, found, args, kwargs)
            return hooked.ask(inner)
        return hooked._run(call, args, passed, found)

    def _has_types_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the dispatch arguments have the classes of this object's calls."""
        for position, name, cls in self._places:
            if position is not None and position < len(args):
                value = args[position]
            elif name is not None and kwargs:
                value = kwargs.get(name, missing)
            else:
                value = missing
            if type(value) is not cls:
                return False
        return True

    def _for(self, values: tuple[Any, ...]) -> Hooked:
        """Return the `Hooked` for these dispatch arguments, including None and `missing`."""
        types = self.calls.decider.unique_types(map(type, given(values)), self.state)
        if [*map(id, types)] == [*map(id, self.types)]:
            return self
        given_here = self.calls, self.record, self._scope, self.state, self._way
        return Hooked(*given_here, types, tuple(map(type, values)))

    def _run(
        self,
        call: Call,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None,
    ) -> Any:
        """Call the candidates in the state of the call, after the last hook."""
        # Without a token: the call may go on in another context, such as another thread's.
        keeper = self.calls.keeper
        before = keeper.get()
        keeper.set(self._scope.tables)
        call._after = progress = Progress()
        try:
            result = self.chain().run(args, kwargs, found, progress)
        finally:
            keeper.set(before)
        if self.function.nature and result is not NotImplemented:
            return stepwise(self.function.nature, keeper, self._scope, lambda: result)
        return result


def hooked_entry(
    dispatcher: Any,
    index: int,
    scope: Scope,
    types: tuple[type, ...],
    key: tuple[type, ...],
) -> Callable[..., Any]:
    """Return the entry of a table with hooks; see `Hooked`."""
    record, calls, state = dispatcher.records[index - 1], dispatcher.loaded, scope.state

    def way(types: tuple[type, ...]) -> Chain | Guard:
        found: Chain | Guard = calls.way(record.function, state, types)
        return found

    return Hooked(calls, record, scope, state, way, types, key).entry()


def _stages_of(keeper: StateKeeper, scope: Scope) -> Stages:
    """Return the hooks of a scope, innermost first, each with the tables that it runs under.

    A hook runs without itself and without the hooks inside it; outer hooks stay active.
    """
    stages = scope.stages
    if stages is None:
        hooks = scope.state.hook or ()
        found = []
        for place, hook in enumerate(hooks, 1):
            state = scope.state.replace(hook=hooks[place:] or None)
            found.append((hook, keeper.scope(state).tables))
        # Two threads may come here at once; their stages are equivalent.
        stages = scope.stages = tuple(found)
    return stages
