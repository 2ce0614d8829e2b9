"""Calls of adopted functions: the slow path of a look-up, and the rest after NotImplemented."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .._classes import is_hashable_by_identity
from .._state import table_of

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._call.caller import Caller
    from .._resolution.adopted_function import AdoptedFunction
    from .._state import Scope, StateKeeper

    Target: TypeAlias = Callable[..., Any] | None


class Adopted(Protocol):
    """The part of an adopted function's record that its calls need."""

    identifier: str
    adopted: AdoptedFunction


class Dispatcher(Protocol):
    """The part of `Dispatcher` that adopted functions need."""

    keeper: StateKeeper

    @property
    def loaded(self) -> Caller | None: ...

    @property
    def records(self) -> Sequence[Any]: ...

    def ready(self) -> Caller | None: ...


class Adoption(Protocol):
    """The part of `Adoption` that calls need."""

    functions: dict[str, Any]
    indices: dict[Any, int]

    @property
    def dispatcher(self) -> Dispatcher: ...

    def find(self, key: Any, namespaces: Any) -> Adopted | None: ...


def fill(adoption: Adoption, namespaces: Any, key: Any, types: tuple[type, ...], /) -> Target:
    """Find the callable for these types, and put it into the table.

    Raises
    ------
    UnknownFunctionError
        A `KeyError`: there is no function of this identity.
    TypeError
        If `types` are not classes.
    """
    types = _checked(types)
    record = adoption.find(key, namespaces)
    if record is None:
        if not isinstance(key, str):
            return None
        from .._identifiers import nearest
        from .._reporting.unknown_names import UnknownFunctionError

        identities = [each for each in adoption.indices if isinstance(each, str)]
        raise UnknownFunctionError(key, nearest(key, [*adoption.functions, *identities]))
    dispatcher, function = adoption.dispatcher, record.adopted
    index = adoption.indices[function.identifier]
    caller = dispatcher.ready()
    if caller is None:
        return None  # discovery runs in this thread, and imports a backend that calls this
    # See `missing_entries` for the order of these.
    tables = dispatcher.keeper.get()
    table = table_of(tables, index)
    scope: Scope = tables[0]
    found = _unique(caller, types, scope)
    is_outdated = caller is not dispatcher.loaded
    target: Target
    if scope.state.hook is not None:
        from .hook_entries import hooked_entry  # most programs have no hooks

        target, is_kept = hooked_entry(dispatcher, index, caller, scope, found, ()), True
    else:
        from .._call.adopted_entries import adopted_target  # not needed when a library is imported

        target, is_kept = adopted_target(caller, function, scope.state, found)
    if is_kept and not is_outdated and all(map(is_hashable_by_identity, types)):
        scope.make_room(index, table)
        table[types] = target
        if len(types) == 1:
            table[types[0]] = target  # for operators; see `protocols.array_function`
    return target


def go_on(
    adoption: Adoption,
    namespaces: Any,
    key: Any,
    types: tuple[type, ...],
    called: Target,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call the rest after `called` returned ``NotImplemented``; all candidates if it is None.

    Raises
    ------
    NoImplementationError
        If no candidate answers, and no type outside of the library may.
    """
    record, dispatcher = adoption.find(key, namespaces), adoption.dispatcher
    caller = dispatcher.loaded
    if record is None:
        if any(each.others_may_answer(key, types) for each in namespaces):
            return NotImplemented
        raise TypeError(
            f"{key!r} has no identity by which backends could implement it: "
            "system.adopt(function, 'module:name') gives it one"
        )
    if caller is None:
        return NotImplemented
    scope: Scope = dispatcher.keeper.get()[0]
    # First the chains, then the backends; see `Results`.
    chains = scope.chains(adoption.indices[record.identifier])
    caller = dispatcher.loaded or caller
    found = _unique(caller, types, scope)
    chain = chains.get(found)
    if chain is None:
        chain = caller.chain(record.adopted, scope.state, found, may_pass=False)
        chains.keep(found, chain)
    if called is None:
        return chain.run(args, kwargs)
    if caller.tries_whole_chain(called):
        if len(chain.candidates) != 1 or not chain.candidates[0].is_plain:
            return NotImplemented  # a type outside of the library may answer
        # The single candidate has passed `NotImplemented` on. The end decides, and the candidate is
        # not called again.
        return chain.after(chain.candidates[0].load()).run(args, kwargs)
    return chain.after(called).run(args, kwargs)


def _checked(types: Any) -> tuple[type, ...]:
    # NEP 18 lets a class pass any collection to `super()`. An enumeration class is a collection.
    is_several = isinstance(types, Collection) and not isinstance(types, type)
    found: Any = types if is_several else (types,)
    wrong = [each for each in found if not isinstance(each, type)]
    if wrong or found is not types:
        raise TypeError(
            "lookup() takes the classes of the call in a tuple, "
            f"e.g. (float,), not {wrong[0] if wrong else types!r}"
        )
    return tuple(found)


def _unique(caller: Caller, types: tuple[type, ...], scope: Scope) -> tuple[type, ...]:
    """Return the unique types without that of None, and the state's type: rules M1 and M2."""
    given = [each for each in types if each is not type(None)]
    return caller.resolver.unique_types(given, scope.state)
