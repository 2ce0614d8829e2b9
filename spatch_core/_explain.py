"""Explanations: what would run for a call, and why. They render the decision of the call.

The same lines are in errors, in warnings of the fallback policy, in notes on exceptions, in
``spatch-core explain`` and in its ``--why-not``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ._context import IF_NEEDED, IfNeeded
from ._decide import Decision, Step
from ._description import EVERY
from ._errors import Published
from ._matching import Match
from ._parameters import ASYNC_GENERATOR, GENERATOR
from ._patterns import DEFAULT, shown, type_identifier
from ._state import DispatchState
from .exceptions import NoImplementationError

if TYPE_CHECKING:
    from ._discovery import Catalog

    Ask = Callable[[Step], "str | IfNeeded | None"]
    """Asks ``should_run``: returns why a step defers, or ``IF_NEEDED``; None if it runs."""
    Examine = Callable[[Step], tuple[str, str]]
    """Returns why a backend cannot convert the arguments, or "", and what it would convert."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Verdict(str, Enum):
    """The role of one backend in one call."""

    RUNS = "runs"
    LATER = "comes later"
    ASKED = "would be asked"
    DEFERS = "defers"
    INACTIVE = "inactive"
    SKIPPED = "is skipped"
    NO_MATCH = "does not match"
    CONVERTS = "would convert"
    CANNOT_CONVERT = "cannot convert"
    REFUSES = "would refuse"
    RAISES = "would raise"
    NO_IMPLEMENTATION = "has no implementation"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class ExplainedBackend(Published):
    """One line of an explanation.

    Parameters
    ----------
    backend : str
        Its name.
    verdict : Verdict
        Its role in the call.
    reason : str
        Why.
    default_name : str, optional
        The name of the library's own implementation in the text.
    """

    backend: str
    verdict: Verdict
    reason: str
    default_name: str = DEFAULT

    @property
    def shown(self) -> str:
        """The backend's name in the text."""
        return shown(self.backend, self.default_name)

    def __str__(self) -> str:
        return f"{self.shown} {self.verdict}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True, slots=True)
class Explanation(Published):
    """What would run for a call, and why; printed as a short text.

    Parameters
    ----------
    function : str
        Identifier of the library's function.
    types : tuple of type
        The dispatch types.
    selected : str or None
        The backend that would run (it may still return ``NotImplemented``); None if that
        depends on a ``should_run``, and the arguments for it were not given, or if the call would
        raise.
    backends : tuple of ExplainedBackend
        All backends, in the order in which a call considers them.
    hooks : tuple of str
        The hooks in force, innermost first, by their identifiers. They see the call before any
        backend, and may answer it or change its arguments; none of them was run.
    """

    function: str
    types: tuple[type, ...]
    selected: str | None
    backends: tuple[ExplainedBackend, ...]
    hooks: tuple[str, ...] = ()

    def __str__(self) -> str:
        types = ", ".join(map(type_identifier, self.types))
        lines = [f"{self.function}({types or 'no dispatch types'})"]
        if self.hooks:
            lines.append(f"  seen first by hooks: {', '.join(self.hooks)}")
        width = max(len(each.shown) for each in self.backends)
        for each in self.backends:
            answers = each.verdict in (Verdict.RUNS, Verdict.CONVERTS)
            mark = ">" if answers and each.backend == self.selected else " "
            reason = f": {each.reason}" if each.reason else ""
            lines.append(f"{mark} {each.shown:<{width}}  {each.verdict}{reason}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def explain(
    decision: Decision,
    ask: Ask | None = None,
    examine: Examine | None = None,
    said: Mapping[str, str] = _NOTHING,
    unconverted: Mapping[str, str] = _NOTHING,
) -> Explanation:
    """Explain what would run for a call; no implementation runs.

    `ask` and `examine` are None if the arguments are not known. `said` are the reasons of backends
    that have deferred in this call, `unconverted` those of failed conversions: they are not asked
    again.
    """
    explainer = _Explainer(decision, ask, examine, said, unconverted)
    for name, verdict, reason in _judged(decision, decision):
        explainer.explain(name, verdict, reason)
    explainer.end()
    hooks: tuple[str, ...] = ()
    if decision.state.hook is not None:
        from ._observed import hook_name  # most programs have no hooks

        hooks = tuple(map(hook_name, decision.state.hook))
    lines = tuple(explainer.lines)
    function = decision.function.identifier
    return Explanation(function, decision.types, explainer.selected, lines, hooks)


def _judged(decision: Decision, given: Decision) -> Iterator[tuple[str, Verdict | None, str]]:
    """Yield each backend, in the order in which a call considers them; no verdict for candidates.

    Backends that are no candidates keep their places in the library's order. The default comes last
    if it does not match. `given` is the decision, or its conversions.
    """
    descriptions, state = decision.decider.catalog.descriptions, decision.state
    order = [*given.order]
    if given.overriding and not given.after_overriding:
        asked = [place for place, name in enumerate(order) if name not in state.prioritized]
        order.insert(asked[0] if asked else len(order), str(decision.decider.protocol))
    if DEFAULT not in order:
        order.append(DEFAULT)
    names, following = {*order}, iter(order)
    matches = given.match.default_matches
    for name in state.ordered(descriptions):
        if name == DEFAULT and not matches:
            continue
        if name in names:
            yield next(following), None, ""
        else:
            yield (name, *_why_not(given, name))
    yield from ((name, None, "") for name in following)


def _why_not(decision: Decision, name: str) -> tuple[Verdict, str]:
    """Return why a backend is no candidate."""
    decider, match, state = decision.decider, decision.match, decision.state
    description = decider.catalog.descriptions[name]
    identifier = decision.function.identifier
    # First: to prioritize a backend that lacks the function would change nothing.
    if name not in match.implementing and not description.unmet:
        absent = description.absent
        return Verdict.NO_IMPLEMENTATION, absent.get(identifier) or absent.get(EVERY, "")
    if name in decision.cycles:
        return Verdict.SKIPPED, _why_skipped(decider.catalog, decision.cycles[name])
    inactive = decider.why_inactive(name, state)
    if description.unmet:
        return Verdict.INACTIVE, inactive
    if inactive:
        # No advice to opt in where that cannot help.
        match = _if_prioritized(decision, name)
        if match.fits(name):
            return Verdict.INACTIVE, inactive
    elif match.fits(name):
        why = "the default keeps the library's own types unless a backend is prioritized"
        return Verdict.LATER, why
    return Verdict.NO_MATCH, why_no_match(match, name)


def _if_prioritized(decision: Decision, name: str) -> Match:
    """Return which backends would match if this one were prioritized."""
    state = _prioritizing(decision.state, name)
    implementing, function = decision.match.implementing, decision.function
    return Match(decision.decider, state, decision.types, implementing, function.counts)


def _prioritizing(state: DispatchState, name: str, fallback: str | None = None) -> DispatchState:
    """Return the state of a block that prioritizes a backend."""
    return DispatchState((name,), fallback=fallback).within(state)


def why_no_match(match: Match, name: str) -> str:
    """Say why a backend does not match a call."""
    if not match.types:
        return "no argument has a type to dispatch on"
    if not match.counting:
        return "no active backend that implements it knows any of the types"
    unknown = [type_identifier(cls) for cls, each in match.counting if name not in each.known]
    if unknown:
        return f"it does not know {', '.join(unknown)}"
    riding = [type_identifier(cls) for cls, each in match.riding if name in each.primary]
    if riding:
        return f"the default matches without {', '.join(riding)}, which therefore does not count"
    return "none of the types is a primary type of it"


def _why_skipped(catalog: Catalog, cycle: Any) -> str:
    from ._discovery import CYCLE

    path = cycle.in_words(catalog.default_name)
    return f"{CYCLE}: {path}. Set {catalog.environment.variable('SET_ORDER')}={cycle.set_order!r}"


def why_refused(decision: Decision) -> str:
    """Say why the default does not just run."""
    if decision.function.is_adopted:
        return "the library does not own the function, and only lets backends answer"
    if decision.declined:
        return decision.declined
    if decision.is_operator:
        return f"fallback={decision.policy!r}: an operator returns NotImplemented to Python"
    names = ", ".join(map(type_identifier, decision.foreign))
    return f"fallback={decision.policy!r}, and the library's own types do not include {names}"


class _Explainer:
    """Explains the backends of one decision, one after the other."""

    def __init__(
        self,
        decision: Decision,
        ask: Ask | None,
        examine: Examine | None,
        said: Mapping[str, str],
        unconverted: Mapping[str, str],
    ) -> None:
        self.decision = decision
        self.ask, self.examine = ask, examine
        self.said, self.unconverted = said, unconverted
        self.steps = {each.backend: each for each in decision.candidates if not each.conversions}
        self.selected: str | None = None
        self.is_decided = False  # a backend answers: the later ones are not reached
        self.depends = False  # an earlier `should_run` was not asked, and may accept
        self.postponed: list[int] = []  # places in `lines` of backends that said IF_NEEDED
        self.converters: set[str] = set()  # backends that are explained as converters
        self.lines: list[ExplainedBackend] = []

    def explain(self, name: str, verdict: Verdict | None, reason: str) -> None:
        """Explain the next backend; without a verdict, it is a candidate."""
        if verdict is Verdict.NO_IMPLEMENTATION and name in self.converters:
            return
        if verdict is None:
            # As in a call: postponed backends run before the last resort.
            is_last = name == DEFAULT and not self.decision.match.default_matches
            if is_last or (name == DEFAULT and self.decision.refuses):
                self.end()
            verdict, reason = self._judge(name)
        self._add(name, verdict, reason)

    def end(self) -> None:
        """Run the first backend that said ``IF_NEEDED``, if no other one answers."""
        if self.postponed and not self.is_decided:
            place = self.postponed[0]
            name = self.lines[place].backend
            found = self._run(name, "it said IF_NEEDED, and no other one answers")
            self.lines[place] = self._line(name, *found)

    def _add(self, name: str, verdict: Verdict, reason: str) -> None:
        self.lines.append(self._line(name, verdict, reason))

    def _line(self, name: str, verdict: Verdict, reason: str) -> ExplainedBackend:
        return ExplainedBackend(name, verdict, reason, self.decision.function.default_name)

    def _judge(self, name: str) -> tuple[Verdict, str]:
        """Return the verdict of a candidate."""
        decision = self.decision
        if self.is_decided:
            if name == DEFAULT and name in decision.state.disabled:
                return Verdict.INACTIVE, "it is disabled"
            return Verdict.LATER, ""
        if name in self.said:
            return Verdict.DEFERS, self.said[name]
        if name == DEFAULT and decision.refuses:
            return self._refuse()
        step = self.steps[name]
        reason, found = step.reason, step.implementation
        if found is not None and found.should_run is not None:
            if self.ask is None:
                self.depends = True
                return Verdict.ASKED, f"{found.should_run} decides"
            try:
                answer = self.ask(step)
            except Exception as error:  # noqa: BLE001  # the call itself would raise it
                self.is_decided = True
                return Verdict.RAISES, f"{type(error).__name__}: {error}"
            if answer is IF_NEEDED:
                self.postponed.append(len(self.lines))
                return Verdict.DEFERS, "it said IF_NEEDED: it runs if no other one does"
            if answer is not None:
                return Verdict.DEFERS, str(answer)
        if found is not None and found.variant is not None:
            reason = "; ".join(filter(None, [reason, f"its variant for {found.variant.requires}"]))
        if name == DEFAULT and decision.policy == "warn":
            reason = "fallback='warn'" + (f": {reason}" if reason else "")
        return self._run(name, reason)

    def _refuse(self) -> tuple[Verdict, str]:
        """Explain the conversions; return the verdict of the default."""
        judged = [*judged_conversions(self.decision)] if self.decision.converts else []
        self.converters = {name for name, _, _ in judged}
        # A converter gets one line: that of its conversion replaces "has no implementation".
        self.lines = [
            each
            for each in self.lines
            if each.backend not in self.converters or each.verdict is not Verdict.NO_IMPLEMENTATION
        ]
        for name, step, reason in judged:
            verdict = Verdict.CANNOT_CONVERT
            if step is not None:
                verdict, reason = self._judge_conversion(step)
            self._add(name, verdict, reason)
        if self.is_decided:
            return Verdict.LATER, "it runs with the converted arguments"
        self.is_decided = True
        return Verdict.REFUSES, why_refused(self.decision)

    def _judge_conversion(self, step: Step) -> tuple[Verdict, str]:
        decision = self.decision
        obstacle = self.unconverted.get(step.backend, "")
        text = f"arguments of {', '.join(map(type_identifier, decision.foreign))}"
        if self.examine is not None and not obstacle:
            obstacle, text = self.examine(step)
        if obstacle:
            return Verdict.CANNOT_CONVERT, obstacle
        if self.is_decided:
            return Verdict.LATER, ""
        own = decision.decider.catalog.descriptions[DEFAULT].primary_types
        to = own[0].identifier if len(own) == 1 else "the library's types"
        reason = f"{text} to {to}" if text else f"the result from {to}"
        reason += " through its conversions"
        _, unless = self._run(step.backend, reason)
        doubts = [] if unless == reason else [unless]
        # The conversion is not called: it may be slow, or move data.
        if step.conversions is not None:
            asked = step.conversions.to_default if text else step.conversions.from_default
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


def judged_conversions(decision: Decision) -> Iterator[tuple[str, Step | None, str]]:
    """Yield every backend with conversions: with its step, or with None and the reason."""
    decider, nature = decision.decider, decision.function.nature
    if not decider.converters:
        return
    found = decider.as_conversions(decision)
    for name, verdict, reason in _judged(decision, found):
        if name not in decider.converters:
            continue
        primary = [name in decider.matcher.match(cls).primary for cls in decision.foreign]
        if verdict is Verdict.NO_MATCH and not found.match.counting:
            names = ", ".join(map(type_identifier, decision.foreign))
            yield name, None, f"it does not know {names}"
        elif verdict is not None:
            yield name, None, reason
        elif not all(primary):
            cls = decision.foreign[primary.index(False)]
            yield name, None, f"{type_identifier(cls)} is no primary type of it"
        elif nature & (GENERATOR | ASYNC_GENERATOR):
            yield name, None, "it is a generator function, whose items would not be converted"
        else:
            yield name, decider.conversion(name, name in decision.state.prioritized), ""


def considered(
    decision: Decision, said: Mapping[str, str], unconverted: Mapping[str, str]
) -> tuple[ExplainedBackend, ...]:
    """Return the lines of all backends that a call has considered, without asking again."""
    explanation = explain(decision, said=said, unconverted=unconverted)
    return tuple([each for each in explanation.backends if each.backend != DEFAULT])


def with_failed_conversion(
    lines: tuple[ExplainedBackend, ...], converter: str, reason: str
) -> tuple[ExplainedBackend, ...]:
    """Return the lines with the reason why a backend could not convert the result."""
    return tuple(
        replace(each, verdict=Verdict.CANNOT_CONVERT, reason=reason)
        if each.backend == converter and each.verdict is Verdict.CONVERTS
        else each
        for each in lines
    )


def refusal(
    decision: Decision,
    backends: tuple[ExplainedBackend, ...],
    examine: Examine,
    reason: str = "",
) -> NoImplementationError:
    """Return the error that says why nothing runs a call, and what would help."""
    return NoImplementationError(
        decision.function.identifier,
        tuple(map(type_identifier, decision.types)),
        tuple(map(type_identifier, decision.foreign)),
        backends,
        decision.policy or "",
        tuple(_remedies(decision, examine)),
        reason or decision.declined,
    )


def _remedies(decision: Decision, examine: Examine) -> Iterator[str]:
    """Yield the options under which a refused call would run, one sentence each."""
    decider, state = decision.decider, decision.state
    for name in sorted(decision.match.implementing - {DEFAULT}):
        if not decider.why_inactive(name, state) or decider.catalog.descriptions[name].unmet:
            continue
        # With the backend active, a type may count that no active backend knows now.
        if _if_prioritized(decision, name).fits(name):
            again = "takes part again (it is disabled here)"
            why = again if name in state.disabled else "takes part (it requires opt-in)"
            yield f"with backend_opts(prioritize={name!r}), {name} {why}"
    for step in [] if decision.converts else decider.conversions(decision):
        obstacle, text = examine(step)
        if not obstacle:
            yield (
                f"with backend_opts(fallback='convert'), {step.backend} converts "
                f"{text or 'the result'}, and the library's own implementation runs, unless "
                f"{step.backend} says that it cannot"
            )
    also = "" if decision.converts else ", fallback='convert'"
    for name, found, _ in judged_conversions(decision):
        new = None if found is not None else _new_converter(decision, name)
        if new is not None and not examine(new)[0]:
            yield f"with backend_opts(prioritize={name!r}{also}), {name} converts"
    if DEFAULT in state.disabled:
        yield "without disable='default', the library's own implementation runs"
    elif not decision.declined:
        yield (
            "with backend_opts(fallback='default'), the library's own implementation runs "
            "with the arguments as they are"
        )


def _new_converter(decision: Decision, name: str) -> Step | None:
    """Return the conversion of a backend, if it would answer once the backend is prioritized.

    It may not: types that it knows then count, and another backend may answer first.
    """
    tried = {each.backend for each in decision.candidates}
    state = _prioritizing(decision.state, name, "convert")
    again = decision.decider.decide(decision.function, state, decision.types)
    for each in again.candidates:
        if each.backend not in tried:
            return each if each.backend == name and each.conversions is not None else None
    return None
