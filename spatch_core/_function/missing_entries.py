"""The slow path: calls for which a table has no entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .._classes import is_hashable_by_identity
from .._dispatch_arguments import given
from .._state.scope import store, table_of

if TYPE_CHECKING:
    from .._call.caller import Caller
    from .._dispatch_arguments import Function
    from .._state.scope import Scope
    from .._state.state_keeper import StateKeeper


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

    def ready(self, identifier: str) -> Caller | None: ...


def fill(dispatcher: Dispatcher, index: int, values: tuple[Any, ...]) -> Callable[..., Any]:
    """Find the callable for a call, and put it into the table; see `Dispatcher.fill`."""
    record = dispatcher.records[index - 1]
    function = record.function
    is_replacing = False
    if function.parameters is None:
        from .._signature.replaced_arguments import has_replaced  # few libraries need it

        is_replacing = has_replaced(values)
    caller = dispatcher.ready(record.identifier)
    if caller is None:
        # A backend calls the library while discovery imports it: no backend is known yet.
        default = function.default
        return _replacing(dispatcher, index, default) if is_replacing else default
    tables = dispatcher.keeper.get()
    # First the table, then the state: if another thread exchanges both in between, the
    # target found for the new state is stored in the old table, which is no longer read.
    table = table_of(tables, index)
    scope: Scope = tables[0]
    state = scope.state
    found = given(values[1:] if is_replacing else values)
    types = caller.resolver.types(found, state)
    # Read after the table: if the backends were replaced since `caller` was read, the table may
    # belong to the new ones, and must not get a target of the old ones.
    is_outdated = caller is not dispatcher.loaded
    key = tuple(map(type, values))
    if state.hook is not None:
        from .hook_entries import hooked_entry  # most programs have no hooks

        target, is_replacing = hooked_entry(
            *(dispatcher, index, caller, scope, types, key), is_replacing=is_replacing
        )
    elif is_outdated:
        target = caller.chain(function, state, types)
    else:
        if is_replacing and function.nature:
            # The wrapper does not check the answers of `Replacing`; the chain checks its own.
            target = caller.chain(function, state, types)
        else:
            target = caller.target(function, state, types)
    if is_replacing:
        target = _replacing(dispatcher, index, target)
    # A metaclass with its own == or hash could run code, or fail, in each look-up.
    if not is_outdated and all(map(is_hashable_by_identity, key)):
        scope.make_room(index, table)
        store(table, function, key, target)
    return target


def _replacing(
    dispatcher: Dispatcher, index: int, target: Callable[..., Any]
) -> Callable[..., Any]:
    from .replacing import Replacing  # few libraries need it

    made: Any = Replacing(dispatcher, index, target)
    return made  # type: ignore[no-any-return]  # a `TakesFound`
