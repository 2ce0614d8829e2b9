"""The slow path: calls for which a table has no entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .._classes import is_hashable_by_identity
from .._dispatch_arguments import Function, TakesFound, given
from .._state import store, table_of

if TYPE_CHECKING:
    from .._call.caller import Caller
    from .._dispatch_arguments import Function
    from .._state import Scope, StateKeeper


class Record(Protocol):
    """The part of `Dispatchable` that filling its tables needs."""

    identifier: str
    function: Function


class Dispatcher(Protocol):
    """The part of `Dispatcher` that filling its tables needs."""

    keeper: StateKeeper

    @property
    def loaded(self) -> Caller | None: ...

    @property
    def records(self) -> Sequence[Record]: ...

    def ready(self) -> Caller | None: ...


def fill(dispatcher: Dispatcher, index: int, values: tuple[Any, ...]) -> Callable[..., Any]:
    """Find the callable for a call, and put it into the table; see `Dispatcher.fill`."""
    record = dispatcher.records[index - 1]
    function = record.function
    caller = dispatcher.ready()
    if caller is None:
        # A backend calls the library while discovery imports it: no backend is known yet.
        return without_like(dispatcher, index, function, function.default)
    tables = dispatcher.keeper.get()
    # First the table, then the state: if another thread exchanges both in between, the
    # target found for the new state is stored in the old table, which is no longer read.
    table = table_of(tables, index)
    scope: Scope = tables[0]
    state = scope.state
    found = given(values)
    types = caller.resolver.types(found, state)
    # Read after the table: if the backends were replaced since `caller` was read, the table may
    # belong to the new ones, and must not get a target of the old ones.
    is_outdated = caller is not dispatcher.loaded
    key = tuple(map(type, values))
    if state.hook is not None:
        from .hook_entries import hooked_entry  # most programs have no hooks

        target = hooked_entry(dispatcher, index, caller, scope, types, key)
    elif is_outdated:
        target = caller.chain(function, state, types)
    else:
        if function.has_like and function.nature:
            # The wrapper does not check the answers of `WithoutLike`; the chain checks its own.
            target = caller.chain(function, state, types)
        else:
            target = caller.target(function, state, types)
    if state.hook is None:  # hooks see the argument
        target = without_like(dispatcher, index, function, target)
    # A metaclass with its own == or hash could run code, or fail, in each look-up.
    if not is_outdated and all(map(is_hashable_by_identity, key)):
        scope.make_room(index, table)
        store(table, function, key, target)
    return target


def without_like(
    dispatcher: Dispatcher, index: int, function: Function, target: Callable[..., Any]
) -> Callable[..., Any]:
    """Return an entry that leaves the ``like`` argument out, if the function has one."""
    if not function.has_like:
        return target
    entry: Any = WithoutLike(dispatcher, index, function, target)
    return entry  # type: ignore[no-any-return]  # a `TakesFound`


class WithoutLike(TakesFound):
    """The entry of a table that leaves the ``like`` argument out of a call.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher.
    index : int
        The function's place in the tables.
    function : Function
        The function.
    target : callable
        The entry that the table would hold otherwise.
    """

    __slots__ = ("_dispatcher", "_function", "_index", "_target")

    def __init__(
        self, dispatcher: Any, index: int, function: Function, target: Callable[..., Any]
    ) -> None:
        self._dispatcher = dispatcher
        self._index = index
        self._function = function
        self._target = target

    def call_found(self, found: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        """Make a call without the ``like`` argument."""
        target: Any = self._target
        kwargs = self._function.without_like(kwargs)
        if isinstance(target, TakesFound):
            return target.call_found(found, *args, **kwargs)
        try:
            result = target(*args, **kwargs)
        except Exception as error:
            deferred = self._dispatcher.failed(self._index, target, args, kwargs, error, found)
            if deferred is None:
                raise
            target, result = deferred, NotImplemented
        if result is NotImplemented:
            return self._dispatcher.deferred(self._index, target, args, kwargs, found)
        return result
