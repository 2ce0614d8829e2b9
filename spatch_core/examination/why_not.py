"""Says why a backend does not run, and what would make it run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .answer import Answer, Outcome, Remedy
from .question import Question, environment
from .remedy_search import Search


def why_not(question: Question, backend: str) -> Answer:
    """Find out what would make a backend run.

    Returns
    -------
    Answer
        With every remedy tried.
    """
    return _why_not(question, backend, {})


def _why_not(question: Question, backend: str, variables: Mapping[str, str]) -> Answer:
    system = question.system
    if backend in system.backends:
        return Search(question, backend, variables).answer()
    catalog = system.resolver().catalog
    reason = catalog.why_unusable(backend)
    if backend in catalog.blocked:
        return Answer(backend, Outcome.UNREAD, reason, [_unblocking(question, backend)])
    mended = _usable_by(question, backend)
    if mended.items() <= variables.items():
        faults = [str(each) for each in catalog.problems if each.backend == backend]
        return Answer(backend, Outcome.CANNOT, reason, obstacles=faults or [reason])
    with environment(system, mended):
        inner = _why_not(question, backend, {**variables, **mended})
    return replace(inner, reason=reason)


def _usable_by(question: Question, backend: str) -> dict[str, str]:
    """Return environment variables that may make an unusable backend usable."""
    catalog = question.system.resolver().catalog
    known = catalog.environment
    for cycle in catalog.order.cycles:
        if backend in cycle.members:
            return {known.variable("SET_ORDER"): cycle.set_order}
    return {}


def _unblocking(question: Question, backend: str) -> Remedy:
    """Return the remedy for a blocked backend, of which nothing else is known."""
    catalog = question.system.resolver().catalog
    known = catalog.environment
    others = catalog.blocked if known.block_all else known.block
    variables = {known.variable("BLOCK"): ",".join(sorted(set(others) - {backend}))}
    text = " and ".join(f"{name}={value!r}" for name, value in variables.items())
    return Remedy(
        question,
        variables,
        Outcome.UNREAD,
        f"set {text} in the environment, and ask again: what is blocked is not read",
    )
