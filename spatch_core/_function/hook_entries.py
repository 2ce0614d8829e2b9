"""Lets hooks see the calls of a library's functions; imported where a hook is in force."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .._call.hooked import Hooked, as_entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._call.caller import Caller
    from .._state import DispatchState, Scope


def hooked_entry(
    dispatcher: Any,
    index: int,
    caller: Caller,
    scope: Scope,
    types: tuple[type, ...],
    key: tuple[type, ...],
) -> Callable[..., Any]:
    """Return the entry of a table with hooks.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher.
    index : int
        The function's place in the tables.
    caller : Caller
        The caller of the backends.
    scope : Scope
        The state in force.
    types : tuple of type
        The dispatch types.
    key : tuple of type
        The classes of all dispatch arguments, including None and `missing`.
    """
    record, state = dispatcher.records[index - 1], scope.state
    route = partial(caller.route, record.function, state)
    hooked = Hooked(
        *(caller.resolver, scope, state, record.function, lambda: record.wrapper),
        *(route, types, key),
    )
    return as_entry(hooked)


def hooked_invocation(
    record: Any, caller: Caller, state: DispatchState, route: Any, call: tuple[Any, ...]
) -> Any:
    """Make a call through `invoke` that hooks see.

    Parameters
    ----------
    record : Dispatchable
        The function.
    caller : Caller
        The caller of the backends.
    state : DispatchState
        The state in force, with the ``type`` of `invoke` if there is one.
    route : callable
        Takes dispatch types; returns the chain of the call.
    call : tuple
        The dispatch types, the dispatch arguments, and the arguments of the call.
    """
    function = record.function
    types, found, args, kwargs = call
    key = () if function.parameters is None else tuple(map(type, function.values(args, kwargs)))
    scope: Scope = caller.resolver.keeper.get()[0]
    hooked = Hooked(
        *(caller.resolver, scope, state, function, lambda: record.wrapper, route, types, key)
    )
    return hooked.call_found(found, *args, **kwargs)
