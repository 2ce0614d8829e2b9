"""The dry run of a call: explains what would run, by the walk and the ending of real calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

from .._classes import type_identifier
from .._dispatch_arguments import Function
from .._identifiers import DEFAULT
from .._implementation.if_needed import IF_NEEDED, IfNeeded
from .._state import DispatchState
from .candidate import Candidate
from .explanation import ExplainedBackend, Explanation, Verdict
from .fallback_policy import Ending
from .reasons import reason as reason_of
from .resolver import Resolver
from .walk import Walk
from .walk_step import Step

Ask = Callable[[Candidate], "str | IfNeeded | None"]
"""Asks ``should_run``: returns why a candidate defers, or ``IF_NEEDED``; None if it runs."""

Examine = Callable[[Candidate], tuple[str, str]]
"""Returns why a backend cannot convert the arguments, or "", and the objects it would convert."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


class GivenAnswers(Protocol):
    """The answers that candidates have given in a call, by backend: a `Progress`."""

    reasons: dict[str, str]
    conversions: dict[str, str]


def explain(
    resolver: Resolver,
    function: Function,
    state: DispatchState,
    types: tuple[type, ...],
    ask: Ask | None = None,
    examine: Examine | None = None,
    given: GivenAnswers | None = None,
) -> Explanation:
    """Explain what would run for a call, without running any implementation.

    Parameters
    ----------
    resolver : Resolver
        The library's.
    function : Function
        The library's function.
    state : DispatchState
        The state in force.
    types : tuple of type
        The dispatch types.
    ask : callable, optional
        Asks the ``should_run`` of a candidate; None if the arguments are not known.
    examine : callable, optional
        Finds the objects that a backend would convert; None if the arguments are not known.
    given : GivenAnswers, optional
        The answers that candidates have given in a call; they are not asked again.

    Raises
    ------
    ImplementationImportError
        If a ``should_run`` cannot be imported.
    """
    walk = resolver.walk(function, state, types)
    explainer = _Explainer(resolver, function, state, walk, ask, examine, given)
    steps = walk.steps(resolver.catalog.descriptions, resolver.implementer_set(function))
    for step in steps:
        explainer.explain(step)
    explainer.end()
    hooks: tuple[str, ...] = ()
    if state.hook is not None:
        from .._state_hooks import hook_name  # most programs have no hooks

        hooks = tuple(map(hook_name, state.hook))
    explained = tuple(explainer.explained)
    return Explanation(function.identifier, types, explainer.selected, explained, hooks)


class _Explainer:
    """Explains the steps of one walk, one after the other."""

    def __init__(
        self,
        resolver: Resolver,
        function: Function,
        state: DispatchState,
        walk: Walk,
        ask: Ask | None,
        examine: Examine | None,
        given: GivenAnswers | None,
    ) -> None:
        self.resolver = resolver
        self.function = function
        self.state = state
        self.walk = walk
        self.ask = ask
        self.examine = examine
        self.given: Mapping[str, str] = _NOTHING if given is None else given.reasons
        self.unconverted: Mapping[str, str] = _NOTHING if given is None else given.conversions
        self.ending: Ending | None = resolver.ending(function, state, walk)
        self.selected: str | None = None
        self.is_decided = False  # a backend answers: the later ones are not reached
        self.depends = False  # an earlier `should_run` was not asked, and may accept
        self.postponed: list[int] = []  # places in `explained` of backends that said IF_NEEDED
        self.converters: set[str] = set()  # backends that are explained as converters
        self.explained: list[ExplainedBackend] = []

    def explain(self, step: Step) -> None:
        """Explain the next step."""
        if step.verdict is Verdict.NO_IMPLEMENTATION and step.backend in self.converters:
            return
        verdict, reason = step.verdict, reason_of(self.walk, step)
        if verdict is None:
            refuses = self.ending is not None and self.ending.refuses
            # As in `Chain.run`: postponed backends run before the last resort.
            if step.is_last_resort or (step.backend == DEFAULT and refuses):
                self.end()
            verdict, reason = self._judge(step, reason)
        self.explained.append(self._line(step.backend, verdict, reason))

    def end(self) -> None:
        """Run the first backend that said ``IF_NEEDED``, if no other one answers."""
        if self.postponed and not self.is_decided:
            place = self.postponed[0]
            reason = "it said IF_NEEDED, and no other one answers"
            verdict, reason = self._run(self.explained[place].backend, reason)
            self.explained[place] = self._line(self.explained[place].backend, verdict, reason)

    def _line(self, backend: str, verdict: Verdict, reason: str) -> ExplainedBackend:
        return ExplainedBackend(backend, verdict, reason, self.function.default_name)

    def _judge(self, step: Step, reason: str) -> tuple[Verdict, str]:
        """Return the verdict of a candidate."""
        if self.is_decided:
            return Verdict.LATER, ""
        if step.backend in self.given:
            return Verdict.DEFERS, self.given[step.backend]
        if step.backend == DEFAULT and self.ending is not None and self.ending.refuses:
            return self._refuse(self.ending)
        candidate = self.resolver.candidate(self.function, self.state, step)
        implementation = candidate.implementation
        if implementation is not None and implementation.should_run is not None:
            if self.ask is None:
                self.depends = True
                return Verdict.ASKED, f"{implementation.should_run} decides"
            answer = self.ask(candidate)
            if answer is IF_NEEDED:
                self.postponed.append(len(self.explained))
                return Verdict.DEFERS, "it said IF_NEEDED: it runs if no other one does"
            if answer is not None:
                return Verdict.DEFERS, str(answer)
        variant = None if implementation is None else implementation.variant
        if variant is not None:
            reason = "; ".join(filter(None, [reason, f"its variant for {variant.requires}"]))
        if step.backend == DEFAULT and self.ending is not None and self.ending.policy == "warn":
            reason = "fallback='warn'" + (f": {reason}" if reason else "")
        return self._run(step.backend, reason)

    def _refuse(self, ending: Ending) -> tuple[Verdict, str]:
        """Explain the conversions; return the verdict of the default implementation."""
        judged = []
        if ending.converts:
            converters = self.resolver.converters
            judged = [*converters.judged(self.function, self.state, self.walk)]
        self.converters = {name for name, _, _ in judged}
        # A converter gets one line: that of its conversion replaces "has no implementation".
        self.explained = [
            each
            for each in self.explained
            if each.backend not in self.converters or each.verdict is not Verdict.NO_IMPLEMENTATION
        ]
        for name, candidate, reason in judged:
            verdict = Verdict.CANNOT_CONVERT
            if candidate is not None:
                verdict, reason = self._judge_conversion(candidate, ending)
            self.explained.append(ExplainedBackend(name, verdict, reason))
        if self.is_decided:
            return Verdict.LATER, "it runs with the converted arguments"
        self.is_decided = True
        return Verdict.REFUSES, ending.reason

    def _judge_conversion(self, candidate: Candidate, ending: Ending) -> tuple[Verdict, str]:
        obstacle = self.unconverted.get(candidate.backend, "")
        text = f"arguments of {', '.join(map(type_identifier, ending.foreign))}"
        if self.examine is not None and not obstacle:
            obstacle, text = self.examine(candidate)
        if obstacle:
            return Verdict.CANNOT_CONVERT, obstacle
        if self.is_decided:
            return Verdict.LATER, ""
        own = self.resolver.default_patterns
        to = own[0].identifier if len(own) == 1 else "the library's types"
        reason = f"{text} to {to}" if text else f"the result from {to}"
        reason += " through its conversions"
        _, unless = self._run(candidate.backend, reason)
        doubts = [] if unless == reason else [unless]
        # The conversion is not called: it may be slow, or move data.
        if candidate.conversions is not None:
            conversions = candidate.conversions
            asked = conversions.to_default if text else conversions.from_default
            says = f"{asked} says that it cannot"
            doubts.append(f"or {says}" if doubts else f"unless {says}")
        return Verdict.CONVERTS, ", ".join([reason, *doubts])

    def _run(self, backend: str, reason: str) -> tuple[Verdict, str]:
        """Return the verdict of a backend that answers, unless an unasked one before it does."""
        self.is_decided = True
        if self.depends:
            return Verdict.RUNS, "unless one above does"
        self.selected = backend
        return Verdict.RUNS, reason
