"""Conversions: the default implementation runs with arguments that a backend has converted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any

from .._classes import is_importable, type_identifier
from .._dispatch_arguments import COROUTINE, Function
from .._identifiers import DEFAULT
from .._parameters import Parameter
from .._resolution.candidate import Candidate
from .._resolution.resolver import Resolver
from .._state import StateKeeper
from .converted_objects import name_of, size_of
from .nested_values import NO_LEAVES, Leaves
from .round_trip import ConversionListener, RoundTrip, Unconverted, converted

_OTHER, _LIBRARY, _FOREIGN = range(3)
"""Kinds of classes: their objects are left alone, are the library's, or are converted."""


class Conversion:
    """The conversions of one backend, for calls of one function.

    Parameters
    ----------
    candidate : Candidate
        The backend with its conversions.
    resolver : Resolver
        Knows the types of the library and of the backend.
    """

    __slots__ = ("_candidate", "_function", "_keeper", "_kinds", "_loaded", "_name", "_resolver")

    def __init__(self, candidate: Candidate, resolver: Resolver) -> None:
        self._candidate = candidate
        self._function: Function = candidate.function
        self._name = candidate.backend
        self._resolver = resolver
        self._keeper: StateKeeper = resolver.keeper
        self._loaded: tuple[Any, Any, Any] | None = None
        self._kinds: dict[type, int] = {}

    def _kind(self, cls: type) -> int:
        """Return the kind of a class."""
        # Other metaclasses may define == and hash.
        if type(cls) is type:
            kind = self._kinds.get(cls)
            if kind is not None:
                return kind
        match = self._resolver.matcher.match(cls)
        kind = _OTHER
        if not match.is_builtin:
            if DEFAULT in match.known:
                kind = _LIBRARY
            elif self._name in match.primary:
                kind = _FOREIGN
        # The cache must not keep alive a class that nothing else refers to.
        if type(cls) is type and is_importable(cls):
            self._kinds[cls] = kind
        return kind

    def _is_foreign(self, cls: type) -> bool:
        """Whether objects of a class are converted: a primary type, and not the library's."""
        return self._kind(cls) == _FOREIGN

    def _is_library(self, cls: type) -> bool:
        """Whether objects of a class are converted back."""
        return self._kind(cls) == _LIBRARY

    def _load(self) -> tuple[Any, Any, Any]:
        """Return the conversions, imported on first use."""
        loaded = self._loaded
        if loaded is None:
            loaded = self._loaded = self._candidate.load_conversions()
        return loaded

    def obstacle(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Return why the arguments of a call cannot be converted; empty if they may be."""
        conversions = self._candidate.conversions
        if self._function.traits is None or conversions is None:
            return ""
        if conversions.copy_into is None:
            for parameter, value in self._mutated(args, kwargs):
                if Leaves((value,), self._is_foreign).found:
                    name = parameter.name or f"argument {parameter.position}"
                    return f"the function writes into {name}, and the backend has no copy_into"
        return ""

    def text(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Return the arguments to convert, in words; empty if only the result is converted."""
        found = [*Leaves((*args, *kwargs.values()), self._is_foreign).found.values()]
        names: dict[str, int] = {}
        for each in found:
            names[type_identifier(type(each))] = names.get(type_identifier(type(each)), 0) + 1
        parts = [f"{count} argument{'s' * (count > 1)} of {name}" for name, count in names.items()]
        size = sum(filter(None, map(size_of, found)))
        return " and ".join(parts) + (f" ({size} bytes)" if size else "")

    def call(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], listener: ConversionListener
    ) -> Any:
        """Convert the arguments, call the default implementation, and convert its result.

        Raises
        ------
        Unconverted
            If the arguments cannot be converted; the default implementation has not run.
        """
        obstacle = self.obstacle(args, kwargs)
        if obstacle:
            raise Unconverted(obstacle)
        trip = self._round_trip((*args, *kwargs.values()), listener)
        new_args = tuple([trip.there(each) for each in args])
        new_kwargs = {name: trip.there(each) for name, each in kwargs.items()}
        written = None
        traits = self._function.traits
        if traits is not None and traits.mutated:
            values = [value for _, value in self._mutated(args, kwargs)]
            written = Leaves(values, self._is_foreign)

        def finish(result: Any) -> Any:
            try:
                return self._finished(result, trip, written, listener)
            except Unconverted as failure:
                raise listener.refusal(str(failure)) from None

        listener.called()
        default, keeper = self._function.default, self._keeper
        if self._function.nature & COROUTINE:
            return _awaited(keeper, default, new_args, new_kwargs, finish)
        state = keeper.current()
        if state.type is None:
            result = default(*new_args, **new_kwargs)
        else:
            scope, before = keeper.scope(state.replace(type=None)), keeper.get()
            keeper.put(scope)
            try:
                result = default(*new_args, **new_kwargs)
            finally:
                keeper.set(before)
        if type(result) is CoroutineType:
            coroutine = result
            return _awaited(keeper, lambda: coroutine, (), {}, finish)
        return finish(result)

    def _round_trip(self, roots: tuple[Any, ...], listener: ConversionListener) -> RoundTrip:
        """Convert the leaves of the arguments."""
        to_default, _, _ = self._load()
        leaves = Leaves(roots, self._is_foreign, self._is_library)
        made: dict[int, Any] = {}
        # By identity, the caller's object for an object of the result. The library's own objects
        # among the arguments stay themselves. `leaves` and `made` hold all objects, so that each
        # identity stays valid.
        back = {**leaves.noted}
        for key, value in leaves.found.items():
            new = converted(to_default, "to_default", value)
            if type(new) is type(value):
                name = name_of(value)
                raise Unconverted(f"to_default returned an object of {name}, as it was given")
            made[key] = new
            # Python may share objects of these classes, such as small integers: in a result, one
            # need not be this argument.
            if type(type(new)) is not type or type(new) not in NO_LEAVES:
                back[id(new)] = value
            listener.converted(value, new)
        return RoundTrip(leaves, made, back)

    def _finished(
        self, result: Any, trip: RoundTrip, written: Leaves | None, listener: ConversionListener
    ) -> Any:
        """Return the result of the default implementation for the caller."""
        if result is NotImplemented:
            return result
        if type(result) in (GeneratorType, AsyncGeneratorType):
            kind = "a" if type(result) is GeneratorType else "an asynchronous"
            raise Unconverted(f"its result is {kind} generator, whose items come later")
        _, from_default, copy_into = self._load()
        if written is not None:
            trip.write_back(written, self._is_library, from_default, copy_into, listener)
        return trip.back(result, self._is_library, from_default, listener)

    def _mutated(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> list[tuple[Parameter, Any]]:
        """Return those arguments of a call that the function writes into."""
        traits = self._function.traits
        found: list[tuple[Parameter, Any]] = []
        for each in () if traits is None else traits.mutated:
            if each.position is not None and each.position < len(args):
                found.append((each, args[each.position]))
            elif each.name is not None and each.name in kwargs:
                found.append((each, kwargs[each.name]))
        return found


async def _awaited(
    keeper: StateKeeper,
    default: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    finish: Callable[[Any], Any],
) -> Any:
    """Await the default implementation, with no ``type`` in force."""
    state = keeper.current()
    if state.type is None:
        return finish(await default(*args, **kwargs))
    scope, before = keeper.scope(state.replace(type=None)), keeper.get()
    keeper.put(scope)
    try:
        result = await default(*args, **kwargs)
    finally:
        keeper.set(before)
    return finish(result)
