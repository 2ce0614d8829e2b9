"""Explains a call: runs the ``should_run`` of candidates, and no implementation."""

from __future__ import annotations

from typing import Any

from .._dispatch_arguments import Function
from .._implementation.if_needed import IfNeeded
from .._resolution.candidate import Candidate
from .._resolution.dry_run import explain
from .._resolution.explanation import Explanation
from .._resolution.resolver import Resolver
from .._state import DispatchState
from .progress import Progress
from .should_run import ask, make_context


def explain_call(
    resolver: Resolver,
    function: Function,
    state: DispatchState,
    types: tuple[type, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    found: tuple[Any, ...],
) -> Explanation:
    """Explain what would run for a call; runs each ``should_run`` on the way.

    Parameters
    ----------
    resolver : Resolver
        The library's.
    function : Function
        The library's function.
    state : DispatchState
        The state of the call.
    types : tuple of type
        The dispatch types.
    args, kwargs
        The arguments of the call.
    found : tuple
        The dispatch arguments, None and `missing` among them.
    """

    def answer(candidate: Candidate) -> str | IfNeeded | None:
        context = make_context(candidate, types, args, kwargs, found=found)
        return ask(candidate, context, args, kwargs)

    def examine(candidate: Candidate) -> tuple[str, str]:
        from .conversion import Conversion  # few calls convert

        conversion = Conversion(candidate, resolver)
        return conversion.obstacle(args, kwargs), conversion.text(args, kwargs)

    def explain_in(state: DispatchState, given: Progress | None = None) -> Explanation:
        return explain(resolver, function, state, types, answer, examine, given)

    if function.traits is not None and function.traits.follows is not None:
        from .estimators import explain_followed  # few functions follow

        return explain_followed(resolver, function, state, types, (args, kwargs), explain_in)
    return explain_in(state)
