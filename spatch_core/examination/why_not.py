"""Answers why a backend does not run in a call, and finds remedies.

A remedy is an option, an environment variable or a type under which the backend runs. This module
does not know the rules of dispatching: each remedy is a question to the core, and counts only if
the core answers that the backend would run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from .._decide import Verdict
from .._explain import Explanation
from .._patterns import DEFAULT, shown, type_identifier
from .backends import set_order_before, steps
from .question import (
    Answer,
    Attempt,
    GivenType,
    Options,
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
            return _RemedySearch(question, backend, variables).answer()
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


@dataclass(slots=True)
class _RemedySearch:
    """Tries remedies for a usable backend."""

    question: Question
    backend: str
    variables: Mapping[str, str]
    remedies: list[Remedy] = field(default_factory=list)

    def answer(self) -> Answer:
        """Try all remedies, and return the answer."""
        given = self.question
        explanation = given.ask()
        outcome = attempt_of(explanation, self.backend)
        if outcome and not self.variables:
            return Answer(self.backend, outcome)
        implementing = given.system.functions[given.function].backends
        obstacles: list[str] = []
        enabled, prioritized = self._favoured()
        if self.backend not in implementing:
            obstacles = self._tries_conversions()
            if not self.remedies:
                names = ", ".join(implementing)
                obstacles = [f"it does not implement {given.function}; these do: {names}"]
        elif not self._tries(enabled):
            self._tries(prioritized)
            self._tries_variables(enabled)
            first_of_all = replace(given, options=prioritized).ask()
            if explained(first_of_all, self.backend).verdict == Verdict.NO_MATCH:
                obstacles = self._tries_types(enabled, prioritized)
            if not self.remedies or self.backend == DEFAULT:
                self._tries_disabling(enabled)
        outcome = Attempt.WOULD if self.remedies else Attempt.CANNOT
        return Answer(self.backend, outcome, self._reason(explanation), self.remedies, obstacles)

    def _favoured(self) -> tuple[Options, Options]:
        """Return the options with the backend not disabled, and with it prioritized as well."""
        options = self.question.options
        kept = tuple(each for each in options.disable if each != self.backend)
        others = (each for each in options.prioritize if each != self.backend)
        enabled = replace(options, disable=kept)
        return enabled, replace(enabled, prioritize=(self.backend, *others))

    def _tries(
        self,
        options: Options,
        variables: Mapping[str, str] | None = None,
        types: tuple[GivenType, ...] | None = None,
    ) -> bool:
        """Ask the core, and record the remedy if the backend would run."""
        question = replace(self.question, options=options, types=types or self.question.types)
        outcome = None
        with suppress(TypeError, ValueError):  # a type that options cannot name
            outcome = attempt_of(question.ask(variables), self.backend)
        if outcome is None:
            return False
        needed = {**self.variables, **(variables or {})}
        text = self._text(question, needed)
        if outcome is Attempt.ASKED:
            text += f"; then {outcome.value}"
        self.remedies.append(Remedy(question, needed, outcome, text))
        return True

    def _text(self, question: Question, variables: Mapping[str, str]) -> str:
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

    def _tries_conversions(self) -> list[str]:
        """Try to make the backend convert; return how its description would have to change."""
        if self.question.system.backends[self.backend].conversions is None:
            return []
        options = [replace(each, fallback="convert") for each in self._favoured()]
        if any(map(self._tries, options)):
            return []
        first_of_all = replace(self.question, options=options[-1]).ask()
        if explained(first_of_all, self.backend).verdict != Verdict.CANNOT_CONVERT:
            return []
        return self._tries_types(*options)

    def _tries_variables(self, options: Options) -> None:
        """Try to prioritize the backend by a variable, or to order it before its contenders."""
        known = self.question.system._catalog().environment
        names = dict.fromkeys((self.backend, *known.prioritize))
        self._tries(options, {known.variable("PRIORITIZE"): ",".join(names)})
        others = contenders(replace(self.question, options=options).ask())
        pairs = set_order_before(known.set_order, self.backend, others)
        self._tries(options, {known.variable("SET_ORDER"): pairs})

    def _tries_disabling(self, options: Options) -> None:
        """Try to disable the backends that go first, one after another."""
        disable = options.disable
        while True:
            tried = replace(options, disable=disable)
            explanation = replace(self.question, options=tried).ask()
            # To disable the library itself is no advice.
            others = [e for e in contenders(explanation) if e not in (self.backend, DEFAULT)]
            more = tuple(dict.fromkeys((*disable, *others)))
            if more == disable:
                return
            disable = more
            kept = tuple(name for name in options.prioritize if name not in disable)
            if self._tries(replace(options, prioritize=kept, disable=disable)):
                return

    def _tries_types(self, options: Options, prioritized: Options) -> list[str]:
        """Try the backend's own types; return how its description would have to change."""
        own = []
        for pattern in self.question.system.backends[self.backend].primary_types:
            with suppress(ValueError):  # the type does not exist
                own.append(given_type(pattern.identifier))
        for each in own:
            if not each.note and not self._tries(replace(options, type=each)):
                self._tries(replace(prioritized, type=each))
        types = self.question.types
        foreign = self._foreign(own, prioritized)
        if not self.remedies:
            for each in own:
                replaced = foreign or types
                others = tuple(each if given in replaced else given for given in types)
                if not self._tries(options, types=others):
                    self._tries(prioritized, types=others)
        names = ", ".join(type_identifier(each.type) for each in foreign or types)
        rest = tuple(each for each in types if each not in foreign)
        accepted = rest and foreign and self._would_run(prioritized, rest)
        key = "secondary_types" if accepted else "primary_types"
        return [f"for these types its description would have to have {names} in {key}"]

    def _foreign(self, own: Sequence[GivenType], prioritized: Options) -> list[GivenType]:
        """Return the types with which the backend does not run even beside a type of its own."""
        return [
            given
            for given in self.question.types
            if own and not any(self._would_run(prioritized, (given, each)) for each in own)
        ]

    def _would_run(self, options: Options, types: tuple[GivenType, ...]) -> bool:
        question = replace(self.question, options=replace(options, type=None), types=types)
        return attempt_of(question.ask(), self.backend) is not None

    def _reason(self, explanation: Explanation) -> str:
        """Say why the backend does not run under the given options."""
        found = explained(explanation, self.backend)
        if found.verdict in _REFUSALS:
            return f"it {found.verdict.value}" + (f": {found.reason}" if found.reason else "")
        if found.verdict in (Verdict.INACTIVE, Verdict.LATER) and found.reason:
            return found.reason
        others = [name for name in contenders(explanation) if name != self.backend]
        return "; ".join(map(self._precedence, others))

    def _precedence(self, other: str) -> str:
        """Say why another backend goes before it."""
        name = shown(other, self.question.system.default_name)
        by_default = self.question.system.backend_opts().prioritized
        if other in (*self.question.options.prioritize, *by_default):
            return f"{name} goes before it: it is prioritized"
        for step in steps(self.question.system._catalog().order):
            if (step.before, step.after) == (other, self.backend):
                return f"{name} goes before it: {step.reason}"
        return f"{name} goes before it"
