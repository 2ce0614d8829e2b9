"""Answers why a backend does not run in a call, and what would make it run.

The reason is the verdict of the decision. A remedy is an option or a type; this module does not
know the rules of dispatching: each remedy is a question to the core, and counts only if the core
answers that the backend would run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from .._decide import Verdict
from .._matching import Matcher
from .._patterns import DEFAULT, shown, type_identifier
from .question import GivenType, Question, given_type

if TYPE_CHECKING:
    from .._explain import ExplainedBackend, Explanation

_CONVERSIONS = (Verdict.CONVERTS, Verdict.CANNOT_CONVERT)
_TAKES_PART = (Verdict.RUNS, Verdict.ASKED, Verdict.CONVERTS)


class Attempt(str, Enum):
    """The outcome of an attempt to make a backend run."""

    RUNS = "runs"
    ASKED = "its should_run decides"
    WOULD = "would run"
    CANNOT = "cannot run"
    UNREAD = "is not read"


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way to make a backend run."""

    question: Question  # with the options and types under which the backend runs
    variables: Mapping[str, str]  # environment variables to set
    outcome: Attempt  # `RUNS`, or `ASKED` if the arguments decide
    text: str  # the remedy in words

    def as_json(self) -> dict[str, Any]:
        """Return the fields as ``explain --json`` prints them."""
        return {
            **self.question.options.as_json(),
            "types": [each.identifier for each in self.question.types],
            "environment": dict(self.variables),
            "outcome": self.outcome.value,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """Why a backend does not run in a call, and the ways to make it run."""

    backend: str
    outcome: Attempt  # `RUNS` or `ASKED` as things are, `WOULD` with any remedy, or `CANNOT`
    reason: str = ""  # why it does not run; empty if it does
    remedies: Sequence[Remedy] = ()  # the simplest first
    obstacles: Sequence[str] = ()  # changes that no option or variable can make

    def as_json(self) -> dict[str, Any]:
        """Return the fields as ``explain --json`` prints them."""
        return {
            "backend": self.backend,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "remedies": [each.as_json() for each in self.remedies],
            "obstacles": list(self.obstacles),
        }


def why_not(question: Question, backend: str) -> Answer:
    """Say why an installed backend, usable or not, does not run, and what would make it run."""
    system, catalog = question.system, question.system._catalog()
    if backend in catalog.blocked:
        environment = catalog.environment
        others = catalog.blocked if environment.block_all else environment.block
        variable, value = environment.variable("BLOCK"), ",".join(sorted({*others} - {backend}))
        text = f"set {variable}={value!r} in the environment, and ask again: a blocked backend is "
        remedy = Remedy(question, {variable: value}, Attempt.UNREAD, f"{text}not read")
        return Answer(backend, Attempt.UNREAD, catalog.why_unusable(backend), [remedy])
    if backend not in system.backends:
        faults = [str(each) for each in catalog.problems if each.backend == backend]
        return Answer(backend, Attempt.CANNOT, catalog.why_unusable(backend), obstacles=faults)
    if unmet := system.backends[backend].unmet:
        return Answer(backend, Attempt.CANNOT, unmet, obstacles=[f"{unmet}: install it"])
    explanation = question.ask()
    outcome = _attempt(explanation, backend)
    if outcome is not None:
        return Answer(backend, outcome)
    found = _explained(explanation, backend)
    if found.verdict == Verdict.SKIPPED:
        remedies = [_breaking_cycles(question, backend)]
        return Answer(backend, Attempt.WOULD, found.reason, remedies)
    return _with_remedies(question, backend, _reason(question, explanation, backend))


def _with_remedies(given: Question, backend: str, reason: str) -> Answer:
    """Answer about a backend that takes part in calls."""
    obstacles = []
    enabled, prioritized = _favoured(given, backend)
    remedies = [*_tried(enabled, backend, given)]
    if not remedies:
        remedies = [*_tried(prioritized, backend, given)]
        if remedies and enabled.options == given.options and not given.options.prioritize:
            remedies.append(_by_variable(given, backend, remedies[0].outcome))
    if not remedies:
        implementing = given.system.functions[given.function].backends
        verdict = _explained(prioritized.ask(), backend).verdict
        if verdict in (Verdict.NO_MATCH, Verdict.CANNOT_CONVERT):
            remedies += _with_types(enabled, prioritized, backend, given)
            obstacles.append(_what_it_lacks(given, backend))
        elif backend not in implementing:
            names = ", ".join(implementing)
            obstacles.append(f"it does not implement {given.function}; these do: {names}")
    if backend == DEFAULT or not remedies:
        remedies += _with_others_disabled(enabled, backend, given)
    outcome = Attempt.WOULD if remedies else Attempt.CANNOT
    return Answer(backend, outcome, reason, remedies, obstacles)


def _favoured(given: Question, backend: str) -> tuple[Question, Question]:
    """Return the question with the backend not disabled, and with it prioritized as well.

    A backend that does not implement the function may convert.
    """
    options = given.options
    kept = tuple(each for each in options.disable if each != backend)
    others = (each for each in options.prioritize if each != backend)
    enabled = replace(options, disable=kept)
    is_converter = given.system.backends[backend].conversions is not None
    if is_converter and backend not in given.system.functions[given.function].backends:
        enabled = replace(enabled, fallback="convert")
    prioritized = replace(enabled, prioritize=(backend, *others))
    return replace(given, options=enabled), replace(given, options=prioritized)


def _tried(question: Question, backend: str, given: Question) -> Iterator[Remedy]:
    """Ask the core, and yield the remedy if the backend would run."""
    outcome = None
    with suppress(TypeError, ValueError):  # a type that options cannot name
        outcome = _attempt(question.ask(), backend)
    if outcome is None:
        return
    parts = ["do not disable it"] if backend in given.options.disable else []
    options = question.options
    if options != given.options and str(options):
        parts.append(f"with {options}")
    if question.types != given.types:
        names = ", ".join(type_identifier(each.type) for each in question.types)
        parts.append(f"call it with {names}")
    yield Remedy(question, {}, outcome, _then(", ".join(parts), outcome))


def _then(text: str, outcome: Attempt) -> str:
    return f"{text}; then {outcome.value}" if outcome is Attempt.ASKED else text


def _by_variable(given: Question, backend: str, outcome: Attempt) -> Remedy:
    """Return the remedy that prioritizes the backend by the environment, as an option would."""
    environment = given.system._catalog().environment
    value = ",".join(dict.fromkeys((backend, *environment.prioritize)))
    variables = {environment.variable("PRIORITIZE"): value}
    return Remedy(given, variables, outcome, _then(_setting(variables), outcome))


def _breaking_cycles(given: Question, backend: str) -> Remedy:
    """Return the remedy for a backend on a cycle: it goes before all others on the cycle."""
    catalog = given.system._catalog()
    members = [each for cycle in catalog.order.cycles for each in cycle.members]
    pairs = [f"{backend}>{each}" for each in dict.fromkeys(members) if each != backend]
    variables = {catalog.environment.variable("SET_ORDER"): ",".join(pairs)}
    implementation = given.system.backends[backend].implementation(given.function)
    asks = implementation is not None and implementation.should_run is not None
    outcome = Attempt.ASKED if asks else Attempt.RUNS
    return Remedy(given, variables, outcome, _then(_setting(variables), outcome))


def _setting(variables: Mapping[str, str]) -> str:
    ((name, value),) = variables.items()
    return f"set {name}={value!r} in the environment"


def _with_others_disabled(question: Question, backend: str, given: Question) -> list[Remedy]:
    """Return a remedy that disables the backends that go first, one after another."""
    while True:
        # To disable the library itself is no advice.
        others = [e for e in _contenders(question.ask()) if e not in (backend, DEFAULT)]
        if not others:
            return []
        options = question.options
        kept = tuple(each for each in options.prioritize if each not in others)
        options = replace(options, prioritize=kept, disable=(*options.disable, *others))
        question = replace(question, options=options)
        remedies = [*_tried(question, backend, given)]
        if remedies:
            return remedies


def _with_types(
    enabled: Question, prioritized: Question, backend: str, given: Question
) -> list[Remedy]:
    """Return remedies with the backend's own types: assumed, or in place of those it lacks."""
    own = []
    for pattern in given.system.backends[backend].primary_types:
        with suppress(ValueError):  # the type does not exist
            own.append(given_type(pattern.identifier))

    def first(*questions: Question) -> list[Remedy]:
        return [remedy for each in questions for remedy in _tried(each, backend, given)][:1]

    both = (enabled, prioritized)
    found: list[Remedy] = []
    for each in own:
        if not each.note:
            found += first(*(replace(e, options=replace(e.options, type=each)) for e in both))
    unknown = _unknown(given, backend) or given.types
    for each in () if found else own:
        types = tuple(each if one in unknown else one for one in given.types)
        found += first(*(replace(e, types=types) for e in both))
    return found


def _unknown(question: Question, backend: str) -> tuple[GivenType, ...]:
    """Return the types of a call that the backend does not know."""
    matcher = Matcher(question.system.backends)
    return tuple(e for e in question.types if backend not in matcher.match(e.type).known)


def _what_it_lacks(question: Question, backend: str) -> str:
    """Say how the description would have to change."""
    unknown = _unknown(question, backend)
    names = ", ".join(type_identifier(each.type) for each in unknown or question.types)
    key = "secondary_types" if 0 < len(unknown) < len(question.types) else "primary_types"
    return f"for these types its description would have to have {names} in {key}"


# --- The verdicts of an explanation ---------------------------------------------------------------


def _attempt(explanation: Explanation, backend: str) -> Attempt | None:
    """Return whether the backend runs or is asked first; None if another backend goes first."""
    if explanation.selected == backend:
        return Attempt.RUNS
    return Attempt.ASKED if _contenders(explanation)[:1] == [backend] else None


def _contenders(explanation: Explanation) -> list[str]:
    """Return the backends that run, convert or are asked, in order."""
    return [each.backend for each in explanation.backends if each.verdict in _TAKES_PART]


def _explained(explanation: Explanation, backend: str) -> ExplainedBackend:
    """Return the verdict about one backend."""
    found = [each for each in explanation.backends if each.backend == backend]
    # A backend may have two verdicts: as an implementation, and at last as a conversion.
    return next((each for each in found if each.verdict in _CONVERSIONS), found[0])


def _reason(question: Question, explanation: Explanation, backend: str) -> str:
    """Say why the backend does not run under the given options, as `explain` says it."""
    found = _explained(explanation, backend)
    if found.verdict in (Verdict.INACTIVE, Verdict.LATER) and found.reason:
        return found.reason
    said = ": " * bool(found.reason) + found.reason
    if found.verdict not in _TAKES_PART and found.verdict != Verdict.LATER:
        return f"it {found.verdict.value}{said}"
    before = _contenders(explanation)
    reasons = []
    if backend in before:  # a should_run of those before it decides
        before = before[: before.index(backend)]
        is_unless = found.verdict == Verdict.RUNS  # "runs unless one above does"
        reasons.append(f"it {found.verdict.value}{said.lstrip(':') if is_unless else said}")
    return "; ".join([*reasons, *(_precedence(question, each, backend) for each in before)])


def _precedence(question: Question, other: str, backend: str) -> str:
    """Say why another backend goes before the wanted one."""
    system = question.system
    name = shown(other, system.default_name)
    if other in (*question.options.prioritize, *system.backend_opts().prioritized):
        return f"{name} goes before it: it is prioritized"
    for edge in system._catalog().order.edges():
        if (edge.before, edge.after) == (other, backend):
            return f"{name} goes before it: {edge.reason}"
    return f"{name} goes before it"
