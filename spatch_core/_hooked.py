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
from ._wrapper import TakesFound, given

if TYPE_CHECKING:
    from ._entries import Calls
    from ._function import Function
    from ._state import DispatchState, Scope, Stages, StateKeeper

    Way = Callable[[tuple[type, ...]], "Chain"]


class Hooked(TakesFound):
    """Calls of a function with the same types and hooks.

    `scope` has the state of the call, and `state` is the same with the ``type`` of `invoke` if
    there is one. `way` takes dispatch types, and returns the chain for these.
    """

    __slots__ = (
        *("_scope", "_stages", "_way", "calls", "candidates", "function", "record", "state"),
        "types",
    )

    def __init__(
        self,
        calls: Calls,
        record: Any,
        scope: Scope,
        state: DispatchState,
        way: Way,
        types: tuple[type, ...],
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

    def chain(self) -> Chain:
        """Return the candidates as they are now."""
        return self.candidates.current()

    def run(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], found: tuple[Any, ...] | None = None
    ) -> Any:
        """Make a call; `found` are the dispatch arguments that a finder has returned."""
        return self.ask(Call(self, 0, found, args, kwargs))

    # Hooks see the `like` argument, which other entries do not get.
    def call_found(self, found: tuple[Any, ...] | None, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call with dispatch arguments that a finder has returned."""
        return self.run(args, kwargs, found)

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
        nature = self.function.nature
        if nature and result is not NotImplemented:
            # The steps of the answer run in the scope of the hook: the hook is not in force.
            return stepwise(nature, keeper, tables[0], lambda: result)
        return result

    def go_on(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the next hook, or the candidates."""
        hooked, function, found = self, self.function, None
        if call._found is not None and are_same((args, kwargs), call._found[1:]):
            found = call._found[0]  # the finder runs once in a call
        elif not function.is_adopted:  # its callers give the types
            values = function.values(args, kwargs)
            hooked = self._for(values)
            found = values if function.parameters is None else None
        place = call._place + 1
        if place < len(self._stages):
            call._after = inner = Call(hooked, place, found, args, kwargs)
            return hooked.ask(inner)
        return hooked._run(call, args, function.without_like(kwargs), found)

    def _for(self, values: tuple[Any, ...]) -> Hooked:
        """Return the `Hooked` for these dispatch arguments, including None and `missing`."""
        types = self.calls.decider.unique_types(map(type, given(values)), self.state)
        # By identity: a metaclass may define ==.
        if [*map(id, types)] == [*map(id, self.types)]:
            return self
        return Hooked(self.calls, self.record, self._scope, self.state, self._way, types)

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


def hooked_calls(dispatcher: Any, index: int, scope: Scope, types: tuple[type, ...]) -> Hooked:
    """Return what makes the calls of a function with these types."""
    record, calls, state = dispatcher.records[index - 1], dispatcher.loaded, scope.state

    def way(types: tuple[type, ...]) -> Chain:
        found: Chain = calls.chain(record.function, state, types)
        return found

    return Hooked(calls, record, scope, state, way, types)


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
