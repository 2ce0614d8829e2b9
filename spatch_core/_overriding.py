"""Overriding types: classes with the method of a library's own protocol.

The protocol is that of NumPy's ``__array_function__`` and of PyTorch's ``__torch_function__``: a
class with the method takes the calls of the library's functions that it is an argument of. All
overriding types of a call together are one candidate, after the prioritized backends and before all
others. If it defers, the other candidates follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ._call import Chain, checked
from ._parameters import COROUTINE
from ._patterns import bases_of, defined, dict_of, is_derived, type_identifier

if TYPE_CHECKING:
    from ._decide import Decision
    from ._dispatcher import Dispatcher
    from ._entries import Calls


class GenericMethod(classmethod):  # type: ignore[type-arg]  # no subscript at run time
    """The method of a library's mixin, see `protocols.library`.

    A direct subclass of the mixin is the library's own base class. It does not override: calls
    with it alone cost no more than without a protocol. For other classes, the table holds a
    function that does the same as the method, which is not called.

    Attributes
    ----------
    preserver : callable
        Takes a class; returns a function of a result and the arguments of the call, which returns
        the result as an instance of the class.
    """

    preserver: Callable[[type], Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]]


def overriding_types(types: Iterable[type], protocol: str) -> tuple[type, ...]:
    """Return the classes that override, each before its superclasses, else from left to right.

    Raises
    ------
    TypeError
        If the method of a class is no class method.
    """
    found: list[type] = []
    for cls in types:
        if overrides(cls, protocol):
            # Before the first of its superclasses, else last, as NEP 18 says.
            place = len(found)
            for position, other in enumerate(found):
                if is_derived(cls, other):
                    place = position
                    break
            found.insert(place, cls)
    return tuple(found)


def overrides(cls: type, protocol: str) -> bool:
    """Whether a class has the method of a protocol; a class may disable it by None.

    Raises
    ------
    TypeError
        If the method is no class method.
    """
    method = defined(cls, protocol)
    if method is None:
        return False
    if isinstance(method, FunctionType):
        raise TypeError(
            f"{type_identifier(cls)} has a method {protocol} that is called without an instance: "
            f"write @classmethod above def {protocol}(cls, func, types, args, kwargs)"
        )
    if isinstance(method, GenericMethod):
        return not any(dict_of(base).get(protocol) is method for base in bases_of(cls))
    return True


def make_override(
    wrapper: Callable[..., Any],
    decision: Decision,
    classes: tuple[type, ...],
    protocol: str,
    following: Callable[[], Callable[..., Any]],
) -> Callable[..., Any]:
    """Return a callable that calls the methods of classes until one answers.

    Parameters
    ----------
    wrapper : callable
        The decorated function, which is passed to the methods.
    decision : Decision
        That of the call.
    classes : tuple of type
        In the order in which their methods are called.
    protocol : str
        The name of the method.
    following : callable
        Returns a callable that calls the candidates after the overriding types; called on first
        use.
    """
    function = decision.function
    is_coroutine = bool(function.nature & COROUTINE)
    asked = [_ask(wrapper, cls, classes, protocol, is_coroutine, following) for cls in classes]

    def ask_all(*args: Any, **kwargs: Any) -> Any:
        for ask in asked:
            result = ask(*args, **kwargs)
            if result is not NotImplemented:
                return checked(function, protocol, result)
        return NotImplemented

    made: Any = asked[0] if len(asked) == 1 else ask_all
    # By identity, because a metaclass may define == and hash. The classes and the function live as
    # long as `made`.
    made._overrides = (id(function), *map(id, classes))
    return made  # type: ignore[no-any-return]  # a function


def _ask(
    wrapper: Callable[..., Any],
    cls: type,
    classes: tuple[type, ...],
    protocol: str,
    is_coroutine: bool,
    following: Callable[[], Callable[..., Any]],
) -> Callable[..., Any]:
    """Return a callable that calls the method of one class, or does the same as the mixin's."""
    method = defined(cls, protocol)
    if not isinstance(method, GenericMethod) or is_coroutine:

        def ask(*args: Any, **kwargs: Any) -> Any:
            return getattr(cls, protocol)(wrapper, classes, args, kwargs)

        return ask
    # From here on, the same as the mixin's method, decided once for these classes.
    if not all(issubclass(cls, each) for each in classes):
        return lambda *args, **kwargs: NotImplemented
    preserve = method.preserver(cls)
    follow: Callable[..., Any] | None = None

    def go_on(*args: Any, **kwargs: Any) -> Any:
        nonlocal follow
        if follow is None:
            follow = following()
        result = follow(*args, **kwargs)
        if type(result) is cls or result is NotImplemented:
            return result
        return preserve(result, args, kwargs)

    return go_on


def following(calls: Calls, decision: Decision) -> Callable[..., Any]:
    """Return a callable that calls the candidates after the overriding types."""
    function = decision.function
    way = calls.way(function, decision.state, decision.types, after_overriding=True)
    if isinstance(way, Chain):
        entry = calls.entry_of(way)
        # A bare implementation may defer.
        if entry is function.default or not way.is_bare:
            return entry
    run = way.run
    return lambda *args, **kwargs: run(args, kwargs)


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
    calls: Calls = dispatcher.ensure_loaded()
    function, scope = record.function, dispatcher.keeper.get()[0]
    chains = scope.chains(record.index)  # before the backends are read; see `Scope.chains`
    types = calls.decider.unique_types(map(type, function.extract(args, kwargs)), scope.state)
    key = (*types, AfterOverriding)
    way = chains.get(key)
    if way is None:
        way = calls.way(function, scope.state, types, after_overriding=True)
        chains.keep(key, way)
    return way.run(args, kwargs)


class AfterOverriding:
    """Marks the key of a chain that begins after the overriding types."""
