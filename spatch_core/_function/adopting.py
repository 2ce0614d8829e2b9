"""Puts functions that the library does not own into its tables; imported where there are any.

A function gets its place in the tables when it is first looked up, so that adopting thousands of
them costs little.
"""

from __future__ import annotations

from .._adopted import AdoptedFunction
from .._classes import is_hashable_by_identity
from .._identifiers import split_identifier
from .._locks import Turn
from .._state.scope import table_of
from .lookup import Lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any, Protocol, TypeAlias

    from .._call.caller import Caller
    from .._dispatch_arguments import Function
    from .._state.scope import Scope
    from .dispatcher import Dispatcher
    from .shortcut import Shortcut

    Target: TypeAlias = Callable[..., Any] | None

    class Namespace(Protocol):
        """Functions that are adopted together, each when it is first looked up."""

        def find(self, key: Any, adoption: Adoption) -> tuple[Any, AdoptedFunction] | None:
            """Return a function and what else it is looked up by, for either of its keys."""


class Adopted:
    """The record of an adopted function: it has a place in the tables, and no wrapper.

    It has nothing that is generated, and so its docstring stays as it is.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher.
    function : AdoptedFunction
        The function.
    """

    def __init__(self, dispatcher: Dispatcher, function: AdoptedFunction) -> None:
        self.dispatcher = dispatcher
        self.identifier = function.identifier
        self.function: Function = function
        self.adopted = function
        # Nothing takes the place of the function, so there is nothing to take a shortcut.
        self.shortcut: Shortcut | None = None
        self.code: CodeType | None = None
        self.wrapper: Any = function.default


class Adoption:
    """The adopted functions of a library.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher.

    Attributes
    ----------
    lookup : callable
        Takes a key and a tuple of types; returns what to call, or None. A key is an identity, the
        function itself, or what a namespace knows it by.
    lookup_ufunc : callable
        The same for a ufunc, the name of its method, and the arguments of a call.
    names : dict
        The identities that the library has given one by one, by function.
    functions : dict of str to callable
        The same the other way round.
    namespaces : list of Namespace
        Functions that are adopted together.
    protocols : dict of str to type
        The classes that `spatch_core.protocols` has made.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._adding = Turn()
        # By key; written after the record has its place, and read without a lock.
        self._indices: dict[Any, int] = {}
        found = Lookup(dispatcher.variable, self._indices, self.fill)
        self.lookup: Callable[[Any, tuple[type, ...]], Target] = found.find
        self.lookup_ufunc: Callable[[Any, str, Any, Any], Target] = found.find_ufunc
        self.names: dict[Any, str] = {}
        self.functions: dict[str, Any] = {}
        self.namespaces: list[Namespace] = []
        self.protocols: dict[str, type] = {}

    def adopt(self, function: Any, identity: str) -> None:
        """Adopt one function; see `BackendSystem.adopt`."""
        split_identifier(identity)
        if not callable(function):
            raise TypeError(f"adopt() takes a function, not {function!r}")
        known = self.names.get(function, identity)
        if known != identity:
            raise ValueError(f"{function!r} was adopted as {known!r} before")
        other = self.functions.get(identity, function)
        if other is not function or identity in self._dispatcher.by_identifier:
            raise ValueError(f"{identity!r} is the identity of another function")
        index = self._indices.get(function)
        if index is not None and self._dispatcher.records[index - 1].identifier != identity:
            known = self._dispatcher.records[index - 1].identifier
            raise ValueError(f"{function!r} is known as {known!r} already")
        self.functions[identity] = function
        self.names[function] = identity

    def protocol_class(
        self,
        name: str,
        make: Callable[[Adoption], type[Any]],
        namespace: Callable[[type[Any]], Namespace],
    ) -> type[Any]:
        """Return the class of a protocol, which is made when it is first asked for.

        Parameters
        ----------
        name : str
            The package that the protocol is of.
        make : callable
            Returns the class.
        namespace : callable
            Takes the class; returns the functions of that package.
        """
        if name not in self.protocols:
            made = make(self)
            # Of several threads that make one, the first one's stays.
            if self.protocols.setdefault(name, made) is made:
                self.namespaces.append(namespace(made))
        return self.protocols[name]

    def find(self, key: Any) -> Adopted | None:
        """Return the record of a function, which is made when it is first asked for."""
        index = self._indices.get(key)
        if index is None:
            index = self._adding.run(lambda: self._add(key))
        found: Any = None if index is None else self._dispatcher.records[index - 1]
        return found  # type: ignore[no-any-return]

    def _add(self, key: Any) -> int | None:
        for namespace in self.namespaces:
            found = namespace.find(key, self)
            if found is not None:
                break
        else:
            named = key if isinstance(key, str) else self.names.get(key)
            if named not in self.functions:
                return None
            other = self.functions[named]
            found = other, AdoptedFunction(named, other)
        other, function = found
        index = self._indices.get(function.identifier)
        if index is None:
            index = self._dispatcher.place(Adopted(self._dispatcher, function))
        self._indices[function.identifier] = self._indices[other] = index
        return index

    def fill(self, key: Any, types: tuple[type, ...]) -> Target:
        """Decide what to call for these types, and put it into the table.

        Raises
        ------
        UnknownFunctionError
            A `KeyError`: there is no function of this identity.
        TypeError
            If `types` are not classes.
        """
        types = _checked(types)
        record = self.find(key)
        if record is None:
            if not isinstance(key, str):
                return None
            from .._identifiers import nearest
            from ..exceptions import UnknownFunctionError

            raise UnknownFunctionError(key, nearest(key, [*self.functions, *self._identities()]))
        dispatcher, function = self._dispatcher, record.adopted
        index = self._indices[function.identifier]
        caller = dispatcher.ready(function.identifier)
        if caller is None:
            return None  # a backend comes here while discovery imports it
        # See `Dispatcher.fill` for the order of these.
        tables = dispatcher.keeper.get()
        table = table_of(tables, index)
        scope: Scope = tables[0]
        found = _unique(caller, types, scope)
        is_outdated = caller is not dispatcher.loaded
        target: Target
        if scope.state.hook is not None:
            from .hook_entries import hooked_entry  # most programs have no hooks

            hooked = hooked_entry(dispatcher, index, caller, scope, found, (), is_replacing=False)
            target, is_kept = hooked[0], True
        else:
            from .._call.adopted import adopted_target  # not needed when a library is imported

            target, is_kept = adopted_target(caller, function, scope.state, found)
        if is_kept and not is_outdated and all(map(is_hashable_by_identity, types)):
            scope.make_room(index, table)
            table[types] = target
            if len(types) == 1:
                table[types[0]] = target  # for the look-up in C
        return target

    def _identities(self) -> list[str]:
        return [key for key in self._indices if isinstance(key, str)]

    def go_on(
        self,
        key: Any,
        types: tuple[type, ...],
        called: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Go on with a call after `called` returned ``NotImplemented``; None: nothing was called.

        Raises
        ------
        NoImplementationError
            If nothing else answers, and nothing outside of the library may.
        """
        record, dispatcher = self.find(key), self._dispatcher
        caller = dispatcher.loaded
        if record is None:
            raise TypeError(
                f"{key!r} has no identity by which backends could implement it: "
                "system.adopt(function, 'module:name') gives it one"
            )
        if caller is None:
            return NotImplemented
        if called is not None and caller.tries_whole_chain(called):
            return NotImplemented
        scope: Scope = dispatcher.keeper.get()[0]
        # First the chains, then the backends; see `Dispatcher._chain`.
        chains = scope.chains(self._indices[record.identifier])
        caller = dispatcher.loaded or caller
        found = _unique(caller, types, scope)
        chain = chains.get(found)
        if chain is None:
            chain = caller.chain(record.function, scope.state, found)
            chains.keep(found, chain)
        return (chain if called is None else chain.after(called)).run(args, kwargs)


def adoption_of(dispatcher: Dispatcher) -> Adoption:
    """Return the adopted functions of a library."""
    if not dispatcher.adoptions:
        # Of several threads that make one, the first one's stays.
        dispatcher.adoptions.append(Adoption(dispatcher))
    found: Adoption = dispatcher.adoptions[0]
    return found


def _checked(types: Any) -> tuple[type, ...]:
    found = types if isinstance(types, (tuple, list)) else (types,)
    wrong = [each for each in found if not isinstance(each, type)]
    if wrong or found is not types:
        raise TypeError(
            "lookup() takes the classes of the call in a tuple, "
            f"e.g. (float,), not {wrong[0] if wrong else types!r}"
        )
    return tuple(found)


def _unique(caller: Caller, types: tuple[type, ...], scope: Scope) -> tuple[type, ...]:
    """Return the dispatch types: as M1 and M2 say."""
    given = [each for each in types if each is not type(None)]
    return caller.resolver.unique_types(given, scope.state)
