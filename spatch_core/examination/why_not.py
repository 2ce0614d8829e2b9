"""Answers why a backend does not run in a call, and how to make it run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .._resolution.explanation import Verdict
from .question import Answer, Attempt, Question, Remedy, environment, explained
from .remedy_search import RemedySearch


def why_not(question: Question, backend: str, variables: Mapping[str, str] | None = None) -> Answer:
    """Find the remedies with which a backend would run.

    Parameters
    ----------
    question : Question
        The call.
    backend : str
        The name of an installed backend, usable or not.
    variables : mapping of str to str, optional
        Environment variables that have been set to make it usable.
    """
    variables = variables or {}
    system = question.system
    catalog = system._catalog()
    known = catalog.environment
    reason = catalog.why_unusable(backend)
    if backend in system.backends:
        unmet = system.backends[backend].unmet
        if unmet:
            return Answer(backend, Attempt.CANNOT, unmet, obstacles=[f"{unmet}: install it"])
        found = explained(question.ask(), backend)
        if found.verdict != Verdict.SKIPPED:
            return RemedySearch(question, backend, variables).answer()
        reason = found.reason
    if backend in catalog.blocked:
        others = catalog.blocked if known.block_all else known.block
        name, value = known.variable("BLOCK"), ",".join(sorted({*others} - {backend}))
        text = (
            f"set {name}={value!r} in the environment, and ask again: a blocked backend is not read"
        )
        remedy = Remedy(question, {name: value}, Attempt.UNREAD, text)
        return Answer(backend, Attempt.UNREAD, reason, [remedy])
    # Of the skipped backends, only those on a cycle can be made usable, by SET_ORDER.
    cycles = (each.set_order for each in catalog.order.cycles if backend in each.members)
    mended = {known.variable("SET_ORDER"): order for order in [*cycles][:1]}
    if mended.items() <= variables.items():
        faults = [str(each) for each in catalog.problems if each.backend == backend]
        return Answer(backend, Attempt.CANNOT, reason, obstacles=faults or [reason])
    with environment(system, mended):
        inner = why_not(question, backend, {**variables, **mended})
    return replace(inner, reason=reason)
