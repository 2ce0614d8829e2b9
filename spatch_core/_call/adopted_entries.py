"""The table entries of adopted functions, of which the library has no implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .changing_candidates import Guard
from .table_entries import as_function, tries_whole_chain

if TYPE_CHECKING:
    from .._resolution.adopted_function import AdoptedFunction
    from .._state import DispatchState
    from .caller import Caller
    from .entry_chain import EntryChain


def adopted_target(
    caller: Caller, function: AdoptedFunction, state: DispatchState, types: tuple[type, ...]
) -> tuple[Callable[..., Any] | None, bool]:
    """Return the callable for these types, and whether it may be cached.

    ================================================  ===========================================
    the candidates                                    the callable
    ================================================  ===========================================
    none                                              None; cached unless there may be some later
    may change, or are recorded, or may defer by      the `Guard` or the `Chain`
    exceptions
    one, without ``should_run``                       its implementation
    several, the first without ``should_run``         a function that goes on if it defers
    begin with one that has ``should_run``, or takes  a generated function (`make_first_call`)
    a context
    ================================================  ===========================================

    If a single candidate without ``should_run`` returns ``NotImplemented``, the caller gets it.
    """
    way = caller.route(function, state, types)
    if isinstance(way, Guard):
        has_some = bool(way.current().candidates)
        return (as_function(way, function), True) if has_some else (None, False)
    if not way.candidates:
        return None, True
    if way.defer_on:
        return as_function(way, function), True
    target = way.target()
    if len(way.candidates) == 1 or tries_whole_chain(target):
        return target, True
    return _going_on(target, way), True


def _going_on(first: Callable[..., Any], chain: EntryChain) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = first(*args, **kwargs)
        if result is NotImplemented:
            return chain.after(first).run(args, kwargs)
        return result

    made: Any = call
    made._tries_whole_chain = True
    return call
