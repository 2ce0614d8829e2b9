"""The backend that an instance remembers, and whether it fits the types of a later call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._classes import type_identifier
from .._dispatch_arguments import Function
from .._identifiers import DEFAULT, shown
from .._resolution.candidate import Candidate
from .._resolution.explanation import ExplainedBackend, Explanation, Verdict
from .._resolution.reasons import reason
from .._resolution.resolver import Resolver
from .._resolution.walk_step import Step
from .._state import DispatchState
from .progress import Progress

if TYPE_CHECKING:
    from .._signature.method_memory import Memory


def memory_of(function: Function) -> Memory:
    """Return the memory of a function that has one."""
    assert function.traits is not None
    assert function.traits.memory is not None
    return function.traits.memory


def is_own(candidate: Candidate) -> bool:
    """Whether a candidate runs the default implementation, with converted arguments or without."""
    return candidate.backend == DEFAULT or candidate.conversions is not None


def types_beside(instance: object, types: tuple[type, ...]) -> tuple[type, ...]:
    """Return the dispatch types without that of the instance, which the backend has fitted."""
    return tuple(each for each in types if each is not type(instance))


def why_not(
    resolver: Resolver,
    function: Function,
    state: DispatchState,
    types: tuple[type, ...],
    kept: str,
) -> str | None:
    """Return why a backend that an instance remembers does not fit the types of a call.

    Parameters
    ----------
    resolver : Resolver
        The library's.
    function : Function
        The method that follows.
    state : DispatchState
        The state in force.
    types : tuple of type
        The dispatch types of the call; see `types_beside`.
    kept : str
        The backend that the instance remembers; after the default, separated by spaces, the
        foreign types of the call that decided.

    Returns
    -------
    str or None
        Empty if it fits; None if it does not implement the function.

    Raises
    ------
    UnknownBackendError
        If there is no such backend.
    """
    name, *known = kept.split(" ")
    name = resolver.catalog.check_backend(name)
    if name not in resolver.implementers(function.identifier):
        return None
    if name == DEFAULT:
        walk = resolver.walk(function, state, types)
        candidates = resolver.candidates(function, state, walk)
        first = next(candidates, None)
        names = [each for each in map(type_identifier, walk.foreign) if each not in known]
        if not names or walk.matches(DEFAULT) or first is None or is_own(first):
            return ""
        return f"the library's own types do not include {', '.join(names)}"
    # The backend counts as active even if a block disables it: it has run the earlier method.
    options = state.replace(prioritized=(name, *state.prioritized), disabled=frozenset())
    walk = resolver.walk(function, options, types)
    if not types or walk.matches(name):
        return ""
    return reason(walk, Step(name, Verdict.NO_MATCH))


def explain_followed(
    resolver: Resolver,
    function: Function,
    state: DispatchState,
    types: tuple[type, ...],
    call: tuple[tuple[Any, ...], dict[str, Any]],
    explain: Callable[..., Explanation],
) -> Explanation:
    """Explain a call of a method that follows: the backend that the instance remembers runs it.

    `explain` takes a state, and optionally a `Progress` with answers of candidates. It explains the
    call as if the instance remembered nothing.
    """
    memory = memory_of(function)
    kept = memory.recall(*call)
    beside = types_beside(memory.instance(*call), types)
    why = None if kept is None else why_not(resolver, function, state, beside, kept)
    if kept is None or why is None:
        return explain(state)
    name = kept.partition(" ")[0]
    has_run = f"{shown(name, function.default_name)} has run {memory.method}"
    if name == DEFAULT and not why:
        return _explain_default(resolver, function, state, has_run, explain)
    others = [each for each in state.prioritized if each != name]
    found = explain(state.replace(prioritized=(name, *others), disabled=state.disabled - {name}))
    lines = []
    for each in found.backends:
        verdict, text = Verdict.LATER, has_run
        if each.backend == name:
            verdict, text = (Verdict.NO_MATCH, why) if why else (Verdict.RUNS, has_run)
            if not why and each.verdict in (Verdict.DEFERS, Verdict.REFUSES):
                verdict, text = each.verdict, each.reason
        elif each.backend == DEFAULT:
            verdict = Verdict.REFUSES
        lines.append(ExplainedBackend(each.backend, verdict, text, each.default_name))
    runs = any(each.verdict is Verdict.RUNS for each in lines)
    return Explanation(
        found.function, found.types, name if runs else None, tuple(lines), found.hooks
    )


def _explain_default(
    resolver: Resolver,
    function: Function,
    state: DispatchState,
    has_run: str,
    explain: Callable[..., Explanation],
) -> Explanation:
    """Explain a call that the default runs, with converted arguments or without."""
    names = resolver.implementer_set(function) - {DEFAULT}
    found = explain(state, Progress(dict.fromkeys(names, has_run)))
    lines = []
    for each in found.backends:
        verdict, text = each.verdict, each.reason
        if each.backend == DEFAULT:
            text = has_run if verdict is Verdict.RUNS else text
        elif verdict not in (Verdict.CONVERTS, Verdict.CANNOT_CONVERT):
            verdict, text = Verdict.LATER, has_run
        lines.append(ExplainedBackend(each.backend, verdict, text, each.default_name))
    return Explanation(found.function, found.types, found.selected, tuple(lines), found.hooks)
