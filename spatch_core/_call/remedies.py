"""Remedies: the options under which a refused call would run, for the text of the error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .._dispatch_arguments import Function
from .._resolution.candidate import Candidate
from .._resolution.fallback_policy import Ending
from .._resolution.matching import TypeMatch
from .._resolution.resolver import Resolver
from .._resolution.walk import Walk
from .._state import DispatchState
from .conversion import Conversion


class Remedies:
    """The remedies for refused calls of one function with the same types.

    Parameters
    ----------
    resolver : Resolver
        The library's.
    function : Function
        The library's function.
    state : DispatchState
        The state of the calls.
    types : tuple of type
        The dispatch types.
    ending : Ending
        How the calls end.
    """

    __slots__ = ("_call", "_ending", "_known", "_resolver", "_types")

    def __init__(
        self,
        resolver: Resolver,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        ending: Ending,
    ) -> None:
        self._resolver = resolver
        self._call = function, state
        self._types = types
        self._ending = ending
        # One tuple, so that other threads see a matching pair.
        self._known: tuple[list[TypeMatch], _TypeRemedies] | None = None

    def sentences(
        self,
        conversion_of: Callable[[Candidate], Conversion],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> tuple[str, ...]:
        """Return the remedies of one call, one sentence each.

        Parameters
        ----------
        conversion_of : callable
            Returns the conversions of a candidate.
        args, kwargs
            The arguments of the call.
        """
        # A part of the key: an import or a registration may change them.
        matches = [self._resolver.matcher.match(cls) for cls in self._types]
        known = self._known
        if known is None or known[0] != matches:
            known = self._known = matches, self._find()
        inactive, active, inactive_converters = known[1]
        found = [*inactive]
        for candidate in active:
            conversion = conversion_of(candidate)
            if not conversion.obstacle(args, kwargs):
                what = conversion.text(args, kwargs) or "the result"
                found.append(
                    f"with backend_opts(fallback='convert'), {candidate.backend} converts {what}, "
                    "and the library's own implementation runs, unless "
                    f"{candidate.backend} says that it cannot"
                )
        also = "" if self._ending.converts else ", fallback='convert'"
        for candidate in inactive_converters:
            if not conversion_of(candidate).obstacle(args, kwargs):
                name = candidate.backend
                found.append(f"with backend_opts(prioritize={name!r}{also}), {name} converts")
        if not self._ending.declined:
            found.append(
                "with backend_opts(fallback='default'), the library's own implementation runs "
                "with the arguments as they are"
            )
        return tuple(found)

    def _find(self) -> _TypeRemedies:
        """Find the remedies that depend on the types alone."""
        resolver, (function, state) = self._resolver, self._call
        inactive: list[str] = []
        for name in sorted(resolver.implementer_set(function)):
            why = _why_inactive(resolver, state, name)
            # With the backend active, a type may count that no active backend knows now.
            if why:
                walk = resolver.walk(function, _prioritizing(state, name), self._types)
                if walk.matches(name):
                    inactive.append(f"with backend_opts(prioritize={name!r}), {name} {why}")
        walk = resolver.walk(function, state, self._types)
        converters = resolver.converters
        active = [] if self._ending.converts else converters.candidates(function, state, walk)
        inactive_converters: list[Candidate] = []
        for name, candidate, _ in converters.judged(function, state, walk):
            if candidate is None:
                inactive_converters += _new_converter(resolver, function, state, walk, name)
        return _TypeRemedies(inactive, [*active], inactive_converters)


class _TypeRemedies(NamedTuple):
    """The remedies that do not depend on the arguments."""

    inactive: list[str]
    """The sentences for inactive backends that implement the function."""
    active: list[Candidate]
    """The conversions that another policy would let answer."""
    inactive_converters: list[Candidate]
    """The conversions that would answer if their backends were prioritized."""


def _why_inactive(resolver: Resolver, state: DispatchState, name: str) -> str:
    """Return the effect of prioritizing a backend; empty if it is active, or cannot be."""
    description = resolver.catalog.descriptions[name]
    if description.unmet:
        return ""
    if name in state.disabled:
        return "takes part again (it is disabled here)"
    opts_in = description.requires_opt_in and name not in state.prioritized
    return "takes part (it requires opt-in)" if opts_in else ""


def _new_converter(
    resolver: Resolver, function: Function, state: DispatchState, walk: Walk, name: str
) -> list[Candidate]:
    """Return the conversions of a backend, if they would answer once it is prioritized.

    They may not: types that it knows then count, and another backend may answer first.
    """
    tried = {each.backend for each in resolver.candidates(function, state, walk)}
    options = _prioritizing(state, name, "convert")
    again = resolver.walk(function, options, walk.types)
    for each in resolver.candidates(function, options, again):
        if each.backend not in tried:
            return [each] if each.backend == name and each.conversions is not None else []
    return []


def _prioritizing(state: DispatchState, name: str, fallback: str | None = None) -> DispatchState:
    """Return the state of a block that prioritizes a backend."""
    return DispatchState((name,), fallback=fallback).within(state)
