"""The text of reasons: why a backend is not a candidate, or is one regardless of its types."""

from __future__ import annotations

from .._description import EVERY
from .._patterns import type_identifier
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
    if not walk.counting:
        return "no active backend that implements it knows any of the types"
    unknown = [type_identifier(cls) for cls, match in walk.counting if name not in match.known]
    if unknown:
        return f"it does not know {', '.join(unknown)}"
    riding = [type_identifier(cls) for cls, match in walk.riding if name in match.primary]
    if riding:
        return f"the default matches without {', '.join(riding)}, which therefore does not count"
    return "none of the types is a primary type of it"
