"""The text of reasons: why a backend is not a candidate, or is one regardless of its types."""

from __future__ import annotations

from .._classes import type_identifier
from .._description.fields import EVERY
from .explanation import Verdict
from .walk import Walk
from .walk_step import Step


def reason(walk: Walk, step: Step) -> str:
    """Say why a backend is no candidate, or why the default is the last resort."""
    name, verdict = step.backend, step.verdict
    if verdict is None:
        return step.why
    if verdict is Verdict.INACTIVE and name in walk.rule.unmet:
        return walk.rule.unmet[name]
    if verdict is Verdict.INACTIVE:
        disabled = name in walk.state.disabled
        return "it is disabled" if disabled else f"it requires opt-in: prioritize={name!r}"
    if verdict is Verdict.NO_IMPLEMENTATION:
        absent = walk.rule.absent.get(name, {})
        return absent.get(walk.function) or absent.get(EVERY, "")
    if verdict is Verdict.LATER:
        return "the default keeps the library's own types unless a backend is prioritized"
    if verdict is Verdict.SKIPPED:
        return walk.order.why_skipped(walk.cycles[name])
    if verdict is Verdict.NO_MATCH:
        return _why_no_match(walk, name)
    return ""


def _why_no_match(walk: Walk, name: str) -> str:
    if not walk.types:
        return "no argument has a type to dispatch on"
    if not walk.weighed:
        return "no active backend that implements it knows any of the types"
    unknown = [
        type_identifier(each.cls)
        for each in walk.weighed
        if each.counts_for_all and name not in each.match.known
    ]
    if unknown:
        return f"it does not know {', '.join(unknown)}"
    return "none of the types is a primary type of it"
