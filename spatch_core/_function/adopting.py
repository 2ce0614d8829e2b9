"""Gives functions that the library does not own a place in its tables; imported on first use.

A function gets its place in the tables when it is first looked up, so that adopting thousands of
them costs little.
"""

from __future__ import annotations

from _thread import RLock
from functools import partial

from .._patterns import split_identifier
from .._resolution.adopted_function import AdoptedFunction
from .adopted_calls import fill, go_on
from .lookup import Lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from .._dispatch_arguments import Function
    from .adopted_calls import Target
    from .dispatcher import Dispatcher

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
    """The record of an adopted function: it has a place in the tables, and no wrapper.

    Nothing is generated for the function, and its docstring stays as it is.

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
        self.wrapper: Any = function.default


class AdoptedLookup:
    """The callables that the class of a protocol uses.

    Parameters
    ----------
    adoption : Adoption
        The adopted functions of the library.
    namespaces : sequence of Namespace
        The namespaces of the protocol. Those of other protocols might claim its functions.

    Attributes
    ----------
    lookup : callable
        Takes a key and a tuple of types; returns a callable, or None. A key is an identity, the
        function itself, or another object by which a namespace knows the function.
    lookup_ufunc : callable
        The same for a ufunc, the name of its method, and the arguments of a call.
    tables : callable
        Returns the tables in force.
    indices : dict of object to int
        Indices in the tables, by key.
    go_on : callable
        Calls the rest after ``NotImplemented``; see `adopted_calls.go_on`.
    """

    def __init__(self, adoption: Adoption, namespaces: Sequence[Namespace]) -> None:
        filling = partial(fill, adoption, namespaces)
        found = Lookup(adoption.dispatcher.variable, adoption.indices, filling)
        self.lookup: Callable[[Any, tuple[type, ...]], Target] = found.find
        self.lookup_ufunc: Callable[[Any, str, Any, Any], Target] = found.find_ufunc
        self.tables: Callable[[], list[Any]] = adoption.dispatcher.variable.get
        self.indices = adoption.indices
        self.go_on: Callable[..., Any] = partial(go_on, adoption, namespaces)


class Adoption:
    """The adopted functions of a library.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher.

    Attributes
    ----------
    lookup : callable
        See `AdoptedLookup`; searches all namespaces.
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
        """Return the class of a protocol, made on first use.

        Parameters
        ----------
        name : str
            The package that defines the protocol.
        make : callable
            Returns the class.
        namespace : callable
            Takes the class; returns the functions of that package.
        """
        if name not in self.protocols:
            own: list[Namespace] = []
            made = make(AdoptedLookup(self, own))
            own.append(namespace(made))
            # If several threads make the class, the first one's stays.
            if self.protocols.setdefault(name, made) is made:
                self.namespaces.extend(own)
        return self.protocols[name]

    def find(self, key: Any, namespaces: Sequence[Namespace] | None = None) -> Adopted | None:
        """Return the record of a function, made on first use.

        If `namespaces` are given, only these are searched.
        """
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
