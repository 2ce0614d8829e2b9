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

from abc import get_cache_token
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ._context import (
    IF_NEEDED,
    POSTPONED,
    RETURNED,
    UNKNOWN,
    Continued,
    DispatchContext,
    IfNeeded,
    Progress,
    Rest,
    SharedPart,
    are_same,
    context_of_call,
)
from ._errors import in_words
from ._patterns import DEFAULT, is_awaited
from ._wrapper import TakesFound, given
from .exceptions import BackendDeferredError, NoImplementationError

if TYPE_CHECKING:
    from ._decide import Decision, Step
    from ._entries import Calls
    from ._explain import ExplainedBackend
    from ._function import Function


class Chain(TakesFound):
    """The calls of one decision.

    With `passes`, ``NotImplemented`` is the answer of a call that no candidate takes, as for the
    single candidate of an adopted function. With `sole`, the call names its backend, which may not
    defer. With `token`, the candidates may change when a module is imported or a class registered;
    it is the result of `abc.get_cache_token`, read before the decision was made.
    """

    __slots__ = (
        *("calls", "decision", "function", "is_bare", "memory", "passes", "runs_bare", "sole"),
        "token",
    )

    def __init__(
        self,
        decision: Decision,
        calls: Calls,
        *,
        passes: bool = False,
        sole: bool = False,
        token: object = None,
    ) -> None:
        self.decision = decision
        # Of the decision; here because each call reads it.
        self.function: Function = decision.function
        self.calls = calls
        self.passes = passes
        self.sole = sole
        self.token = token
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

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.run(args, kwargs)

    def current(self) -> Chain:
        """Return the chain, with the candidates as they are now."""
        awaited = self.decision.awaited
        if self.token is None or (
            get_cache_token() == self.token and all(map(is_awaited, awaited))
        ):
            return self
        # This forgets all tables, so that the next call does not come here.
        return self.calls.renewed(self)

    def run(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Make a call.

        `found` are the dispatch arguments, None and `missing` among them, if a finder has returned
        them; `progress` takes the answers of the candidates.
        """
        if self.token is not None:
            current = self.current()
            if current is not self:
                return current.run(args, kwargs, found, progress)
        if progress is None:
            progress = Progress()
        # The usual call through a chain: half the time of a walk, and the later candidates are not
        # even looked for.
        first = self.decision.first if self.runs_bare else None
        if first is not None:
            progress.backend = first.backend
            try:
                result = self.decision.load(first)(*args, **kwargs)
            except Exception as error:
                self.note(error, first, args, kwargs, progress)
                raise
            if result is not NotImplemented or first.backend == DEFAULT:
                return result
            progress.reasons[first.backend] = RETURNED
        result = self.answer(args, kwargs, found, progress)
        # If the call names the library's own implementation, `NotImplemented` is its result.
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
        """Call the candidates; `Remembering` may call another backend instead."""
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
        # The default never defers: this is its result.
        if called is self.function.default:
            return NotImplemented
        progress = Progress()
        # By the reason, `walk` knows that it has had its turn.
        place = self.decision.index_of(called)
        if place is not None:
            progress.reasons[self.decision.candidates[place].backend] = reason
            progress.cause = cause
        return self.walk(args, kwargs, 0, found, progress)

    def after_first(
        self,
        answer: object,
        context: DispatchContext,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None,
    ) -> Any:
        """Call the rest after the first candidate has deferred, or was postponed.

        `answer` is that of ``should_run``, or the reason if the implementation has deferred. The
        state has no trace: nothing need be recorded.
        """
        progress, first = Progress(), self.decision.candidates[0]
        if answer is IF_NEEDED:
            progress.postponed.append(0)
        else:
            # The reason keeps the candidate from another turn; see `walk`.
            progress.reasons[first.backend] = reason_of_answer(answer, self.decision, first)
            result = self._settle(first, args, kwargs, context, progress)
            if result is not UNKNOWN:
                return result
        return self.walk(args, kwargs, 1, found, progress)

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
        context: DispatchContext | None = None
        decision, candidates = self.decision, self.decision.candidates
        turns = range(start, len(candidates))
        for place in [*again, *turns] if again else turns:
            step = candidates[place]
            # Before the last resort, the postponed ones have their second turns. One of them may
            # defer, so that this one follows.
            if progress.postponed and step.is_last:
                again, progress.postponed = progress.postponed, []
                return self.walk(args, kwargs, place, found, progress, again)
            # It may have had its turn in a `call_next` of an earlier candidate. A backend that has
            # deferred may still convert.
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
            # From here on, the step runs an implementation, an override or the default.
            if not step.is_plain:
                # What `call_next` goes on with: the later ones, and those with a second turn to
                # come.
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
                from ._explain import warn_of_fallback

                warn_of_fallback(decision, lambda: self._considered(progress), args, kwargs)
            implementation = decision.load(step)
            if decision.state.trace is not None:
                self.record(step.backend, "called", step.reason)
            # An exception defers only if the library says so, and never that of the default.
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
                return result
            self._defer(step, reason, progress)
            result = self._settle(step, args, kwargs, context, progress)
            if result is not UNKNOWN:
                return result
        # Without a last resort, as where the policy refuses.
        if progress.postponed:
            again, progress.postponed = progress.postponed, []
            return self.walk(args, kwargs, len(candidates), found, progress, again)
        # No backend has answered, however many were tried.
        progress.backend = None
        return self._end(args, kwargs, progress)

    def _context(
        self,
        step: Step,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None,
        rest: Rest | None,
        previous: DispatchContext | None = None,
    ) -> DispatchContext:
        known = shared_part(self.decision, step, found is not None, rest)
        # Without dispatch arguments, it finds them itself when a backend asks for them.
        context = context_of_call(known, args if found is None else found, kwargs)
        # A finder runs once in a call, whichever backend has asked first.
        if previous is not None and hasattr(previous, "_dispatch_args"):
            context._dispatch_args = previous._dispatch_args
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
        kwargs: dict[str, Any],
        context: DispatchContext | None,
        progress: Progress,
    ) -> Any:
        """Return the answer after a backend deferred that has called ``call_next`` before.

        If both calls had the very same arguments, no candidate is asked or run again.
        """
        continued: Continued | None = getattr(context, "_continued", None)
        # A plain candidate has no context: this one may be that of an earlier one.
        if continued is None or context is None or context.name != step.backend:
            return UNKNOWN
        # What the others said of a part of the data does not hold for all of it.
        if not are_same((args, kwargs), (continued.args, continued.kwargs)):
            return UNKNOWN
        # The answers of both are those of this call; the outer ones were given later.
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
            # By identity: a metaclass may define ==.
            if [*map(id, types)] != [*map(id, decision.types)]:
                # A reason keeps a backend from having another turn, but not its conversions.
                before = [each.backend for each in decision.candidates[:place]]
                anew = Progress({**dict.fromkeys(before, POSTPONED), **progress.reasons})
                other = self.calls.chain(self.function, decision.state, types)
                return other.walk(args, kwargs, 0, None, anew)
        return self.walk(args, kwargs, place, None, progress)

    # What happens to a call that no backend has taken.

    def _convert(
        self, step: Step, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress
    ) -> Any:
        """Run the default with arguments that a backend converts; `UNKNOWN` if it cannot."""
        from ._convert import Conversion, Unconverted, moved_text

        reason = f"through the conversions of {step.backend}"

        # Called while the conversion runs, so that events and errors come in their order.
        def moved(before: Any, after: Any) -> None:
            if self.decision.state.trace is not None:
                self.record(step.backend, "converted", moved_text(before, after))

        def failed(error: Exception, name: str) -> None:
            from ._explain import note_conversion

            note_conversion(self.decision, error, step, name)

        def refuse(why: str) -> Exception:
            return self._refusal(progress, (), {}, step.backend, why)

        try:
            return Conversion(self.decision, step).call(
                *(args, kwargs, self.calls.keeper),
                called=lambda: self.record(DEFAULT, "called", reason),
                moved=moved,
                failed=failed,
                refuse=refuse,
            )
        except Unconverted as failure:
            progress.unconverted[step.backend] = str(failure)
            self.record(step.backend, "deferred", str(failure))
            return UNKNOWN
        except Exception as error:
            if not isinstance(error, NoImplementationError):
                self.note(error, step, args, kwargs, progress)
            raise

    def _considered(self, progress: Progress) -> tuple[ExplainedBackend, ...]:
        """Return the lines of all backends that a call has considered, without asking again."""
        from ._explain import considered

        return considered(self.decision, progress.reasons, progress.unconverted)

    def _end(self, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress) -> Any:
        """Return ``NotImplemented`` for a call that no candidate has answered, or raise."""
        decision = self.decision
        # Python asks the other operand; `invoke` has an error of its own.
        if self.sole or decision.is_operator or not decision.has_end:
            return NotImplemented
        # For the caller of `lookup`, who goes on. An exception that has deferred must not be lost.
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
        from ._explain import examining, refusal, with_failed_conversion

        lines = self._considered(progress)
        if converter:
            lines = with_failed_conversion(lines, converter, reason)
            reason = f"{converter} converts, but {reason}"
        return refusal(self.decision, lines, examining(self.decision, args, kwargs), reason)

    def note(
        self,
        error: Exception,
        step: Step,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        progress: Progress,
    ) -> None:
        """Add to an exception what the user should know: which backend ran, or why none did.

        If the arguments do not fit the library's signature, its own `TypeError` is raised instead.
        """
        # Imports of this and other modules are for rare calls, and take time in the first one.
        # What converts has run the default, too.
        if step.backend == DEFAULT or step.conversions is not None:
            if self.decision.has_end:
                from ._explain import note_reasons

                with suppress(Exception):  # so that the exception of the default propagates
                    note_reasons(self.decision, error, step, self._considered(progress))
        elif step.implementation is not None:
            from ._explain import note_backend

            note_backend(self.decision, error, step, args, kwargs)

    def record(self, backend: str, outcome: str, reason: str) -> None:
        """Record a step, if the state is traced."""
        trace = self.decision.state.trace
        if trace is not None:
            from ._observed import Outcome, TraceEvent  # few programs trace

            function, types = self.function, self.decision.types
            about = function.identifier, backend, Outcome(outcome), reason, types
            trace.append(TraceEvent(*about, function.default_name))


def reason_of(error: Exception) -> str:
    """Return the reason of an implementation that deferred by an exception."""
    return f"it raised {in_words(error)}"


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
    """Ask ``should_run``: None if the implementation should run, else `IF_NEEDED` or the reason."""
    should_run = decision.load_should_run(step)
    if should_run is None:
        return None
    try:
        answer = should_run(context, *args, **kwargs)
    except Exception as error:
        from ._explain import note_backend

        note_backend(decision, error, step, args, kwargs)
        raise
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
    from ._explain import warn_of_answer

    warn_of_answer(answer, decision, step)
    return f"should_run returned {answer!r}, and only True itself runs it: use bool(...)"
