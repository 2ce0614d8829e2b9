"""Remedies: the options with which a call that was refused would run, for the text of the error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._dispatch_arguments import Function
from .._resolution.candidate import Candidate
from .._resolution.fallback_policy import Ending
from .._resolution.resolver import Resolver
from .._resolution.walk import Walk
from .._state.state import DispatchState
from .conversion import Conversion


def remedies(
    resolver: Resolver,
    function: Function,
    state: DispatchState,
    types: tuple[type, ...],
    ending: Ending,
    conversion_of: Callable[[Candidate], Conversion],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[str, ...]:
    """Return the remedies, one sentence each.

    Parameters
    ----------
    resolver : Resolver
        Of the library.
    function : Function
        The library's function.
    state : DispatchState
        The state of the call.
    types : tuple of type
        The dispatch types.
    ending : Ending
        Of the call that was refused.
    conversion_of : callable
        Returns the conversions of a candidate that converts.
    args, kwargs
        The arguments of the call.
    """
    found = []
    for name in sorted(resolver.implementer_set(function)):
        why = _why_inactive(resolver, state, name)
        # A type that no active backend knows may count once this one is.
        if why and resolver.walk(function, _prioritizing(state, name), types).matches(name):
            found.append(f"with backend_opts(prioritize={name!r}), {name} {why}")
    walk = resolver.walk(function, state, types)
    converters = resolver.converters
    if not ending.converts:
        for candidate in converters.candidates(function, state, walk):
            conversion = conversion_of(candidate)
            if not conversion.obstacle(args, kwargs):
                what = conversion.text(args, kwargs) or "the result"
                found.append(
                    f"with backend_opts(fallback='convert'), {candidate.backend} converts {what}, "
                    "and the library's own implementation runs"
                )
    for name, active, _ in converters.judged(function, state, walk):
        new = None if active is not None else _new_converter(resolver, function, state, walk, name)
        if new is not None and not conversion_of(new).obstacle(args, kwargs):
            also = "" if ending.converts else ", fallback='convert'"
            found.append(f"with backend_opts(prioritize={name!r}{also}), {name} converts")
    if not ending.declined:
        found.append(
            "with backend_opts(fallback='default'), the library's own implementation runs with "
            "the arguments as they are"
        )
    return tuple(found)


def _why_inactive(resolver: Resolver, state: DispatchState, name: str) -> str:
    """Say what prioritizing a backend changes; empty if it is active, or cannot be."""
    description = resolver.catalog.descriptions[name]
    if description.unmet:
        return ""
    if name in state.disabled:
        return "takes part again, which is disabled"
    opts_in = description.requires_opt_in and name not in state.prioritized
    return "takes part, which requires opt-in" if opts_in else ""


def _new_converter(
    resolver: Resolver, function: Function, state: DispatchState, walk: Walk, name: str
) -> Candidate | None:
    """Return the conversions of a backend, if they answer once it is prioritized.

    A type that it knows counts for others then, which may answer instead.
    """
    tried = {each.backend for each in resolver.candidates(function, state, walk)}
    options = _prioritizing(state, name, "convert")
    again = resolver.walk(function, options, walk.types)
    for each in resolver.candidates(function, options, again):
        if each.backend not in tried:
            return each if each.backend == name and each.conversions is not None else None
    return None


def _prioritizing(state: DispatchState, name: str, fallback: str | None = None) -> DispatchState:
    """Return the state of a block that prioritizes a backend."""
    return DispatchState((name,), fallback=fallback).within(state)
