"""The call: the candidates of a decision are called one after the other, until one answers.

============================================  ===============================================
the candidate                                 what happens
============================================  ===============================================
declines by ``should_run``                    it defers
returns ``IF_NEEDED`` from ``should_run``     it is postponed, and runs before the last resort
returns ``NotImplemented``, or raises an      it defers
exception of ``defer_on``
converts                                      the default runs with converted arguments, unless
                                              they cannot be converted
returns or raises anything else               that is the answer of the call
============================================  ===============================================

The default never defers. If no candidate answers, the call ends by the fallback policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import is_
from types import CoroutineType, GeneratorType
from typing import TYPE_CHECKING, Any

from ._context import (
    IF_NEEDED,
    POSTPONED,
    RETURNED,
    UNKNOWN,
    CallContext,
    Continued,
    DispatchContext,
    IfNeeded,
    Progress,
    Rest,
    SharedPart,
)
from ._patterns import DEFAULT
from ._wrapper import ASYNC_GENERATOR, COROUTINE, TakesFound, given
from .exceptions import BackendDeferredError, NoImplementationError

if TYPE_CHECKING:
    from ._convert import Conversion
    from ._decide import Decision, Step
    from ._entries import Calls
    from ._explain import ExplainedBackend
    from ._function import Function

NOTE = "No backend ran "
"""The first words of notes on exceptions of the default, by which they are recognized."""


class Chain(TakesFound):
    """The calls of one decision.

    Parameters
    ----------
    decision : Decision
        The candidates, and how the call ends.
    calls : Calls
        The library's.
    passes : bool, default: False
        Whether ``NotImplemented`` is the answer of a call that no candidate takes, as for the
        single candidate of an adopted function.
    sole : bool, default: False
        Whether the call names its backend, which may not defer.
    """

    __slots__ = (
        *("_conversions", "_told", "calls", "decision", "function", "is_bare", "memory"),
        *("passes", "runs_bare", "sole"),
    )

    def __init__(
        self, decision: Decision, calls: Calls, *, passes: bool = False, sole: bool = False
    ) -> None:
        self.decision = decision
        self.function: Function = decision.function
        self.calls = calls
        self.passes = passes
        self.sole = sole
        self.memory = self.function.memory
        first = decision.first
        # Whether the first implementation can be called without more ado.
        self.is_bare = (
            first is not None
            and first.is_plain
            and decision.state.trace is None
            and not (first.backend == DEFAULT and decision.warns)
        )
        # Whether calls through this object call it so, too.
        is_asked = sole or self.memory is not None or bool(calls.defer_on)
        self.runs_bare = self.is_bare and not is_asked
        # Caches of one call's worth; see `_considered` and `_conversion`.
        self._told: tuple[object, tuple[ExplainedBackend, ...]] = None, ()
        self._conversions: dict[str, Conversion] = {}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.run(args, kwargs)

    def call_found(self, found: tuple[Any, ...] | None, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call with the dispatch arguments that a finder has returned."""
        return self.run(args, self.function.without_like(kwargs), found)

    def run(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Make a call.

        Parameters
        ----------
        args, kwargs
            The arguments.
        found : tuple, optional
            The dispatch arguments, None and `missing` among them, if a finder has returned them.
        progress : Progress, optional
            Takes the answers of the candidates.
        """
        if progress is None:
            progress = Progress()
        first = self.decision.first if self.runs_bare else None
        if first is not None:
            progress.backend = first.backend
            try:
                result = self.decision.load(first)(*args, **kwargs)
            except Exception as error:
                self.note(error, first, args, kwargs, progress)
                raise
            if result is not NotImplemented or first.backend == DEFAULT:
                return checked(self.function, first.backend, result)
            progress.reasons[first.backend] = RETURNED
        result = self.answer(args, kwargs, found, progress)
        if self.sole and result is NotImplemented and progress.backend != DEFAULT:
            (step,) = self.decision.candidates
            reason = progress.reasons.get(step.backend, POSTPONED)
            identifier = self.function.identifier
            raise BackendDeferredError(step.backend, identifier, reason) from progress.cause
        return result

    def answer(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None,
        progress: Progress,
    ) -> Any:
        """Call the candidates."""
        return self.walk(args, kwargs, 0, found, progress)

    def after(
        self,
        called: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None = None,
        reason: str = RETURNED,
        cause: Exception | None = None,
    ) -> Any:
        """Call the rest after the bare implementation `called` has deferred.

        It need not be that of any candidate: if the call has changed the state, this is another
        decision. No other candidate was called yet.
        """
        if called is self.function.default:
            return NotImplemented
        progress = Progress()
        place = self.decision.index_of(called)
        if place is not None:
            progress.reasons[self.decision.candidates[place].backend] = reason
            progress.cause = cause
        return self.walk(args, kwargs, 0, found, progress)

    def walk(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        start: int,
        found: tuple[Any, ...] | None,
        progress: Progress,
        again: Sequence[int] = (),
    ) -> Any:
        """Call the candidates in turn, from a place on, until one answers.

        `again` are the places of postponed candidates, all before `start`: they go first, and their
        ``should_run`` is not called again.
        """
        context: CallContext | None = None
        decision, candidates = self.decision, self.decision.candidates
        turns = range(start, len(candidates))
        for place in [*again, *turns] if again else turns:
            step = candidates[place]
            if progress.postponed and step.is_last:
                again, progress.postponed = progress.postponed, []
                return self.walk(args, kwargs, place, found, progress, again)
            # It may have had its turn in a `call_next` of an earlier candidate.
            if step.conversions is None and (
                step.backend in progress.reasons or place in progress.postponed
            ):
                continue
            progress.backend = step.backend
            if step.conversions is not None:
                result = self._convert(step, args, kwargs, progress)
                if result is UNKNOWN:
                    continue
                return result
            if not step.is_plain:
                waiting = [each for each in again if each > place] if place < start else ()
                rest = Rest(self, place + 1, progress, waiting)
                context = self._context(step, args, kwargs, found, rest, context)
                # A place before `start` is a second turn, without `should_run`.
                if place >= start:
                    answer = ask(decision, step, context, args, kwargs)
                    if isinstance(answer, IfNeeded):
                        progress.postponed.append(place)
                        self.record(step.backend, "deferred", POSTPONED)
                        continue
                    if answer is not None:
                        self._defer(step, answer, progress)
                        continue
            if step.backend == DEFAULT and decision.warns:
                self._warn(args, kwargs, progress)
            implementation = decision.load(step)
            if decision.state.trace is not None:
                self.record(step.backend, "called", step.reason)
            reason = RETURNED
            try:
                if step.implementation is not None and step.implementation.uses_context:
                    result = implementation(context, *args, **kwargs)
                else:
                    result = implementation(*args, **kwargs)
            except Exception as error:
                if not self._defers_by(error, step):
                    self.note(error, step, args, kwargs, progress)
                    raise
                progress.cause, reason = error, reason_of(error)
                result = NotImplemented
            if result is not NotImplemented or step.backend == DEFAULT:
                return (
                    result
                    if not self.function.nature
                    else checked(self.function, step.backend, result)
                )
            self._defer(step, reason, progress)
            result = self._settle(step, args, kwargs, context, progress)
            if result is not UNKNOWN:
                return result
        if progress.postponed:
            again, progress.postponed = progress.postponed, []
            return self.walk(args, kwargs, len(candidates), found, progress, again)
        progress.backend = None
        return self._end(args, kwargs, progress)

    def _context(
        self,
        step: Step,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None,
        rest: Rest | None,
        previous: CallContext | None = None,
    ) -> CallContext:
        context = CallContext()
        context._known = shared_part(self.decision, step, found is not None, rest)
        context._args = args if found is None else found
        context._kwargs = kwargs
        if previous is not None and hasattr(previous, "_dispatch_args"):
            context._dispatch_args = previous._dispatch_args  # so that a finder runs once
        return context

    def _defer(self, step: Step, reason: str, progress: Progress) -> None:
        progress.reasons[step.backend] = reason
        self.record(step.backend, "deferred", reason)

    def _defers_by(self, error: Exception, step: Step) -> bool:
        return step.implementation is not None and isinstance(error, self.calls.defer_on)

    def _settle(
        self,
        step: Step,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        context: CallContext | None,
        progress: Progress,
    ) -> Any:
        """Return the answer after a backend deferred that has called ``call_next`` before.

        If both calls had the very same arguments, no candidate is asked or run again.
        """
        continued: Continued | None = getattr(context, "_continued", None)
        if continued is None or context is None or context.name != step.backend:
            return UNKNOWN
        mine = continued.kwargs
        if len(args) != len(continued.args) or mine.keys() != kwargs.keys():
            return UNKNOWN
        if not all(map(is_, continued.args, args)) or any(mine[k] is not kwargs[k] for k in mine):
            return UNKNOWN
        inner = continued.progress
        progress.reasons = {**inner.reasons, **progress.reasons}
        progress.unconverted.update(inner.unconverted)
        progress.postponed, progress.cause = inner.postponed, inner.cause or progress.cause
        if continued.result is not UNKNOWN:
            progress.backend = inner.backend
        return continued.result

    def call_next(
        self, place: int, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress
    ) -> Any:
        """Call the candidates from a place on; with other types, those for these types."""
        decision = self.decision
        if self.sole:
            (step,) = decision.candidates
            raise BackendDeferredError(
                *(step.backend, self.function.identifier),
                "it called context.call_next(), but invoke(backend=...) names no other backend",
            )
        # The types of adopted functions are passed by their callers, not found among the arguments.
        if not self.function.is_adopted:
            found = self.function.extract(args, kwargs)
            types = decision.decider.unique_types(map(type, found), decision.state)
            if [*map(id, types)] != [*map(id, decision.types)]:
                # A reason keeps a backend from having another turn, but not its conversions.
                before = [each.backend for each in decision.candidates[:place]]
                anew = Progress({**dict.fromkeys(before, POSTPONED), **progress.reasons})
                other = self.calls.chain(self.function, decision.state, types)
                return other.walk(args, kwargs, 0, None, anew)
        return self.walk(args, kwargs, place, None, progress)

    # What happens to a call that no backend has taken.

    def _warn(self, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress) -> None:
        """Warn that the default runs, once for each function and types."""
        from ._convert import leaves, size_of
        from ._errors import warn_caller
        from ._patterns import type_identifier
        from .exceptions import FallbackWarning

        decision = self.decision
        types = tuple(map(type_identifier, decision.types))
        if decision.decider.is_told((self.function.identifier, types)):
            return
        foreign = {*map(id, decision.foreign)}
        found = leaves((*args, *kwargs.values()), lambda cls: id(cls) in foreign)
        warn_caller(
            FallbackWarning(
                *(self.function.identifier, types, tuple(map(type_identifier, decision.foreign))),
                self._considered(progress),
                sum(filter(None, map(size_of, found.values()))),
            )
        )

    def _convert(
        self, step: Step, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress
    ) -> Any:
        """Run the default with arguments that a backend converts; `UNKNOWN` if it cannot."""
        from ._convert import Unconverted, moved_text

        reason = f"through the conversions of {step.backend}"

        def moved(before: Any, after: Any) -> None:
            if self.decision.state.trace is not None:
                self.record(step.backend, "converted", moved_text(before, after))

        def refuse(why: str) -> Exception:
            return self._refusal(progress, (), {}, step.backend, why)

        try:
            return self._conversion(step).call(
                *(args, kwargs, self.calls.keeper),
                *(lambda: self.record(DEFAULT, "called", reason), moved, refuse),
            )
        except Unconverted as failure:
            progress.unconverted[step.backend] = str(failure)
            self.record(step.backend, "deferred", str(failure))
            return UNKNOWN
        except Exception as error:
            if not isinstance(error, NoImplementationError):
                self.note(error, step, args, kwargs, progress)
            raise

    def _conversion(self, step: Step) -> Conversion:
        """Return the conversions of a backend, which remember the classes that they have met."""
        from ._convert import Conversion

        found = self._conversions.get(step.backend)
        if found is None:
            found = self._conversions[step.backend] = Conversion(self.decision, step)
        return found

    def _considered(self, progress: Progress) -> tuple[ExplainedBackend, ...]:
        """Return the lines of all backends that a call has considered, without asking again."""
        from ._explain import considered

        match = self.decision.decider.matcher.match
        # An import or a registration may change the matches. A subclass of str may define `==`.
        said = {**progress.reasons}, {**progress.unconverted}, [*map(match, self.decision.types)]
        is_plain = all(type(text) is str for each in said[:2] for text in each.values())
        known, lines = self._told
        if not is_plain or said != known:
            lines = considered(self.decision, progress.reasons, progress.unconverted)
            if is_plain:
                self._told = said, lines  # one tuple: other threads see a matching pair
        return lines

    def _end(self, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress) -> Any:
        """Return ``NotImplemented`` for a call that no candidate has answered, or raise."""
        decision = self.decision
        if self.sole or decision.is_operator or not decision.has_end:
            return NotImplemented
        if self.passes and progress.cause is None:
            return NotImplemented
        raise self._refusal(progress, args, kwargs) from progress.cause

    def _refusal(
        self,
        progress: Progress,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        converter: str = "",
        reason: str = "",
    ) -> NoImplementationError:
        """Return the error; with a converter, its conversion of the result has failed."""
        from ._explain import refusal, with_failed_conversion

        def examine(step: Step) -> tuple[str, str]:
            conversion = self._conversion(step)
            return conversion.obstacle(args, kwargs), conversion.text(args, kwargs)

        lines = self._considered(progress)
        if converter:
            lines = with_failed_conversion(lines, converter, reason)
            reason = f"{converter} converts, but {reason}"
        return refusal(self.decision, lines, examine, reason)

    def note(
        self,
        error: Exception,
        step: Step,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        progress: Progress,
    ) -> None:
        """Add to an exception what the user should know: which backend ran, or why none did.

        Raises
        ------
        TypeError
            The library's own, if the arguments do not fit its signature.
        """
        if step.backend == DEFAULT or step.conversions is not None:
            if self.decision.has_end:
                with suppress(Exception):  # so that the exception of the default propagates
                    self._note_reasons(error, step, progress)
        elif step.implementation is not None:
            if isinstance(error, TypeError) and not _fits(self.function, args, kwargs):
                try:
                    self.function.default(*args, **kwargs)  # Python refuses the arguments
                except TypeError as own:
                    raise own.with_traceback(None) from None
            if not isinstance(error, (NoImplementationError, BackendDeferredError)):
                _add_note(
                    error,
                    f"Raised while the backend {step.backend!r} ran {self.function.identifier}; "
                    f"backend_opts(disable={step.backend!r}) leaves it out",
                    "Raised while the backend ",
                )

    def _note_reasons(self, error: Exception, step: Step, progress: Progress) -> None:
        from ._decide import Verdict
        from ._patterns import type_identifier

        if getattr(BaseException, "add_note", None) is None:
            return
        decision = self.decision
        lines = self._considered(progress)
        # The note names the converter itself before the reasons.
        others = [each for each in lines if each.verdict is not Verdict.CONVERTS]
        reasons = ":" * bool(others) + "".join(f"\n  {each}" for each in others)
        foreign = ", ".join(map(type_identifier, decision.foreign))
        what = f"its default implementation ran, which is not made for {foreign}"
        if step.conversions is not None:
            what = f"{step.backend} converts for its default implementation"
        types = ", ".join(map(type_identifier, decision.types))
        text = f"{NOTE}{self.function.identifier} for {types}, so {what}{reasons}"
        _add_note(error, text, NOTE)

    def record(self, backend: str, outcome: str, reason: str) -> None:
        """Record a step, if the state is traced."""
        trace = self.decision.state.trace
        if trace is not None:
            from ._observed import Outcome, record  # few programs trace

            record(trace, self.function, backend, Outcome(outcome), reason, self.decision.types)


def _fits(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether arguments fit the signature of the default implementation."""
    from inspect import signature

    try:
        own = signature(function.default, follow_wrapped=False)
    except (TypeError, ValueError):
        return True  # some functions written in C have none
    try:
        own.bind(*args, **kwargs)
    except TypeError:
        return function.is_adopted
    return True


def _add_note(error: BaseException, text: str, start: str) -> None:
    """Add a note, from Python 3.11 on; the note of a nested call says more."""
    add_note: Any = getattr(BaseException, "add_note", None)
    notes = getattr(error, "__notes__", ())
    if add_note is None or any(type(each) is str and each.startswith(start) for each in notes):
        return
    with suppress(Exception):  # an exception of a third party may refuse
        add_note(error, text)


def reason_of(error: Exception) -> str:
    """Return the reason of an implementation that deferred by an exception."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # a third party's __str__
        text = ""
    return f"it raised {type(error).__name__}" + (f": {text}" if text else "")


def shared_part(decision: Decision, step: Step, is_found: bool, rest: Rest | None) -> SharedPart:
    """Return the part that the contexts of calls with the same decision share."""
    function = decision.function
    extract = given if is_found else function.extract
    known = decision.types, step.backend, step.prioritized, function.identifier
    return SharedPart(*known, extract, rest)


def ask(
    decision: Decision,
    step: Step,
    context: DispatchContext,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> str | IfNeeded | None:
    """Ask ``should_run``: None if the implementation should run, else `IF_NEEDED` or the reason.

    Raises
    ------
    ImplementationImportError
        If ``should_run`` cannot be imported.
    """
    should_run = decision.load_should_run(step)
    if should_run is None:
        return None
    answer = should_run(context, *args, **kwargs)
    # Only True itself: the truth of an array would be ambiguous, or take a computation.
    if answer is True:
        return None
    return IF_NEEDED if answer is IF_NEEDED else reason_of_answer(answer, decision, step)


def reason_of_answer(answer: Any, decision: Decision, step: Step) -> str:
    """Return the reason for an answer of ``should_run``; a string is the reason itself.

    Anything but False, None and a string is a mistake of the backend, which gets one warning.
    """
    if isinstance(answer, str):
        return answer
    if answer is None or answer is False:
        return f"should_run returned {answer!r}"
    _warn_of_answer(answer, decision, step)
    return f"should_run returned {answer!r}, and only True itself runs it: use bool(...)"


def _warn_of_answer(answer: Any, decision: Decision, step: Step) -> None:
    """Warn once of an answer of ``should_run`` that has no meaning."""
    identifier, found = decision.function.identifier, step.implementation
    if found is None or decision.decider.is_told((identifier, step.backend)):
        return
    from ._errors import warn_caller
    from .exceptions import SpatchCoreWarning

    warn_caller(
        SpatchCoreWarning(
            f"{found.should_run} of backend {step.backend!r} returned {answer!r} for {identifier}, "
            "which counts as False: only True itself runs the backend. Return bool(...), a reason "
            "as a string, or IF_NEEDED"
        )
    )


# Coroutine and generator functions.

_AWAITABLE_GENERATOR = 0x100
"""The flag of generators that `types.coroutine` has marked."""


def checked(function: Function, backend: str, result: Any, giver: str = "") -> Any:
    """Return the answer of an implementation in the form that the wrapper uses.

    The wrapper of a coroutine function awaits the answer, that of a generator function iterates
    over it. What comes of it is not looked at again. `giver` names a giver that is no backend.

    Raises
    ------
    TypeError
        If it is of the wrong kind.
    """
    nature = function.nature
    if not nature:
        return result
    if nature & COROUTINE:
        kind, needed, fits = "a coroutine function", "an awaitable", _is_awaitable(result)
    elif nature & ASYNC_GENERATOR:
        kind, needed = "an asynchronous generator function", "an asynchronous iterator"
        fits = hasattr(type(result), "__anext__")
        # An iterator that is no generator: the wrapper needs the other methods, too.
        if fits and not all(hasattr(result, name) for name in ("asend", "athrow", "aclose")):
            return _PlainSteps(result)
    else:
        kind, needed = "a generator function", "an iterator"
        fits = hasattr(type(result), "__next__") or (
            nature & _AWAITABLE_GENERATOR != 0 and type(result) is CoroutineType
        )
    if not fits:
        if type(result) is CoroutineType:
            result.close()  # or Python would warn that it was never awaited
        which = f"returned {result!r} for {function.identifier}, which is {kind}"
        raise TypeError(
            f"{giver} {which}; it must return {needed}, e.g. what call.next(...) returns"
            if giver
            else f"backend {backend!r} {which}; its implementation must return {needed}"
        )
    return result


def _is_awaitable(result: object) -> bool:
    if type(result) is GeneratorType:
        return result.gi_code.co_flags & _AWAITABLE_GENERATOR != 0
    return hasattr(type(result), "__await__")


class _PlainSteps:
    """An asynchronous iterator with the methods of an asynchronous generator.

    As in ``yield from``, the iterator learns nothing of `athrow` and `aclose`, and `asend` fails.
    """

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __aiter__(self) -> Any:
        return self

    def __anext__(self) -> Any:
        return self._iterator.__anext__()

    def asend(self, value: object) -> Any:
        """Fail as `yield from` does."""
        return self._iterator.asend(value)

    async def athrow(self, error: BaseException) -> Any:
        """Raise the error here."""
        raise error

    async def aclose(self) -> None:
        """Do nothing."""
