"""Remedies: the options with which a call that was refused would run, for the text of the error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._dispatch_arguments import Function
from .._resolution.candidate import Candidate
from .._resolution.fallback_policy import Ending
from .._resolution.resolver import Resolver
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
    walk = resolver.walk(function, state, types)
    found = [
        f"with backend_opts(prioritize={name!r}), {name} takes part, which requires opt-in"
        for name in sorted(resolver.implementer_set(function))
        if resolver.catalog.descriptions[name].requires_opt_in
        and name not in (*state.prioritized, *state.disabled)
        and walk.matches(name)
    ]
    if ending.converts:
        for name, candidate, _ in resolver.converters.judged(function, state, walk):
            options = state.replace(prioritized=(name, *state.prioritized))
            again = resolver.walk(function, options, types)
            converters = resolver.converters.candidates(function, options, again)
            if candidate is None and any(each.backend == name for each in converters):
                found.append(f"with backend_opts(prioritize={name!r}), {name} converts")
    else:
        converting = [
            (each.backend, conversion_of(each))
            for each in resolver.converters.candidates(function, state, walk)
        ]
        found += [
            f"with backend_opts(fallback='convert'), {name} converts "
            f"{conversion.text(args, kwargs)}, and the library's own implementation runs"
            for name, conversion in converting
            if not conversion.obstacle(args, kwargs)
        ]
    if not ending.declined:
        found.append(
            "with backend_opts(fallback='default'), the library's own implementation runs with "
            "the arguments as they are"
        )
    return tuple(found)
