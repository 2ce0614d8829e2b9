"""Answers why a backend does not run in a call, and what would make it run.

The reason is the verdict of the decision. A remedy is an option, an environment variable or a type;
this module does not know the rules of dispatching: each remedy is a question to the core, and
counts only if the core answers that the backend would run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from .._decide import Verdict
from .._explain import Explanation
from .._matching import Matcher
from .._patterns import DEFAULT, shown, type_identifier
from .backends import steps
from .question import (
    Answer,
    Attempt,
    GivenType,
    Question,
    Remedy,
    attempt_of,
    contenders,
    environment,
    explained,
    given_type,
)

_REFUSALS = (Verdict.NO_MATCH, Verdict.NO_IMPLEMENTATION, Verdict.CANNOT_CONVERT, Verdict.REFUSES)


def why_not(question: Question, backend: str, variables: Mapping[str, str] | None = None) -> Answer:
    """Find the remedies with which an installed backend, usable or not, would run.

    `variables` are environment variables that have been set to make it usable.
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
            return _usable(question, backend, variables)
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


def _usable(given: Question, backend: str, variables: Mapping[str, str]) -> Answer:
    """Answer about a backend that takes part in calls."""
    explanation = given.ask()
    outcome = attempt_of(explanation, backend)
    if outcome and not variables:
        return Answer(backend, outcome)
    obstacles = []
    enabled, prioritized = _favoured(given, backend)
    remedies = [*_tried(enabled, backend, given, variables)]
    if not remedies:
        name = given.system._catalog().environment.variable("PRIORITIZE")
        first = dict.fromkeys((backend, *given.system._catalog().environment.prioritize))
        remedies += _tried(prioritized, backend, given, variables)
        remedies += _tried(enabled, backend, given, {**variables, name: ",".join(first)})
    if not remedies:
        implementing = given.system.functions[given.function].backends
        verdict = explained(prioritized.ask(), backend).verdict
        if verdict in (Verdict.NO_MATCH, Verdict.CANNOT_CONVERT):
            remedies += _with_types(enabled, prioritized, backend, given, variables)
            obstacles.append(_what_it_lacks(given, backend))
        elif backend not in implementing:
            names = ", ".join(implementing)
            obstacles.append(f"it does not implement {given.function}; these do: {names}")
    if backend == DEFAULT or not remedies:
        remedies += _with_others_disabled(enabled, backend, given, variables)
    outcome = Attempt.WOULD if remedies else Attempt.CANNOT
    return Answer(backend, outcome, _reason(given, explanation, backend), remedies, obstacles)


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


def _tried(
    question: Question, backend: str, given: Question, variables: Mapping[str, str]
) -> Iterator[Remedy]:
    """Ask the core, and yield the remedy if the backend would run."""
    outcome = None
    with suppress(TypeError, ValueError):  # a type that options cannot name
        outcome = attempt_of(question.ask(variables), backend)
    if outcome is None:
        return
    parts = [f"{name}={value!r}" for name, value in variables.items()]
    if parts:
        parts = [f"set {' and '.join(parts)} in the environment"]
    options = question.options
    if backend in given.options.disable:
        parts.append("do not disable it")
    if options != given.options and str(options):
        parts.append(f"with {options}")
    if question.types != given.types:
        names = ", ".join(type_identifier(each.type) for each in question.types)
        parts.append(f"call it with {names}")
    text = ", ".join(parts)
    if outcome is Attempt.ASKED:
        text += f"; then {outcome.value}"
    yield Remedy(question, variables, outcome, text)


def _with_others_disabled(
    question: Question, backend: str, given: Question, variables: Mapping[str, str]
) -> list[Remedy]:
    """Return a remedy that disables the backends that go first, one after another."""
    while True:
        # To disable the library itself is no advice.
        others = [e for e in contenders(question.ask()) if e not in (backend, DEFAULT)]
        if not others:
            return []
        options = question.options
        kept = tuple(each for each in options.prioritize if each not in others)
        options = replace(options, prioritize=kept, disable=(*options.disable, *others))
        question = replace(question, options=options)
        remedies = [*_tried(question, backend, given, variables)]
        if remedies:
            return remedies


def _with_types(
    enabled: Question,
    prioritized: Question,
    backend: str,
    given: Question,
    variables: Mapping[str, str],
) -> list[Remedy]:
    """Return remedies with the backend's own types: assumed, or in place of those it lacks."""
    own = []
    for pattern in given.system.backends[backend].primary_types:
        with suppress(ValueError):  # the type does not exist
            own.append(given_type(pattern.identifier))

    def first(*questions: Question) -> list[Remedy]:
        tries = (_tried(each, backend, given, variables) for each in questions)
        return [remedy for found in tries for remedy in found][:1]

    both = (enabled, prioritized)
    found: list[Remedy] = []
    for each in own:
        if not each.note:
            assumed = (replace(e, options=replace(e.options, type=each)) for e in both)
            found += first(*assumed)
    if not found:
        unknown = _unknown(given, backend) or given.types
        for each in own:
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


def _reason(question: Question, explanation: Explanation, backend: str) -> str:
    """Say why the backend does not run under the given options."""
    found = explained(explanation, backend)
    if found.verdict in _REFUSALS:
        return f"it {found.verdict.value}" + (f": {found.reason}" if found.reason else "")
    if found.verdict in (Verdict.INACTIVE, Verdict.LATER) and found.reason:
        return found.reason
    others = [name for name in contenders(explanation) if name != backend]
    return "; ".join(_precedence(question, name, backend) for name in others)


def _precedence(question: Question, other: str, backend: str) -> str:
    """Say why another backend goes before the wanted one."""
    system = question.system
    name = shown(other, system.default_name)
    if other in (*question.options.prioritize, *system.backend_opts().prioritized):
        return f"{name} goes before it: it is prioritized"
    for step in steps(system._catalog().order):
        if (step.before, step.after) == (other, backend):
            return f"{name} goes before it: {step.reason}"
    return f"{name} goes before it"
