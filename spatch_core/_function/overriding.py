"""Lets types override the functions of a library by its protocol; imported for such libraries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .._call.protocol_calls import OverridingCaller, make_override
from .._resolution.protocol_resolver import AfterOverridingResolver, OverridingResolver

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._discovery.catalog import Catalog
    from .._dispatch_arguments import Function
    from .._state import DispatchState, Scope
    from .dispatcher import Dispatcher


def make_caller(
    dispatcher: Dispatcher,
    catalog: Catalog,
    protocol: str,
    fallback: str,
    notify: Callable[[str, str], None] | None,
    defer_on: tuple[type[Exception], ...],
) -> OverridingCaller:
    """Return the caller of a library with a protocol: for backends and overriding types."""

    def override(
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        classes: tuple[type, ...],
    ) -> Callable[..., Any]:
        wrapper = _wrapper_of(dispatcher, function)
        follow = partial(caller.following, function, state, types)
        return make_override(wrapper, function, classes, protocol, follow)

    known = catalog, dispatcher.keeper, fallback, notify
    resolver = OverridingResolver(protocol, override, *known)
    caller = OverridingCaller(resolver, AfterOverridingResolver(protocol, *known), defer_on)
    return caller


def _wrapper_of(dispatcher: Dispatcher, function: Function) -> Any:
    record = dispatcher.by_identifier.get(function.identifier)
    if record is None or record.function is not function:
        # Another function has taken its identity.
        record = next(each for each in dispatcher.records if each.function is function)
    return record.wrapper


def go_on(
    dispatcher: Dispatcher, wrapper: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call the candidates after the overriding types; for the method of the library's mixin.

    Raises
    ------
    TypeError
        If `wrapper` is no function of the library.
    """
    record: Any = getattr(getattr(wrapper, "explain", None), "__self__", None)
    if getattr(record, "dispatcher", None) is not dispatcher:
        raise TypeError(f"{wrapper!r} is no dispatchable function of this library")
    caller: Any = dispatcher.ensure_loaded()
    scope: Scope = dispatcher.keeper.get()[0]
    return caller.go_on(record.index, record.function, scope, args, kwargs)
