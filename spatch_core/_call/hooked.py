"""Calls in states with hooks: each hook sees the call, innermost first, before the candidates.

A table of such a state holds the callable that `as_entry` makes of a `Hooked`. With two hooks, the
inner ``a`` and the outer ``b``, a call runs:

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

from .._classes import is_importable
from .._dispatch_arguments import COROUTINE, Function, TakesFound, given, missing
from .._freezing import stepwise
from .._state import DispatchState, Scope
from .._state_hooks import Call, hook_name, stages_of
from . import coroutine_answers
from .last_stage import LastStage

if TYPE_CHECKING:
    from .._resolution.resolver import Resolver
    from .candidate_chain import Chain
    from .changing_candidates import Guard

_MOST_OTHERS = 64
"""How many other combinations of types a `Hooked` knows before it forgets them."""


class Hooked(TakesFound):
    """Calls of a function with the same types and hooks.

    Parameters
    ----------
    resolver : Resolver
        The library's.
    scope : Scope
        The state of the call.
    state : DispatchState
        The same state, with the ``type`` of `invoke` if there is one.
    function : Function
        The library's function.
    wrapper : callable
        Returns the decorated function.
    route : callable
        Takes dispatch types; returns the chain for these, or a `Guard` of it.
    types : tuple of type
        The dispatch types.
    key : tuple of type
        The classes of all dispatch arguments, including None and `missing`.

    Attributes
    ----------
    last : LastStage
        Calls the candidates, after the last hook.
    """

    __slots__ = (
        *("_get", "_keeper", "_others", "_places", "_route", "_scope"),
        *("_set", "_stages", "_state", "function", "last", "resolver", "types", "wrapper"),
    )

    def __init__(
        self,
        resolver: Resolver,
        scope: Scope,
        state: DispatchState,
        function: Function,
        wrapper: Callable[[], Callable[..., Any]],
        route: Callable[[tuple[type, ...]], Chain | Guard],
        types: tuple[type, ...],
        key: tuple[type, ...],
    ) -> None:
        self.function = function
        self.wrapper = wrapper
        self.types = types
        self.resolver = resolver
        self._keeper = keeper = resolver.keeper
        self._get, self._set = keeper.get, keeper.set
        self._scope = scope
        self._state = state
        self._stages = stages_of(keeper, scope)
        self._route = route
        self._places: Any = None
        if function.parameters is not None:
            self._places = tuple(
                (each.position, each.name, cls)
                for each, cls in zip(function.parameters, key, strict=False)
            )
        self._others: dict[tuple[int, ...], Hooked] = {}
        self.last = LastStage(function, keeper, scope, route(types))

    def call_found(self, found: tuple[Any, ...] | None, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call with dispatch arguments that a finder has returned."""
        return self.ask(self.new_call(0, found, args, kwargs))

    def new_call(
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
        before = self._get()
        self._set(tables)
        try:
            result = hook(call)
        finally:
            self._set(before)
        if result is NotImplemented and not call._has_gone_on:
            return self.go_on(call, call.args, call.kwargs)
        if self.function.nature and result is not NotImplemented:
            return self._checked(call, hook, tables[0], result)
        return result

    def go_on(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the next hook, or the candidates."""
        hooked, found = self, None
        passed: Any = args, kwargs
        if call._found is not None:
            found = call._found[0]
            if not _are_same(call._found, args, kwargs):
                found = self.function.find(args, kwargs)
                hooked = self._for(found)
            # Hooks see the `like` argument, which candidates do not get.
            passed = args, self.function.without_like(kwargs)
        else:
            for position, name, cls in self._places:
                if position is not None and position < len(args):
                    value = args[position]
                elif name is not None and kwargs:
                    value = kwargs.get(name, missing)
                else:
                    value = missing
                if type(value) is not cls:
                    hooked = self._for(self.function.values(args, kwargs))
                    break
        place = call._place + 1
        if place < len(self._stages):
            call._after = inner = hooked.new_call(place, found, args, kwargs)
            return hooked.ask(inner)
        return hooked.last.run(call, passed[0], passed[1], found)

    def _for(self, values: tuple[Any, ...]) -> Hooked:
        """Return the `Hooked` for these dispatch arguments, including None and `missing`."""
        types = self.resolver.types(given(values), self._state)
        if [*map(id, types)] == [*map(id, self.types)]:
            return self
        # By identity: metaclasses may define ==. Only importable classes are kept: their modules
        # keep them alive, so that their ids stay valid.
        key = tuple(map(type, values))
        known = tuple(map(id, key))
        hooked = self._others.get(known)
        if hooked is None:
            hooked = Hooked(
                *(self.resolver, self._scope, self._state, self.function),
                *(self.wrapper, self._route, types, key),
            )
            if all(map(is_importable, key)):
                if len(self._others) >= _MOST_OTHERS:
                    self._others.clear()
                self._others[known] = hooked
        return hooked

    def _checked(self, call: Call, hook: Any, scope: Scope, result: Any) -> Any:
        """Return a hook's answer to a call of a coroutine function or generator function.

        Its steps run in the scope of the hook itself: the hook is not in force.
        """
        function = self.function
        result = coroutine_answers.checked(function, "", result, f"hook {hook_name(hook)}")
        answer = stepwise(function.nature, self._keeper, scope, lambda: result)
        return self._awaited(call, answer) if function.nature & COROUTINE else answer

    async def _awaited(self, call: Call, answer: Any) -> Any:
        result = await answer
        if result is NotImplemented and not call._has_gone_on:
            rest = self.go_on(call, call.args, call.kwargs)
            return rest if rest is NotImplemented else await rest
        return result


def as_entry(hooked: Hooked) -> Callable[..., Any]:
    """Return the entry of a table: a function, unless there is a finder; see `as_function`."""
    if hooked.function.parameters is None:
        found: Any = hooked
        return found  # type: ignore[no-any-return]  # a `TakesFound`
    ask, new = hooked.ask, Call

    def call(*args: Any, **kwargs: Any) -> Any:
        # `Hooked.new_call`, inlined to save a frame.
        made = new()
        made.args = args
        made.kwargs = kwargs
        made._hooked = hooked
        made._place = 0
        made._found = None
        made._has_gone_on = False
        made._after = None
        return ask(made)

    entry: Any = call
    entry._tries_whole_chain = True
    return call


def _are_same(found: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether these are the very arguments that the finder has been given."""
    _, before, by_name = found
    return (
        len(args) == len(before)
        and len(kwargs) == len(by_name)
        and all(one is other for one, other in zip(args, before, strict=True))
        and all(name in by_name and by_name[name] is value for name, value in kwargs.items())
    )
