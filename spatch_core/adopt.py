"""Adopted functions: functions of other libraries, which have tables but no wrapper.

Their callers, such as NumPy through ``__array_function__``, pass the types of a call; these are
never extracted from the arguments. A function gets its place in the tables when it is first looked
up, so that adopting thousands of them costs little.
"""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ._call import Run, decision_of
from ._decide import RETURNED
from ._entries import entry_for, makes_whole_call
from ._errors import nearest
from ._function import Function, Parameter
from ._patterns import defined, is_derived, mro_of, split_identifier
from ._wrapper import PLAIN, missing

if TYPE_CHECKING:
    from ._function import Dispatcher

    Target = Callable[..., Any] | None
    Lookup = Callable[[Any, tuple[type, ...]], Target]


class ForeignProtocol:
    """A protocol, such as ``__array_function__``, through which another library calls the system.

    `attribute` is the name of its method, `served` the class from which classes have the method of
    the system, and `own` returns the other library's own class, whose method does not count.
    """

    __slots__ = ("_attribute", "_own", "_served")

    def __init__(self, attribute: str, served: type, own: Callable[[], Any]) -> None:
        self._attribute = attribute
        self._served = served
        self._own = own

    def is_overriding(self, cls: type) -> bool:
        """Whether a class has the protocol itself."""
        found = defined(cls, self._attribute)  # None also means that the class opts out
        return found is not None and found is not vars(self._own()).get(self._attribute)

    def is_served(self, cls: type) -> bool:
        """Whether this system gave the class the protocol."""
        return is_derived(cls, self._served)

    def others_may_answer(self, types: Iterable[type]) -> bool:
        """Whether one of these classes has the protocol, but not from this system."""
        return any(self.is_overriding(cls) and not self.is_served(cls) for cls in types)


def check_bases(cls: type, served: type, package: str, method: str) -> None:
    """Raise if the package's own class, whose method would answer, goes before that of a system."""
    for base in mro_of(cls):
        if base is served:
            return
        if base.__module__.partition(".")[0] == package and method in vars(base):
            name = f"{package}.{base.__qualname__}"
            raise TypeError(
                f"{cls.__qualname__} has the {method} of {name}, so that no backend is asked: "
                f"write {package}_functions(...) before {name} among its bases"
            )


class FlaggedParameter(Parameter):
    """A parameter whose argument a function writes into only if a flag, another argument, says so.

    Without the flag, it does not.
    """

    __slots__ = ("_counts_if", "_flag")

    def __init__(
        self, name: str, position: int | None, flag: Parameter, *, counts_if: bool
    ) -> None:
        super().__init__(name, position)
        self._flag = flag
        self._counts_if = counts_if

    def value(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the argument of a call if it is written into, else `missing`."""
        flag = self._flag.value(args, kwargs)
        counts = flag is not missing and bool(flag) is self._counts_if
        return super().value(args, kwargs) if counts else missing


class AdoptedFunction(Function):
    """A function that the library does not own.

    It has no dispatch arguments. Its default implementation, the function itself, runs only with
    arguments that a backend has converted: any others might be dispatched again, without end.
    Classes with the `protocol` may answer besides the backends; `mutated` are the parameters whose
    arguments it writes into.
    """

    is_adopted = True

    def __init__(
        self,
        identifier: str,
        function: Callable[..., Any],
        protocol: ForeignProtocol | None = None,
        mutated: Iterable[Parameter] = (),
    ) -> None:
        self.identifier = identifier
        self.default = self.wrapper = function
        self.nature = PLAIN
        self.parameters = ()
        self._finder = None
        self._protocol = protocol
        self.mutated = tuple(mutated)

    def counts(self, cls: type) -> bool:
        """Whether a type counts for all backends, because it has the protocol itself."""
        return self._protocol is not None and self._protocol.is_overriding(cls)

    def others_may_answer(self, types: Iterable[type]) -> bool:
        """Whether a type of the call that the library does not serve may answer instead."""
        return self._protocol is not None and self._protocol.others_may_answer(types)


class Adoption:
    """The adopted functions of a library.

    The key of a function is its identity, the function itself, or another object by which a
    namespace knows it. A namespace, such as `protocols.array_function.NumPyNamespace`, adopts each
    of its functions when it is first looked up.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self._adding = RLock()
        # Indices in the tables, by key. Read without a lock, so an index is written only after the
        # function has its place.
        self.indices: dict[Any, int] = {}
        # The functions that the library has adopted one by one, and their identities.
        self.names: dict[Any, str] = {}
        self.functions: dict[str, Any] = {}
        self.namespaces: list[Any] = []
        self.protocols: dict[str, type] = {}  # the classes that `protocols` has made, by package
        self.lookup, _ = self.lookup_in(self.namespaces)

    def lookup_in(self, namespaces: Sequence[Any]) -> tuple[Lookup, Callable[..., Any]]:
        """Return what a protocol calls: the look-up of a callable, and the rest of a call.

        The look-up takes a key and a tuple of types, and returns a callable or None.
        """
        fill = partial(_fill, self, namespaces)
        tables, indices = self.dispatcher.keeper.get, self.indices

        def lookup(key: Any, types: tuple[type, ...], /) -> Any:
            try:
                return tables()[indices[key]][types]
            except Exception:  # noqa: BLE001  # no entry, or a metaclass failed: `fill` decides
                pass
            return fill(key, types)

        return lookup, partial(_go_on, self, namespaces)

    def adopt(self, function: Any, identity: str) -> None:
        """Adopt one function; see `BackendSystem.adopt`."""
        split_identifier(identity)
        if not callable(function):
            raise TypeError(f"adopt() takes a function, not {function!r}")
        index = self.indices.get(function)  # a namespace may have given it an identity
        known = self.dispatcher.functions[index - 1].identifier if index else identity
        known = self.names.get(function, known)
        if known != identity:
            raise ValueError(f"{function!r} is known as {known!r} already")
        other = self.functions.get(identity, function)
        if other is not function or identity in self.dispatcher.by_identifier:
            raise ValueError(f"{identity!r} is the identity of another function")
        self.functions[identity] = function
        self.names[function] = identity

    def protocol_class(
        self,
        name: str,
        make: Callable[[Lookup, Callable[..., Any]], type[Any]],
        namespace: Callable[[type[Any]], Any],
    ) -> type[Any]:
        """Return the class of the protocol of a package, made on first use."""
        if name not in self.protocols:
            # Its own namespace alone: those of other protocols might claim its functions.
            own: list[Any] = []
            made = make(*self.lookup_in(own))
            own.append(namespace(made))
            # If several threads make the class, the first one's stays.
            if self.protocols.setdefault(name, made) is made:
                self.namespaces.extend(own)
        return self.protocols[name]

    def find(self, key: Any, namespaces: Sequence[Any] | None = None) -> AdoptedFunction | None:
        """Return a function, made on first use; searches the given namespaces."""
        index = self.indices.get(key)
        if index is None:
            asked = self.namespaces if namespaces is None else namespaces
            with self._adding:
                index = self._add(key, asked)
        found: Any = None if index is None else self.dispatcher.functions[index - 1]
        return found  # type: ignore[no-any-return]

    def _add(self, key: Any, namespaces: Sequence[Any]) -> int | None:
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
            self.dispatcher.place(function)
            index = function.index
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


def _fill(
    adoption: Adoption, namespaces: Sequence[Any], key: Any, types: tuple[type, ...], /
) -> Target:
    """Find the callable for these types, and put it into the table."""
    types = _checked(types)
    function = adoption.find(key, namespaces)
    if function is None:
        if not isinstance(key, str):
            return None
        from .exceptions import UnknownFunctionError

        identities = [each for each in adoption.indices if isinstance(each, str)]
        raise UnknownFunctionError(key, nearest(key, [*adoption.functions, *identities]))
    backends = adoption.dispatcher.ready()
    if backends is None:
        return None  # discovery runs in this thread, and imports a backend that calls this
    return entry_for(function, backends, _given(types), types)


def _go_on(
    adoption: Adoption,
    namespaces: Sequence[Any],
    key: Any,
    types: tuple[type, ...],
    called: Target,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call the rest after `called` returned ``NotImplemented``; all candidates if it is None."""
    function = adoption.find(key, namespaces)
    if function is None:
        if any(each.others_may_answer(key, types) for each in namespaces):
            return NotImplemented
        raise TypeError(
            f"{key!r} has no identity by which backends could implement it: "
            "system.adopt(function, 'module:name') gives it one"
        )
    if adoption.dispatcher.loaded is None:
        return NotImplemented
    decision = decision_of(function, _given(types))
    run = Run(decision, args, kwargs)
    if called is None:
        result = run.call()
    else:
        candidates, step = decision.candidates, decision.candidate_of(called)
        if makes_whole_call(called):
            if len(candidates) != 1 or not candidates[0].is_plain:
                return NotImplemented  # a type outside of the library may answer
            step = candidates[0]  # the single candidate has passed `NotImplemented` on
        result = run.answer(step, RETURNED)
    return run.end() if result is NotImplemented else result


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


def _given(types: tuple[type, ...]) -> list[type]:
    """Return the types that count: that of None does not."""
    return [each for each in types if each is not type(None)]
