"""Calls of a library with a protocol of its own: the methods of overriding types are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._classes import defined
from .._dispatch_arguments import COROUTINE, Function
from .._resolution.overriding_types import GenericMethod
from .._resolution.protocol_resolver import AfterOverridingResolver, OverridingResolver
from .._state import DispatchState, Scope
from . import coroutine_answers
from .caller import Caller
from .entry_chain import EntryChain
from .table_entries import tries_whole_chain


class AfterOverriding:
    """Marks the key of a chain that begins after the overriding types."""


class OverridingCaller(Caller):
    """Makes the entries of the tables of a library with a protocol.

    Parameters
    ----------
    resolver : OverridingResolver
        Finds the candidates.
    after_overriding : AfterOverridingResolver
        Finds the candidates after the overriding types.
    defer_on : tuple of type, optional
        Classes of exceptions by which implementations defer.
    """

    def __init__(
        self,
        resolver: OverridingResolver,
        after_overriding: AfterOverridingResolver,
        defer_on: tuple[type[Exception], ...] = (),
    ) -> None:
        super().__init__(resolver, defer_on)
        self._protocol = resolver.protocol
        self._after_overriding = Caller(after_overriding, defer_on)

    def concerns_chain(self, function: Function, called: object, error: Exception) -> bool:
        """Whether the chain handles an exception of a table's entry; not one of a method."""
        return not hasattr(called, "_overrides") and super().concerns_chain(function, called, error)

    def check(self, function: Function, state: DispatchState, called: object, result: Any) -> Any:
        """Return the answer of a table's entry for a coroutine or generator function."""
        if hasattr(called, "_overrides"):
            return coroutine_answers.checked(function, self._protocol, result)
        return super().check(function, state, called, result)

    def go_on(
        self,
        index: int,
        function: Function,
        scope: Scope,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Call the candidates after the overriding types.

        Parameters
        ----------
        index : int
            The function's place in the tables.
        function : Function
            The library's function.
        scope : Scope
            The state in force.
        args, kwargs
            The arguments.
        """
        chains = scope.chains(index)  # before the backends are read; see `Scope.chains`
        found = function.extract(args, kwargs)
        types = self.resolver.types(found, scope.state)
        key = (*types, AfterOverriding)
        way = chains.get(key)
        if way is None:
            way = self._after_overriding.route(function, scope.state, types)
            chains.keep(key, way)
        return way.run(args, kwargs)

    def following(
        self, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> Callable[..., Any]:
        """Return a callable that calls the candidates after the overriding types."""
        way = self._after_overriding.route(function, state, types)
        if isinstance(way, EntryChain):
            target = way.target()
            if target is function.default or tries_whole_chain(target):
                return target
        run = way.run

        def call(*args: Any, **kwargs: Any) -> Any:
            return run(args, kwargs)

        return call


Follow = Callable[[], Callable[..., Any]]
"""Returns a callable that calls the candidates after the overriding types."""


def make_override(
    wrapper: Callable[..., Any],
    function: Function,
    classes: tuple[type, ...],
    protocol: str,
    follow: Follow,
) -> Callable[..., Any]:
    """Return a callable that calls the methods of classes until one answers.

    Parameters
    ----------
    wrapper : callable
        The decorated function, which is passed to the methods.
    function : Function
        The library's function.
    classes : tuple of type
        In the order in which their methods are called.
    protocol : str
        The name of the method.
    follow : callable
        Called on first use.
    """
    made: Any
    asked = [_ask(wrapper, cls, classes, protocol, function, follow) for cls in classes]
    if function.nature & COROUTINE:

        async def await_all(*args: Any, **kwargs: Any) -> Any:
            for ask in asked:
                result = ask(*args, **kwargs)
                if result is not NotImplemented:
                    result = await coroutine_answers.checked(function, protocol, result)
                if result is not NotImplemented:
                    return result
            return NotImplemented

        made = await_all
    elif len(asked) == 1:
        (made,) = asked
    else:

        def ask_all(*args: Any, **kwargs: Any) -> Any:
            for ask in asked:
                result = ask(*args, **kwargs)
                if result is not NotImplemented:
                    return result
            return NotImplemented

        made = ask_all
    # By identity, because a metaclass may define == and hash. The classes and the function live as
    # long as `made`.
    made._overrides = (id(function), *map(id, classes))
    return made  # type: ignore[no-any-return]  # a function


def _ask(
    wrapper: Callable[..., Any],
    cls: type,
    classes: tuple[type, ...],
    protocol: str,
    function: Function,
    follow: Follow,
) -> Callable[..., Any]:
    """Return a callable that calls the method of one class, or does the same as the mixin's."""
    method = defined(cls, protocol)
    if not isinstance(method, GenericMethod) or function.nature & COROUTINE:

        def ask(*args: Any, **kwargs: Any) -> Any:
            return getattr(cls, protocol)(wrapper, classes, args, kwargs)

        return ask
    # From here on, the same as the mixin's method, decided once for these classes.
    if not all(issubclass(cls, each) for each in classes):

        def decline(*args: Any, **kwargs: Any) -> Any:
            return NotImplemented

        return decline
    preserve = method.preserver(cls)
    following: Callable[..., Any] | None = None

    def go_on(*args: Any, **kwargs: Any) -> Any:
        nonlocal following
        if following is None:
            following = follow()
        result = following(*args, **kwargs)
        if type(result) is cls or result is NotImplemented:
            return result
        return preserve(result, args, kwargs)

    return go_on
