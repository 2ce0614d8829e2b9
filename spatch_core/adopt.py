"""Adopted functions: functions of other libraries, which have tables but no wrapper.

Their callers, such as NumPy through ``__array_function__``, pass the types of a call; these are
never extracted from the arguments. A function gets its place in the tables when it is first looked
up, so that adopting thousands of them costs little.
"""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ._call import Chain
from ._entries import Guard, as_function, tries_whole_chain
from ._errors import nearest
from ._parameters import PLAIN, Function
from ._patterns import DEFAULT, is_hashable_by_identity, split_identifier
from ._state import Scope, table_of

if TYPE_CHECKING:
    from ._dispatcher import Dispatcher
    from ._entries import Calls
    from ._parameters import Parameter

    Target = Callable[..., Any] | None

CALL = "__call__"
"""The method of a ufunc that a plain call of it names."""


class ForeignProtocol:
    """A protocol, such as ``__array_function__``, through which other libraries call the system.

    In this base class, no class has the protocol, so that only backends may answer.
    """

    __slots__ = ()

    def is_overriding(self, cls: type) -> bool:
        """Whether a class has the protocol itself."""
        return False

    def is_served(self, cls: type) -> bool:
        """Whether this system gave the class the protocol."""
        return True

    def others_may_answer(self, types: Iterable[type]) -> bool:
        """Whether one of these classes has the protocol, but not from this system."""
        return any(self.is_overriding(cls) and not self.is_served(cls) for cls in types)


class AdoptedFunction(Function):
    """A function that the library does not own.

    It has no dispatch arguments. Its default implementation, the function itself, runs only with
    arguments that a backend has converted: any others might be dispatched again, without end.

    Parameters
    ----------
    identifier : str
        The identity that the library gives it.
    function : callable
        The function.
    protocol : ForeignProtocol, optional
        The protocol whose classes may answer calls besides the backends of the library.
    mutated : iterable of Parameter, optional
        The parameters whose arguments it writes into.
    """

    __slots__ = ("_protocol",)

    is_adopted = True

    def __init__(
        self,
        identifier: str,
        function: Callable[..., Any],
        protocol: ForeignProtocol | None = None,
        mutated: Iterable[Parameter] = (),
    ) -> None:
        self.identifier = identifier
        self.default = function
        self.default_name = DEFAULT
        self.traits = None
        self.nature = PLAIN
        self.parameters = ()
        self._finder = None
        self._protocol = protocol
        if mutated:
            from ._traits import Traits  # few functions need one

            self.traits = Traits()
            self.traits.mutated = tuple(mutated)

    def counts(self, cls: type) -> bool:
        """Whether a type counts for all backends, because it has the protocol itself."""
        return self._protocol is not None and self._protocol.is_overriding(cls)

    def others_may_answer(self, types: Iterable[type]) -> bool:
        """Whether a type of the call that the library does not serve may answer instead."""
        return self._protocol is not None and self._protocol.others_may_answer(types)


class Namespace(Protocol):
    """Functions that are adopted together, each when it is first looked up."""

    def find(self, key: Any, adoption: Adoption) -> tuple[Any, AdoptedFunction] | None:
        """Return the object that a protocol passes for a function, and the function.

        `key` is that object or the function's identity. None if it is unknown.
        """

    def others_may_answer(self, key: Any, types: tuple[type, ...]) -> bool:
        """Whether a type that is not served may answer a call of an unknown function."""
        ...


class Adopted:
    """The record of an adopted function: it has a place in the tables, and no wrapper."""

    def __init__(self, dispatcher: Dispatcher, function: AdoptedFunction) -> None:
        self.dispatcher = dispatcher
        self.identifier = function.identifier
        self.function = function
        self.wrapper: Any = function.default


class Adoption:
    """The adopted functions of a library.

    Attributes
    ----------
    lookup : callable
        Takes a key and a tuple of types; returns a callable, or None. A key is an identity, the
        function itself, or another object by which a namespace knows the function.
    indices : dict of object to int
        Indices in the tables, by key.
    names : dict
        The identities of functions that the library has adopted one by one, by function.
    functions : dict of str to callable
        These functions, by identity.
    namespaces : list of Namespace
        Functions that are adopted together.
    protocols : dict of str to type
        The classes that `spatch_core.protocols` has made.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self._adding = RLock()
        # Read without a lock, so an index is written only after its record has its place.
        self.indices: dict[Any, int] = {}
        self.names: dict[Any, str] = {}
        self.functions: dict[str, Any] = {}
        self.namespaces: list[Namespace] = []
        self.protocols: dict[str, type] = {}
        self.lookup = AdoptedLookup(self, self.namespaces).lookup

    def adopt(self, function: Any, identity: str) -> None:
        """Adopt one function; see `BackendSystem.adopt`."""
        split_identifier(identity)
        if not callable(function):
            raise TypeError(f"adopt() takes a function, not {function!r}")
        known = self.names.get(function, identity)
        if known != identity:
            raise ValueError(f"{function!r} was adopted as {known!r} before")
        other = self.functions.get(identity, function)
        if other is not function or identity in self.dispatcher.by_identifier:
            raise ValueError(f"{identity!r} is the identity of another function")
        index = self.indices.get(function)
        if index is not None and self.dispatcher.records[index - 1].identifier != identity:
            known = self.dispatcher.records[index - 1].identifier
            raise ValueError(f"{function!r} is known as {known!r} already")
        self.functions[identity] = function
        self.names[function] = identity

    def protocol_class(
        self,
        name: str,
        make: Callable[[AdoptedLookup], type[Any]],
        namespace: Callable[[type[Any]], Namespace],
    ) -> type[Any]:
        """Return the class of the protocol of a package, made on first use."""
        if name not in self.protocols:
            # Its own namespace alone: those of other protocols might claim its functions.
            own: list[Namespace] = []
            made = make(AdoptedLookup(self, own))
            own.append(namespace(made))
            # If several threads make the class, the first one's stays.
            if self.protocols.setdefault(name, made) is made:
                self.namespaces.extend(own)
        return self.protocols[name]

    def find(self, key: Any, namespaces: Sequence[Namespace] | None = None) -> Adopted | None:
        """Return the record of a function, made on first use; searches the given namespaces."""
        index = self.indices.get(key)
        if index is None:
            asked = self.namespaces if namespaces is None else namespaces
            with self._adding:
                index = self._add(key, asked)
        found: Any = None if index is None else self.dispatcher.records[index - 1]
        return found  # type: ignore[no-any-return]

    def _add(self, key: Any, namespaces: Sequence[Namespace]) -> int | None:
        for namespace in namespaces:
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
        # It may have a place already: by its other key, or by a thread that had the turn before.
        index = self.indices.get(function.identifier)
        if index is None:
            index = self.dispatcher.place(Adopted(self.dispatcher, function))
        self.indices[function.identifier] = self.indices[other] = index
        return index


class AdoptedLookup:
    """The callables that the class of a protocol uses.

    Attributes
    ----------
    lookup : callable
        Takes a key and a tuple of types; returns a callable, or None.
    lookup_ufunc : callable
        The same for a ufunc, the name of its method, and the arguments of a call.
    tables : callable
        Returns the tables in force.
    indices : dict of object to int
        Indices in the tables, by key.
    go_on : callable
        Calls the rest after ``NotImplemented``.
    """

    def __init__(self, adoption: Adoption, namespaces: Sequence[Namespace]) -> None:
        fill = partial(_fill, adoption, namespaces)
        tables, indices = adoption.dispatcher.variable.get, adoption.indices
        type_of, call = type, CALL

        def find(key: Any, types: tuple[type, ...], /) -> Any:
            try:
                return tables()[indices[key]][types]
            except Exception:  # noqa: BLE001  # no entry, or a metaclass failed: `fill` decides
                pass
            return fill(key, types)

        def find_ufunc(
            ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any], /
        ) -> Any:
            if kwargs or method != call:
                return find(*call_of_ufunc(ufunc, method, inputs, kwargs))
            return find(ufunc, tuple(map(type_of, inputs)))

        self.lookup: Callable[[Any, tuple[type, ...]], Target] = find
        self.lookup_ufunc: Callable[[Any, str, Any, Any], Target] = find_ufunc
        self.tables: Callable[[], list[Any]] = tables
        self.indices = indices
        self.go_on: Callable[..., Any] = partial(_go_on, adoption, namespaces)


def adoption_of(system: Any) -> Adoption:
    """Return the adopted functions of a `BackendSystem`."""
    dispatcher: Dispatcher = system._dispatcher
    if not dispatcher.adoptions:
        # If several threads append one, item 0 counts.
        dispatcher.adoptions.append(Adoption(dispatcher))
    found: Adoption = dispatcher.adoptions[0]
    # Hides the method `lookup`, whose frame would cost time in each call.
    vars(system)["lookup"] = found.lookup
    return found


def call_of_ufunc(
    ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any], /
) -> tuple[Any, tuple[type, ...]]:
    """Return the key of a ufunc or of one of its methods, and the types of a call.

    The types are those of the positional arguments except indices, of ``out=`` and of ``where=``.
    """
    key = ufunc
    if method != CALL:
        key = ufunc, method
        if method in ("at", "reduceat"):
            inputs = (*inputs[:1], *inputs[2:])
    types = tuple(map(type, inputs))
    if kwargs:
        out = kwargs.get("out", ())
        types += tuple(map(type, out if isinstance(out, tuple) else (out,)))
        if "where" in kwargs:
            types += (type(kwargs["where"]),)
    return key, types


def _fill(
    adoption: Adoption, namespaces: Sequence[Namespace], key: Any, types: tuple[type, ...], /
) -> Target:
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
        from .exceptions import UnknownFunctionError

        identities = [each for each in adoption.indices if isinstance(each, str)]
        raise UnknownFunctionError(key, nearest(key, [*adoption.functions, *identities]))
    dispatcher = adoption.dispatcher
    index = adoption.indices[record.identifier]
    calls = dispatcher.ready()
    if calls is None:
        return None  # discovery runs in this thread, and imports a backend that calls this
    # See `Dispatcher.fill` for the order of these.
    tables = dispatcher.keeper.get()
    table = table_of(tables, index)
    scope: Scope = tables[0]
    found = _unique(calls, types, scope)
    is_outdated = calls is not dispatcher.loaded
    target: Target
    if scope.state.hook is not None:
        from ._hooked import hooked_entry  # most programs have no hooks

        target, is_kept = hooked_entry(dispatcher, index, scope, found, ()), True
    else:
        target, is_kept = _target(calls, record.function, scope, found)
    if is_kept and not is_outdated and all(map(is_hashable_by_identity, types)):
        scope.make_room(index, table)
        table[types] = target
        if len(types) == 1:
            table[types[0]] = target  # for operators; see `protocols.array_function`
    return target


def _target(
    calls: Calls, function: AdoptedFunction, scope: Scope, types: tuple[type, ...]
) -> tuple[Target, bool]:
    """Return the callable for these types, and whether it may be kept.

    A single candidate without ``should_run`` is called directly: if it returns ``NotImplemented``,
    the caller gets that.
    """
    way = calls.way(function, scope.state, types)
    if isinstance(way, Guard):
        has_some = bool(way.current().decision.candidates)
        return (as_function(way, function), True) if has_some else (None, False)
    candidates = way.decision.candidates
    if not candidates:
        return None, True
    if way.calls.defer_on or (way.is_bare and len(candidates) > 1):
        return as_function(way, function), True
    return calls.entry_of(way), True


def _go_on(
    adoption: Adoption,
    namespaces: Sequence[Namespace],
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
    calls = dispatcher.loaded
    if record is None:
        if any(each.others_may_answer(key, types) for each in namespaces):
            return NotImplemented
        raise TypeError(
            f"{key!r} has no identity by which backends could implement it: "
            "system.adopt(function, 'module:name') gives it one"
        )
    if calls is None:
        return NotImplemented
    scope: Scope = dispatcher.keeper.get()[0]
    # First the chains, then the backends; see `Dispatcher`.
    chains = scope.chains(adoption.indices[record.identifier])
    calls = dispatcher.loaded or calls
    found = _unique(calls, types, scope)
    chain: Chain | None = chains.get(found)
    if chain is None:
        chain = calls.chain(record.function, scope.state, found, passes=False)
        chains.keep(found, chain)
    if called is None:
        return chain.run(args, kwargs)
    candidates = chain.decision.candidates
    if tries_whole_chain(called):
        if len(candidates) != 1 or not candidates[0].is_plain:
            return NotImplemented  # a type outside of the library may answer
        # The single candidate has passed `NotImplemented` on. The end decides, and the candidate is
        # not called again.
        called = chain.decision.load(candidates[0])
    return chain.after(called, args, kwargs)


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


def _unique(calls: Calls, types: tuple[type, ...], scope: Scope) -> tuple[type, ...]:
    """Return the unique types without that of None, and the state's type: rule M1."""
    given = [each for each in types if each is not type(None)]
    return calls.decider.unique_types(given, scope.state)
