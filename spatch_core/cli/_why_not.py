"""What would have to be done to make a backend run, found by trying it.

There are no rules here about what runs when: each remedy is a question to the core, under
other options, other environment variables or with other types, and is offered only if the
core answers that the backend would run then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import click

from .._classes import type_identifier
from .._identifiers import DEFAULT
from .._resolution.explanation import Verdict
from ._arguments import GivenType, given_type
from ._edges import steps
from ._question import Options, Question, environment

if TYPE_CHECKING:
    from .._resolution.explanation import ExplainedBackend, Explanation


class Outcome(str, Enum):
    """What a backend would do."""

    RUNS = "runs"
    ASKED = "its should_run decides"
    WOULD = "would run"
    CANNOT = "cannot run"
    UNREAD = "is not read"


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way to make a backend run.

    Parameters
    ----------
    question : Question
        To whose options and types it would run.
    variables : mapping of str to str
        Environment variables that have to be set.
    outcome : Outcome
        `RUNS`, or `ASKED` where it depends on the arguments too.
    text : str
        What to do, for people.
    """

    question: Question
    variables: Mapping[str, str]
    outcome: Outcome
    text: str

    def as_json(self) -> dict[str, Any]:
        """Return it for scripts."""
        options = self.question.options
        return {
            "prioritize": list(options.prioritize),
            "disable": list(options.disable),
            "type": options.type and options.type.identifier,
            "types": [each.identifier for each in self.question.types],
            "environment": dict(self.variables),
            "outcome": self.outcome.value,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """Why a backend does not run, and what would make it.

    Parameters
    ----------
    backend : str
        Its name.
    outcome : Outcome
        Whether it runs, would with any of the remedies, or cannot.
    reason : str
        Why it does not run; empty if it does.
    remedies : sequence of Remedy
        Ways to make it run, the simplest first.
    obstacles : sequence of str
        What no option or variable can mend.
    """

    backend: str
    outcome: Outcome
    reason: str = ""
    remedies: Sequence[Remedy] = ()
    obstacles: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it for scripts."""
        return {
            "backend": self.backend,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "remedies": [each.as_json() for each in self.remedies],
            "obstacles": list(self.obstacles),
        }


def why_not(question: Question, backend: str) -> Answer:
    """Find out what would make a backend run.

    Parameters
    ----------
    question : Question
        The call.
    backend : str
        The name of an installed backend, usable or not.

    Returns
    -------
    Answer
        With every remedy tried.
    """
    return _why_not(question, backend, {})


def _why_not(question: Question, backend: str, variables: Mapping[str, str]) -> Answer:
    system = question.system
    if backend in system.backends:
        return _Search(question, backend, variables).answer()
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
    """Return the variables that may make a backend usable that is not."""
    catalog = question.system.resolver().catalog
    known = catalog.environment
    for cycle in catalog.order.cycles:
        if backend in cycle.members:
            return {known.variable("SET_ORDER"): cycle.set_order}
    return {}


def _unblocking(question: Question, backend: str) -> Remedy:
    """Return what has to be done before anything can be said of a blocked backend."""
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


@dataclass(slots=True)
class _Search:
    """Tries what might make a usable backend run."""

    question: Question
    backend: str
    variables: Mapping[str, str]
    remedies: list[Remedy] = field(default_factory=list)

    def answer(self) -> Answer:
        given = self.question
        explanation = given.ask()
        outcome = _outcome(explanation, self.backend)
        if outcome is not None and not self.variables:
            return Answer(self.backend, outcome)
        reason, obstacles = self.reason(explanation), []
        if self.backend not in given.system.functions[given.function].backends:
            names = ", ".join(given.system.functions[given.function].backends)
            obstacles = [f"it does not implement {given.function}; these do: {names}"]
            return Answer(self.backend, Outcome.CANNOT, reason, (), obstacles)
        options = given.options
        kept = tuple(name for name in options.disable if name != self.backend)
        enabled = replace(options, disable=kept)
        first = (self.backend, *(each for each in options.prioritize if each != self.backend))
        prioritized = replace(enabled, prioritize=first)
        if not self.tries(enabled):
            self.tries(prioritized)
            self.tries_variable(enabled)
            self.tries_order(enabled)
            first_of_all = replace(given, options=prioritized).ask()
            if _verdict(first_of_all, self.backend).verdict == Verdict.NO_MATCH:
                obstacles = self.tries_types(enabled, prioritized)
            if not self.remedies or self.backend == DEFAULT:
                self.tries_disabling(enabled)
        outcome = Outcome.WOULD if self.remedies else Outcome.CANNOT
        return Answer(self.backend, outcome, reason, self.remedies, obstacles)

    def tries(
        self,
        options: Options,
        variables: Mapping[str, str] | None = None,
        types: tuple[GivenType, ...] | None = None,
    ) -> bool:
        """Ask, and keep what was tried if the backend would run."""
        question = replace(self.question, options=options, types=types or self.question.types)
        try:
            outcome = _outcome(question.ask(variables), self.backend)
        except (TypeError, ValueError):  # a type that options cannot name
            return False
        if outcome is None:
            return False
        needed = {**self.variables, **(variables or {})}
        text = self.text(question, needed)
        if outcome is Outcome.ASKED:
            text += f"; then {outcome.value}"
        self.remedies.append(Remedy(question, needed, outcome, text))
        return True

    def text(self, question: Question, variables: Mapping[str, str]) -> str:
        parts = [f"{name}={value!r}" for name, value in variables.items()]
        if parts:
            parts = [f"set {' and '.join(parts)} in the environment"]
        options = question.options
        if self.backend in self.question.options.disable:
            parts.append("do not disable it")
        if options != self.question.options and str(options):
            parts.append(f"with {options}")
        if question.types != self.question.types:
            names = ", ".join(type_identifier(each.type) for each in question.types)
            parts.append(f"call it with {names}")
        return ", ".join(parts)

    def tries_variable(self, options: Options) -> None:
        known = self.question.system.resolver().catalog.environment
        names = dict.fromkeys((self.backend, *known.prioritize))
        self.tries(options, {known.variable("PRIORITIZE"): ",".join(names)})

    def tries_order(self, options: Options) -> None:
        """Let the environment put it before whoever goes before it."""
        known = self.question.system.resolver().catalog.environment
        others = _contenders(replace(self.question, options=options).ask())
        pairs = _set_order(known.set_order, self.backend, others)
        self.tries(options, {known.variable("SET_ORDER"): pairs})

    def tries_disabling(self, options: Options) -> None:
        """Disable whoever goes before it, one after another."""
        disable = options.disable
        while True:
            tried = replace(options, disable=disable)
            explanation = replace(self.question, options=tried).ask()
            others = [name for name in _contenders(explanation) if name != self.backend]
            more = tuple(dict.fromkeys((*disable, *others)))
            if more == disable:
                return
            disable = more
            kept = tuple(name for name in options.prioritize if name not in disable)
            if self.tries(replace(options, prioritize=kept, disable=disable)):
                return

    def tries_types(self, options: Options, prioritized: Options) -> list[str]:
        """Try the types that the backend is for; return what it would have to know."""
        own = [each for each in map(_given, self.primary()) if each is not None]
        for each in own:
            if not each.note and not self.tries(replace(options, type=each)):
                self.tries(replace(prioritized, type=each))
        types = self.question.types
        foreign = self.foreign(own, prioritized)
        if not self.remedies:
            for each in own:
                replaced = foreign or types
                others = tuple(each if given in replaced else given for given in types)
                if not self.tries(options, types=others):
                    self.tries(prioritized, types=others)
        names = ", ".join(type_identifier(each.type) for each in foreign or types)
        rest = tuple(each for each in types if each not in foreign)
        accepted = rest and foreign and self.would_run(prioritized, rest)
        key = "secondary_types" if accepted else "primary_types"
        return [f"for these types its description would have to have {names} in {key}"]

    def primary(self) -> Iterator[str]:
        description = self.question.system.backends[self.backend]
        return (pattern.identifier for pattern in description.primary_types)

    def foreign(self, own: Sequence[GivenType], prioritized: Options) -> list[GivenType]:
        """Return those of the types that keep it from running beside a type of its own."""
        return [
            given
            for given in self.question.types
            if own and not any(self.would_run(prioritized, (given, each)) for each in own)
        ]

    def would_run(self, options: Options, types: tuple[GivenType, ...]) -> bool:
        question = replace(self.question, options=replace(options, type=None), types=types)
        return _outcome(question.ask(), self.backend) is not None

    def reason(self, explanation: Explanation) -> str:
        """Say why it does not run as things are."""
        found = _verdict(explanation, self.backend)
        if found.verdict in (Verdict.NO_MATCH, Verdict.NO_IMPLEMENTATION):
            return f"it {found.verdict.value}" + (f": {found.reason}" if found.reason else "")
        if found.verdict in (Verdict.INACTIVE, Verdict.LATER) and found.reason:
            return found.reason
        others = [name for name in _contenders(explanation) if name != self.backend]
        return "; ".join(map(self.precedence, others))

    def precedence(self, other: str) -> str:
        """Say why another backend goes before it."""
        by_default = self.question.system.backend_opts().prioritized
        if other in (*self.question.options.prioritize, *by_default):
            return f"{other} goes before it: it is prioritized"
        for step in steps(self.question.system.resolver().catalog.order):
            if (step.before, step.after) == (other, self.backend):
                return f"{other} goes before it: {step.reason}"
        return f"{other} goes before it"


def _outcome(explanation: Explanation, backend: str) -> Outcome | None:
    """Return what the backend would do if nobody is in its way, else None."""
    if explanation.selected == backend:
        return Outcome.RUNS
    return Outcome.ASKED if _contenders(explanation)[:1] == [backend] else None


def _contenders(explanation: Explanation) -> list[str]:
    """Return the backends that run, or would be asked first."""
    verdicts = (Verdict.RUNS, Verdict.ASKED)
    return [each.backend for each in explanation.backends if each.verdict in verdicts]


def _verdict(explanation: Explanation, backend: str) -> ExplainedBackend:
    return next(each for each in explanation.backends if each.backend == backend)


def _set_order(stated: Sequence[tuple[str, str]], backend: str, others: Sequence[str]) -> str:
    """Add that a backend goes before others, and leave out what says the opposite."""
    opposed = set(others)
    size = 0
    while len(opposed) > size:
        size = len(opposed)
        opposed |= {second for first, second in stated if first in opposed}
    pairs = [
        *((a, b) for a, b in stated if not (b == backend and a in opposed)),
        *((backend, other) for other in others if other != backend),
    ]
    return ",".join(dict.fromkeys(f"{first}>{second}" for first, second in pairs))


def _given(identifier: str) -> GivenType | None:
    """Return a type that a description names; None if there is none."""
    try:
        return given_type(identifier)
    except click.BadParameter:
        return None
