"""Answers about choices: why a backend does not run, and whether those of a record are made here.

Answers are JSON objects, as ``explain --why-not --json`` and ``replay-check --json`` print them; a
recorded choice is as `hooks.record` writes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from .._decide import Verdict
from .._hooked import names_before
from .._matching import Matcher
from .._patterns import DEFAULT, shown, type_identifier
from ..exceptions import IdentifierError
from .importing import origin_of
from .libraries import edges_of, find_libraries, load_library
from .question import (
    GivenType,
    LibraryError,
    Options,
    Question,
    UnknownNameError,
    find_function,
    given_type,
)

if TYPE_CHECKING:
    from .._explain import ExplainedBackend, Explanation
    from ..backend_system import BackendSystem

Json: TypeAlias = "dict[str, Any]"

# --- Why not? -------------------------------------------------------------------------------------

# The reason is the verdict of the decision. A remedy is an option or a type. The rules of
# dispatching are not known here: each remedy is a question to the core, and counts only if the core
# answers that the backend would run.

_CONVERSIONS = (Verdict.CONVERTS, Verdict.CANNOT_CONVERT)
_TAKES_PART = (Verdict.RUNS, Verdict.ASKED, Verdict.CONVERTS)


class Attempt(str, Enum):
    """The outcome of an attempt to make a backend run."""

    RUNS = "runs"
    ASKED = "its should_run decides"
    WOULD = "would run"
    CANNOT = "cannot run"
    UNREAD = "is not read"


def _remedy(
    question: Question, outcome: Attempt, text: str, variables: Mapping[str, str] | None = None
) -> Json:
    """Return one way to make a backend run: options, types and environment variables.

    The outcome is `Attempt.RUNS`, or `Attempt.ASKED` if the arguments decide.
    """
    return {
        **question.options.as_json(),
        "types": [each.identifier for each in question.types],
        "environment": dict(variables or {}),
        "outcome": outcome.value,
        "text": f"{text}; then {outcome.value}" if outcome is Attempt.ASKED else text,
    }


def _answer(
    backend: str,
    outcome: Attempt,
    reason: str = "",
    remedies: Sequence[Json] = (),
    obstacles: Sequence[str] = (),
) -> Json:
    """Return why a backend does not run in a call, and the ways to make it run."""
    return {
        "backend": backend,
        "outcome": outcome.value,  # as things are, or `Attempt.WOULD` with any remedy
        "reason": reason,  # why it does not run; empty if it does
        "remedies": [*remedies],  # the simplest first
        "obstacles": [*obstacles],  # changes that no option or variable can make
    }


def why_not(question: Question, backend: str) -> Json:
    """Say why an installed backend, usable or not, does not run, and what would make it run.

    The answer is the object that ``explain --why-not --json`` prints.
    """
    system, catalog = question.system, question.system._catalog()
    if backend in catalog.blocked:
        environment = catalog.environment
        others = catalog.blocked if "*" in environment.block else environment.block
        variable, value = environment.variable("BLOCK"), ",".join(sorted({*others} - {backend}))
        text = f"set {variable}={value!r} in the environment, and ask again: a blocked backend is "
        remedy = _remedy(question, Attempt.UNREAD, f"{text}not read", {variable: value})
        return _answer(backend, Attempt.UNREAD, catalog.why_unusable(backend), [remedy])
    if backend not in system.backends:
        faults = [str(each) for each in catalog.problems if each.backend == backend]
        return _answer(backend, Attempt.CANNOT, catalog.why_unusable(backend), obstacles=faults)
    if unmet := system.backends[backend].unmet:
        # Otherwise it cannot be read: the text says what is wrong.
        advice = ": install it" if unmet.startswith("it requires ") else ""
        return _answer(backend, Attempt.CANNOT, unmet, obstacles=[f"{unmet}{advice}"])
    explanation = question.ask()
    outcome = _attempt(explanation, backend)
    if outcome is not None:
        return _answer(backend, outcome)
    found = _explained(explanation, backend)
    if found.verdict == Verdict.SKIPPED:
        remedies = [_breaking_cycles(question, backend)]
        return _answer(backend, Attempt.WOULD, found.reason, remedies)
    return _with_remedies(question, backend, _reason(question, explanation, backend))


def _with_remedies(given: Question, backend: str, reason: str) -> Json:
    """Answer about a backend that takes part in calls."""
    obstacles = []
    enabled, prioritized = _favoured(given, backend)
    remedies = _tried(enabled, backend, given)
    if not remedies:
        remedies = _tried(prioritized, backend, given)
        if remedies and enabled.options == given.options and not given.options.prioritize:
            environment = given.system._catalog().environment
            value = ",".join(dict.fromkeys((backend, *environment.prioritize)))
            outcome = Attempt(remedies[0]["outcome"])
            remedies.append(_setting(given, outcome, environment.variable("PRIORITIZE"), value))
    if not remedies:
        implementing = given.system.functions[given.function].backends
        verdict = _explained(prioritized.ask(), backend).verdict
        if verdict in (Verdict.NO_MATCH, Verdict.CANNOT_CONVERT):
            remedies = _with_types(enabled, prioritized, backend, given)
            obstacles.append(_what_it_lacks(given, backend))
        elif backend not in implementing:
            names = ", ".join(implementing)
            obstacles.append(f"it does not implement {given.function}; these do: {names}")
    if backend == DEFAULT or not remedies:
        remedies += _with_others_disabled(enabled, backend, given)
    outcome = Attempt.WOULD if remedies else Attempt.CANNOT
    return _answer(backend, outcome, reason, remedies, obstacles)


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


def _tried(question: Question, backend: str, given: Question) -> list[Json]:
    """Ask the core, and return the remedy if the backend would run."""
    outcome = None
    with suppress(TypeError, ValueError):  # a type that options cannot name
        outcome = _attempt(question.ask(), backend)
    if outcome is None:
        return []
    parts = ["do not disable it"] if backend in given.options.disable else []
    options = question.options
    if options != given.options and str(options):
        parts.append(f"with {options}")
    if question.types != given.types:
        names = ", ".join(type_identifier(each.type) for each in question.types)
        parts.append(f"call it with {names}")
    return [_remedy(question, outcome, ", ".join(parts))]


def _breaking_cycles(given: Question, backend: str) -> Json:
    """Return the remedy for a backend on a cycle: it goes before all others on the cycle."""
    catalog = given.system._catalog()
    members = [each for cycle in catalog.order.cycles for each in cycle.members]
    pairs = [f"{backend}>{each}" for each in dict.fromkeys(members) if each != backend]
    implementation = given.system.backends[backend].implementation(given.function)
    asks = implementation is not None and implementation.should_run is not None
    outcome = Attempt.ASKED if asks else Attempt.RUNS
    variable = catalog.environment.variable("SET_ORDER")
    return _setting(given, outcome, variable, ",".join(pairs))


def _setting(given: Question, outcome: Attempt, name: str, value: str) -> Json:
    """Return the remedy that sets a variable of the environment."""
    text = f"set {name}={value!r} in the environment"
    return _remedy(given, outcome, text, {name: value})


def _with_others_disabled(question: Question, backend: str, given: Question) -> list[Json]:
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
        if remedies := _tried(question, backend, given):
            return remedies


def _with_types(
    enabled: Question, prioritized: Question, backend: str, given: Question
) -> list[Json]:
    """Return remedies with the backend's own types: assumed, or in place of those it lacks."""
    own = []
    for pattern in given.system.backends[backend].primary_types:
        with suppress(ValueError):  # the type does not exist
            own.append(given_type(pattern.identifier))

    def first(*questions: Question) -> list[Json]:
        return next(filter(None, (_tried(each, backend, given) for each in questions)), [])

    both = (enabled, prioritized)
    found: list[Json] = []
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
    for edge in edges_of(system):
        if (edge.before, edge.after) == (other, backend):
            return f"{name} goes before it: {edge.reason}"
    return f"{name} goes before it"


# --- Records --------------------------------------------------------------------------------------

FORMAT = 1
"""The format of records that this version reads; see `hooks.record`."""

_OPTIONS = ("prioritize", "disable", "type", "fallback", "backend")
_FIELDS = ("function", "types", "backend", "distribution", "version", "before", "invoked", "count")
_TIMES = ("first", "last", "seconds")
"""In seconds: the start of the first call and the end of the last one since the start of the
record, and the duration of all calls together; None in a record without times."""


class Outcome(str, Enum):
    """The outcome of comparing one choice."""

    SAME = "same"
    VERSION = "other version"
    CHOICE = "other choice"
    NOT_FOUND = "not found"


class RecordError(Exception):
    """A file is not a record that this version can read."""


def read_record(path: str | os.PathLike[str]) -> list[Json]:
    """Read the choices of a record of `hooks.record`, or raise `RecordError` or `OSError`."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
        if found["format"] != FORMAT:
            raise ValueError(f"it has format {found['format']!r}; this version reads {FORMAT}")
        return [_recorded(each) for each in found["calls"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise RecordError(f"{os.fspath(path)} is not a record of hooks.record: {what}") from None


def _recorded(call: Mapping[str, Any]) -> Json:
    given = {"fallback": None, **call["options"]}  # older records lack it
    options = {name: given[name] for name in _OPTIONS}
    times = {name: float(call[name]) if name in call else None for name in _TIMES}
    return {**{name: call[name] for name in _FIELDS}, "options": options, **times}


def replay(recorded: Iterable[Json]) -> Iterator[Json]:
    """Compare each recorded choice; no implementation runs.

    A choice is the same if the same backends are asked before the one that answered, and if that
    one comes from the same version of the same distribution. Whether the backends before it would
    decline again depends on the arguments, which a record does not have.
    """
    libraries = [load_library(each) for each in find_libraries()]

    @cache
    def found(function: str, *types: str) -> tuple[BackendSystem, str] | str:
        try:
            loaded, identifier = find_function(function, libraries, types)
        except (UnknownNameError, LibraryError, IdentifierError) as error:
            return str(error)
        return loaded.usable, identifier

    for each in recorded:
        where = found(each["function"], *each["types"])
        here: tuple[str | None, str | None] = (None, None)
        if isinstance(where, str):
            outcome, reason = Outcome.NOT_FOUND, where
        else:
            outcome, reason, here = _compared(each, *where)
        yield {
            **{name: each[name] for name in ("function", "types", "backend")},
            "outcome": outcome.value,
            "reason": reason,
            "recorded": {name: each[name] for name in ("distribution", "version")},
            "here": dict(zip(("distribution", "version"), here, strict=True)),
            **{name: each[name] for name in ("options", "invoked", "count")},
        }


def _compared(
    recorded: Json, system: BackendSystem, identifier: str
) -> tuple[Outcome, str, tuple[str | None, str | None]]:
    """Return outcome, reason, and the distribution of the backend here with its version."""
    name, known = recorded["backend"], system.backends
    # For overriding types, the record names the method of the library's protocol.
    if name not in known and name != system.protocol:
        reason = f"backend {name!r} is not installed, or cannot be used"
        return Outcome.NOT_FOUND, reason, (None, None)
    origin = origin_of(identifier, name, known)
    reason = _obstacle(recorded, system, identifier)
    if reason:
        return Outcome.CHOICE, reason, origin
    there = recorded["distribution"], recorded["version"]
    if origin != there:
        texts = [" ".join(map(str, filter(None, each))) for each in (origin, there)]
        here, then = (each or "no distribution" for each in texts)
        return Outcome.VERSION, f"{here} here, {then} in the record", origin
    return Outcome.SAME, "", origin


def _obstacle(recorded: Json, system: BackendSystem, identifier: str) -> str:
    """Say why this environment would not choose the backend; empty if it would."""
    name, given = recorded["backend"], recorded["options"]
    if recorded["invoked"]:
        implements = name in system.functions[identifier].backends
        return "" if implements else f"{name} does not implement the function here"
    try:
        known = system.backends
        options = Options(
            tuple(each for each in given["prioritize"] if each in known),
            tuple(each for each in given["disable"] if each in known),
            None if given["type"] is None else given_type(given["type"]),
            given["fallback"],
            given["backend"] if given["backend"] in known else None,
        )
        types = tuple(map(given_type, recorded["types"]))
        question = Question(system, identifier, types, options)
        question.import_homes()
        candidates = question.decide().candidates
    except (ValueError, TypeError) as error:
        return str(error)
    if name not in [each.backend for each in candidates]:
        lines = [str(each) for each in question.ask().backends if each.backend == name]
        return f"here, {lines[0] if lines else f'{name} takes no part'}"
    before = names_before(candidates, name)
    if before == recorded["before"]:
        return ""
    now, then = (", ".join(each) or "none" for each in (before, recorded["before"]))
    return f"before {name} come: {now}; in the record: {then}"
