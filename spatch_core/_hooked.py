"""Hooks: each sees a call, innermost first, before the candidates; the calls as they see them.

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
from ._wrapper import TakesFound, given

if TYPE_CHECKING:
    from ._entries import Calls
    from ._function import Function
    from ._state import DispatchState, Scope, Stages, StateKeeper

    Way = Callable[[tuple[type, ...]], "Chain"]


class Call:
    """A call of a library's function, as a hook sees it.

    Attributes
    ----------
    args : tuple
        The positional arguments.
    kwargs : dict
        The keyword arguments.

    Notes
    -----
    It is the only argument of a hook, which returns the result of the call. A hook that only
    watches returns ``call.next(*call.args, **call.kwargs)``.
    """

    __slots__ = ("_after", "_given", "_has_gone_on", "_hooked", "_place", "args", "kwargs")

    def __init__(self, hooked: Hooked, place: int, given: Progress) -> None:
        self.args = given.args
        self.kwargs = {**given.kwargs}  # the hook may change it
        self._hooked = hooked
        self._place = place  # of the hook among the stages
        self._given = given
        self._has_gone_on = False
        # Set by `next`: the call of the next hook, or the progress of the chain.
        self._after: Call | Progress | None = None

    @property
    def function(self) -> str:
        """Identifier of the library's function, ``"module:qualname"``."""
        return self._hooked.function.identifier

    @property
    def callable(self) -> Callable[..., Any]:
        """The library's function; calling it in the hook starts a new call."""
        wrapper: Callable[..., Any] = self._hooked.record.wrapper
        return wrapper

    @property
    def types(self) -> tuple[type, ...]:
        """The dispatch types."""
        return self._hooked.types

    @property
    def backend(self) -> str | None:
        """The backend that answered or raised; None before `next`, and if all have deferred.

        ``"default"`` is the library's own implementation. For a coroutine function it is final
        when the result of `next` has been awaited.
        """
        progress = self._progress()
        return None if progress is None else progress.backend

    @property
    def deferred(self) -> dict[str, str]:
        """The backends that have deferred since `next`, each with its reason.

        A backend that said `IF_NEEDED` has not deferred.
        """
        progress = self._progress()
        return {} if progress is None else {**progress.reasons}

    def _progress(self) -> Progress | None:
        """Return the progress of the chain; None before `next`."""
        return self._after._progress() if isinstance(self._after, Call) else self._after

    def next(self, /, *args: Any, **kwargs: Any) -> Any:
        """Continue the call with these arguments: with the next hook, then with the backends.

        The implementation runs under the options of the call, including this hook, so the hook
        sees the calls that the implementation makes. If the arguments have other types, the
        backends are chosen anew.

        Parameters
        ----------
        *args, **kwargs
            All arguments; ``*call.args, **call.kwargs`` for those of the call.

        Returns
        -------
        object
            The result. For a coroutine function it can be awaited, for a generator function it is
            an iterator, for an asynchronous generator function an asynchronous iterator.
        """
        self._has_gone_on = True
        return self._hooked.go_on(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<Call of {self.function}>"

    def __reduce__(self) -> Any:
        raise TypeError(f"a call of {self.function} cannot be pickled: it belongs to its process")


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
        return self.ask(Call(self, 0, Progress(args, kwargs, found)))

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
        hooked, function, given = self, self.function, call._given
        progress = Progress(args, kwargs)
        if given.found is not None and are_same(progress, given):
            progress.found = given.found  # the finder runs once in a call
        elif not function.is_adopted:  # its callers give the types
            values = function.values(args, kwargs)
            hooked = self._for(values)
            progress.found = values if function.parameters is None else None
        place = call._place + 1
        if place < len(self._stages):
            call._after = inner = Call(hooked, place, progress)
            return hooked.ask(inner)
        call._after = progress
        return hooked._run(progress)

    def _for(self, values: tuple[Any, ...]) -> Hooked:
        """Return the `Hooked` for these dispatch arguments, including None and `missing`."""
        types = self.calls.decider.unique_types(map(type, given(values)), self.state)
        # By identity: a metaclass may define ==.
        if [*map(id, types)] == [*map(id, self.types)]:
            return self
        return Hooked(self.calls, self.record, self._scope, self.state, self._way, types)

    def _run(self, progress: Progress) -> Any:
        """Call the candidates in the state of the call, after the last hook."""
        progress.kwargs = self.function.without_like(progress.kwargs)
        # Without a token: the call may go on in another context, such as another thread's.
        keeper = self.calls.keeper
        before = keeper.get()
        keeper.set(self._scope.tables)
        try:
            result = self.chain().call(progress)
        finally:
            keeper.set(before)
        if self.function.nature and result is not NotImplemented:
            return stepwise(self.function.nature, keeper, self._scope, lambda: result)
        return result


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
