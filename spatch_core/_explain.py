"""What users are told of calls: explanations, traces, errors, warnings and notes.

An explanation is the steps of a decision in words, with what `should_run` answers. The same lines
are in errors, in warnings of the fallback policy, in notes on exceptions, in ``spatch-core
explain`` and in its ``--why-not``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ._convert import Conversion, leaves, size_of
from ._decide import IF_NEEDED, POSTPONED, Decision, Step, Verdict
from ._errors import add_note, in_words, is_first, leaves_out, warn_caller
from ._patterns import DEFAULT, callable_identifier, shown, type_identifier
from .exceptions import BackendDeferredError, FallbackWarning, NoImplementationError

if TYPE_CHECKING:
    from ._call import Run


# --- explanations --------------------------------------------------------------------------------


def as_html(value: object) -> str:
    """Return the text of a value as a notebook shows it."""
    from html import escape

    return f"<pre>{escape(str(value))}</pre>"


@dataclass(frozen=True, slots=True)
class ExplainedBackend:
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
class Explanation:
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
        lines = [f"{self.function}({_text(self.types) or 'no dispatch types'})"]
        if self.hooks:
            lines.append(f"  seen first by hooks: {', '.join(self.hooks)}")
        width = max(len(each.shown) for each in self.backends)
        for each in self.backends:
            answers = each.verdict in (Verdict.RUNS, Verdict.CONVERTS)
            mark = ">" if answers and each.backend == self.selected else " "
            reason = f": {each.reason}" if each.reason else ""
            lines.append(f"{mark} {each.shown:<{width}}  {each.verdict}{reason}")
        return "\n".join(lines)

    _repr_html_ = as_html


def explain(decision: Decision, run: Run | None = None, *, asks: bool = False) -> Explanation:
    """Explain what would run for a call; no implementation runs.

    `run` has the arguments, if they are known, and the answers that backends have given. If it
    `asks`, each other ``should_run`` is called.
    """
    explainer = _Explainer(decision, run, asks)
    for step in decision.steps:
        explainer.explain(step)
    hooks = tuple(map(callable_identifier, decision.state.hook or ()))
    # A converter gets one line: that of its conversion replaces "has no implementation".
    lines = [
        each
        for each in explainer.lines
        if each.backend not in explainer.converters or each.verdict is not Verdict.NO_IMPLEMENTATION
    ]
    function = decision.function.identifier
    return Explanation(function, decision.types, explainer.selected, tuple(lines), hooks)


class _Explainer:
    """Explains the steps of one decision, one after the other."""

    def __init__(self, decision: Decision, run: Run | None, asks: bool) -> None:
        self.decision, self.run, self.asks = decision, run, asks
        self.selected: str | None = None
        self.is_decided = False  # a backend answers: the later ones are not reached
        self.depends = False  # an earlier `should_run` was not asked, and may accept
        self.postponed: list[tuple[int, Step]] = []  # said IF_NEEDED, with their places in `lines`
        self.converters: set[str] = set()  # backends that are explained as converters
        self.lines: list[ExplainedBackend] = []

    def explain(self, step: Step) -> None:
        """Explain the next step."""
        verdict, reason = step.verdict, step.reason
        if step.is_last and self.postponed and not self.is_decided:
            # As in a call, the first of the postponed backends runs before the last resort.
            place, first = self.postponed[0]
            found = self._answers(first, "it said IF_NEEDED, and no other one answers")
            self.lines[place] = self._line(first.backend, *found)
        if verdict in (Verdict.CONVERTS, Verdict.CANNOT_CONVERT):
            if self.is_decided and not self.converters:
                return  # a backend answers, and no conversion is reached
            self.converters.add(step.backend)
            if verdict is Verdict.CONVERTS:
                verdict, reason = self._judge_conversion(step)
        elif verdict is Verdict.REFUSES and self.is_decided:
            # The default would not refuse, but is not reached.
            verdict, reason = Verdict.LATER, ""
            if self.converters:
                reason = "it runs with the converted arguments"
            elif self.decision.default_is_disabled:
                verdict, reason = Verdict.INACTIVE, "it is disabled"
        elif verdict is Verdict.RUNS:
            verdict, reason = self._judge(step)
        self.lines.append(self._line(step.backend, verdict, reason))

    def _line(self, name: str, verdict: Verdict, reason: str) -> ExplainedBackend:
        return ExplainedBackend(name, verdict, reason, self.decision.default_name)

    def _judge(self, step: Step) -> tuple[Verdict, str]:
        """Return the verdict of a candidate."""
        if self.is_decided:
            return Verdict.LATER, ""
        name, reason, found = step.backend, step.reason, step.implementation
        if self.run is not None and name in self.run.reasons:
            return Verdict.DEFERS, self.run.reasons[name]
        if found is not None and found.should_run is not None:
            if self.run is None or not self.asks:
                self.depends = True
                return Verdict.ASKED, f"{found.should_run} decides"
            try:
                answer = self.run.ask(step, self.run.context(step))
            except Exception as error:  # noqa: BLE001  # the call itself would raise it
                return self._raises(error)
            if answer is IF_NEEDED:
                self.postponed.append((len(self.lines), step))
                return Verdict.DEFERS, POSTPONED
            if answer is not None:
                return Verdict.DEFERS, str(answer)
        more = ""
        if found is not None and found.variant is not None:
            more = f"its variant for {found.variant.requires}"
        elif name == DEFAULT and self.decision.warns:
            more = "fallback='warn' gives a warning"
        return self._answers(step, "; ".join(filter(None, [reason, more])))

    def _judge_conversion(self, step: Step) -> tuple[Verdict, str]:
        decision = self.decision
        obstacle, text = "", f"arguments of {_text(decision.foreign)}"
        if self.run is not None:
            args, kwargs = self.run.args, self.run.kwargs
            conversion = Conversion(decision, step)
            obstacle = self.run.unconverted.get(step.backend, "")
            obstacle = obstacle or conversion.obstacle(args, kwargs)
            text = conversion.text(args, kwargs)
        if obstacle:
            return Verdict.CANNOT_CONVERT, obstacle
        if self.is_decided:
            return Verdict.LATER, ""
        own = decision.backends.catalog.descriptions[DEFAULT].primary_types
        to = own[0].identifier if len(own) == 1 else "the library's types"
        reason = f"{text} to {to}" if text else f"the result from {to}"
        _, unless = self._answers(step, "")
        unless = f"{unless}, or" if unless else "unless"
        # The conversion is not called: it may be slow, or move data.
        assert step.conversions is not None
        asked = step.conversions.to_default if text else step.conversions.from_default
        text = f"{reason} through its conversions, {unless} {asked} says that it cannot"
        return Verdict.CONVERTS, text

    def _answers(self, step: Step, reason: str) -> tuple[Verdict, str]:
        """Return the verdict of a backend that answers, unless an unasked one before it does."""
        decision, found = self.decision, step.implementation
        if found is not None and self.asks:
            try:
                decision.backends.load(decision.function, step.backend, found.function)
            except Exception as error:  # noqa: BLE001  # the call itself would raise it
                return self._raises(error)
        self.is_decided = True
        if self.depends:
            return Verdict.RUNS, "unless one above does"
        self.selected = step.backend
        return Verdict.RUNS, reason

    def _raises(self, error: Exception) -> tuple[Verdict, str]:
        self.is_decided = True
        return Verdict.RAISES, in_words(error)


# --- traces --------------------------------------------------------------------------------------


class Outcome(str, Enum):
    """The outcome of one candidate in one call."""

    CALLED = "called"
    CONVERTED = "converted"
    DEFERRED = "deferred"

    __str__ = str.__str__


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One step of a dispatched call.

    Parameters
    ----------
    function : str
        Identifier of the library's function.
    backend : str
        The candidate; ``"default"`` is the library's own implementation.
    outcome : Outcome
        ``CALLED`` is recorded before the implementation runs, so that the events of calls
        that it makes itself come after its own; ``DEFERRED`` follows if it then defers, and stands
        alone if ``should_run`` or a conversion does. ``CONVERTED`` is recorded for each object
        that is converted.
    reason : str
        Why it deferred; why it was called although it does not match; or the conversion: the type
        before and after, and the number of bytes if known.
    types : tuple of type
        The dispatch types of the call.
    default_name : str, optional
        The name of the library's own implementation in the text.
    """

    function: str
    backend: str
    outcome: Outcome
    reason: str
    types: tuple[type, ...]
    default_name: str = DEFAULT

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.function} -> {shown(self.backend, self.default_name)} {self.outcome}{reason}"


class Trace(list[TraceEvent]):
    """The events of the calls in a traced block, in order.

    ``with backend_opts(trace=True) as trace:`` gives one. Calls append to this list. Printed, it
    has one line per event.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    _repr_html_ = as_html


class PrintedTrace(Trace):
    """The trace that the variable ``<PREFIX>_TRACE`` asks for: a line per event on stderr."""

    __slots__ = ()

    def append(self, event: TraceEvent) -> None:
        """Print an event; it is not kept, because a program may run for days."""
        if sys.stderr is not None:  # as in programs without a console
            sys.stderr.write(f"{event}\n")


# --- errors, warnings and notes of a call, by its answers: no backend is asked again -------------


def considered(run: Run) -> tuple[ExplainedBackend, ...]:
    """Return the lines of all backends that a call has considered."""
    explanation = explain(run.decision, run)
    return tuple([each for each in explanation.backends if each.backend != DEFAULT])


def refusal(run: Run, converter: str = "", reason: str = "") -> NoImplementationError:
    """Return the error that says why nothing runs a call, and what would help.

    If a conversion of the result has failed, the `reason` is that of the `converter`.
    """
    decision = run.decision
    if converter:
        run.unconverted[converter] = reason
        reason = f"{converter} converts, but {reason}"
    backends = considered(run)
    return NoImplementationError(
        decision.function.identifier,
        _names(decision.types),
        _names(decision.foreign),
        backends,
        decision.policy or "",
        tuple(_remedies(run, backends)),
        reason or decision.declined,
    )


def _remedies(run: Run, explained: tuple[ExplainedBackend, ...]) -> Iterator[str]:
    """Yield the options under which a refused call would run, one sentence each."""
    decision, args, kwargs = run.decision, run.args, run.kwargs
    backends, state = decision.backends, decision.state
    if decision.remedy:
        yield decision.remedy
        return
    # These would match if they were prioritized.
    for name in [each.backend for each in explained if each.verdict is Verdict.INACTIVE]:
        if not backends.catalog.descriptions[name].unmet:
            again = "takes part again (it is disabled here)"
            why = again if name in state.disabled else "takes part (it requires opt-in)"
            yield f"with backend_opts(prioritize={name!r}), {name} {why}"
    also = "" if decision.converts else ", fallback='convert'"
    # Conversions are for the default.
    for step in () if decision.default_is_disabled else decision.conversion_steps():
        conversion = Conversion(decision, step)
        if step.conversions is None or conversion.obstacle(args, kwargs):
            continue
        if step.verdict is Verdict.CANNOT_CONVERT:
            yield f"with backend_opts(prioritize={step.backend!r}{also}), {step.backend} converts"
        elif not decision.converts:
            yield (
                f"with backend_opts(fallback='convert'), {step.backend} converts "
                f"{conversion.text(args, kwargs) or 'the result'}, and the library's own "
                f"implementation runs, unless {step.backend} says that it cannot"
            )
    if decision.default_is_disabled:
        name = decision.default_name
        yield f"without disable={name!r}, the library's own implementation takes part"
    elif not decision.declined:
        yield (
            "with backend_opts(fallback='default'), the library's own implementation runs "
            "with the arguments as they are"
        )


def warn_of_fallback(run: Run) -> None:
    """Warn that the default runs, once for each function and types."""
    decision = run.decision
    identifier, types = decision.function.identifier, _names(decision.types)
    told, key = decision.backends.told, (identifier, types)
    if key in told:
        return
    foreign = {*map(id, decision.foreign)}
    found = leaves((*run.args, *run.kwargs.values()), lambda cls: id(cls) in foreign)
    size = sum(filter(None, map(size_of, found.values())))
    warn_caller(FallbackWarning(identifier, types, _names(decision.foreign), considered(run), size))
    is_first(told, key)  # only now: a filter may turn the warning into an exception, each time


def note(run: Run, error: Exception, step: Step) -> None:
    """Add to an exception what the user should know: which backend ran, or why none did.

    If the arguments do not fit the library's signature, its own `TypeError` is raised instead.
    """
    decision = run.decision
    if step.implementation is not None:
        _note_backend(run, error, step)
    # What converts has run the default, too.
    elif decision.has_end and (step.backend == DEFAULT or step.conversions is not None):
        with suppress(Exception):  # so that the exception of the default propagates
            _note_reasons(run, error, step)


def _note_reasons(run: Run, error: Exception, step: Step) -> None:
    """Add to an exception of the default why no backend ran."""
    # The note names the converter itself before the reasons.
    decision = run.decision
    others = [each for each in considered(run) if each.verdict is not Verdict.CONVERTS]
    reasons = ":" * bool(others) + "".join(f"\n  {each}" for each in others)
    what = f"its default implementation ran, which is not made for {_text(decision.foreign)}"
    if step.conversions is not None:
        what = f"{step.backend} converts for its default implementation"
    about = f"{decision.function.identifier} for {_text(decision.types)}"
    # A conversion has failed, or a nested call.
    unless = "No backend ran ", "Raised while "
    add_note(error, f"No backend ran {about}, so {what}{reasons}", unless)


def _note_backend(run: Run, error: Exception, step: Step) -> None:
    """Add to an exception of a backend which one ran, or raise that of unfit arguments."""
    function, name, args, kwargs = run.decision.function, step.backend, run.args, run.kwargs
    is_called = isinstance(error, TypeError) and not function.is_adopted
    if is_called and function.misfit(args, kwargs) is not None:
        try:
            function.default(*args, **kwargs)  # Python refuses the arguments
        except TypeError as own:
            raise own.with_traceback(None) from None
    # These name the backend themselves.
    if not isinstance(error, (NoImplementationError, BackendDeferredError)):
        start = "Raised while the backend "
        add_note(error, f"{start}{name!r} ran {function.identifier}; {leaves_out(name)}", start)


def _names(types: Iterable[type]) -> tuple[str, ...]:
    return tuple(map(type_identifier, types))


def _text(types: Iterable[type]) -> str:
    return ", ".join(map(type_identifier, types))
