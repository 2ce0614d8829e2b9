"""The call: the candidates of a decision are called one after the other, until one answers.

============================================  ===============================================
the candidate                                 what happens
============================================  ===============================================
declines by ``should_run``                    it defers
returns ``IF_NEEDED`` from ``should_run``     it is postponed: it runs if no other candidate that
                                              matches answers, before what does not match
returns ``NotImplemented``, or raises an      it defers
exception of ``defer_on``
converts                                      the default runs with converted arguments, unless
                                              they cannot be converted
returns or raises anything else               that is the answer of the call
============================================  ===============================================

The default never defers. If no candidate answers, the call ends by the fallback policy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._context import (
    IF_NEEDED,
    POSTPONED,
    RETURNED,
    UNKNOWN,
    DispatchContext,
    IfNeeded,
    Progress,
    Rest,
    SharedPart,
    are_same,
    context_of_call,
)
from ._errors import in_words
from ._patterns import DEFAULT
from ._state import MAX_ENTRIES
from ._wrapper import TakesFound, given
from .exceptions import BackendDeferredError, NoImplementationError

if TYPE_CHECKING:
    from ._decide import Decision, Step
    from ._entries import Calls
    from ._function import Dispatcher, Function
    from ._state import Scope


class Chain(TakesFound):
    """The calls of one decision.

    With `sole`, the backend is fixed, by `invoke` or by the instance, and may not defer.
    """

    __slots__ = ("_after", "calls", "decision", "function", "is_bare", "runs_bare", "sole")

    def __init__(self, decision: Decision, calls: Calls, *, sole: bool = False) -> None:
        self.decision = decision
        # Of the decision; here because each call reads it.
        self.function: Function = decision.function
        self.calls = calls
        self.sole = sole
        first = decision.first
        # Whether the first implementation can be called without more ado.
        self.is_bare = (
            first is not None
            and first.is_plain
            and decision.state.trace is None
            and not (first.backend == DEFAULT and decision.warns)
        )
        # Whether calls through this object call it so, too.
        needs_answer = sole or self.function.memory is not None or bool(calls.defer_on)
        self.runs_bare = self.is_bare and not needs_answer
        self._after: Chain | None = None

    def current(self) -> Chain:
        """Return the chain, with the candidates as they are now."""
        calls, known = self.calls, self.decision
        if not known.is_stale:
            return self
        calls.decider.matcher.forget()
        calls.keeper.forget_tables()  # so that the next call does not come here
        return calls.chain(self.function, known.state, known.types)

    def after_overriding(self) -> Chain:
        """Return the chain of a call that an overriding type has taken: it asks for the rest."""
        if self._after is None:
            self._after = type(self)(self.decision.after_overriding(), self.calls)
        return self._after

    def run(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], found: tuple[Any, ...] | None = None
    ) -> Any:
        """Make a call; `found` are the dispatch arguments that a finder has returned."""
        return self.call(Progress(args, kwargs, found))

    def call(self, progress: Progress) -> Any:
        """Make a call, of which `progress` tells afterwards."""
        if self.decision.is_stale:
            return self.current().call(progress)
        # The usual call through a chain: half the time of a walk, and the later candidates are not
        # even looked for.
        first = self.decision.first if self.runs_bare else None
        if first is not None:
            progress.backend = first.backend
            try:
                result = self.decision.load(first)(*progress.args, **progress.kwargs)
            except Exception as error:
                self.note(error, first, progress)
                raise
            if result is not NotImplemented or first.backend == DEFAULT:
                return result
            progress.reasons[first.backend] = RETURNED
        result = self.answer(progress)
        # If the call names the library's own implementation, `NotImplemented` is its result.
        if self.sole and result is NotImplemented and progress.backend != DEFAULT:
            (step,) = self.decision.candidates
            reason = progress.reasons.get(step.backend, POSTPONED)
            identifier = self.function.identifier
            raise BackendDeferredError(step.backend, identifier, reason) from progress.cause
        return result

    def answer(self, progress: Progress) -> Any:
        """Call the candidates; `Remembering` may call another backend instead."""
        return self.walk(0, progress)

    def after(
        self,
        place: int | None,
        answer: object,
        progress: Progress,
        context: DispatchContext | None = None,
    ) -> Any:
        """Call the rest after the candidate at a place has deferred, or was postponed.

        The place is None for what is no candidate: if the call has changed the state, this is
        another decision. No other candidate was called yet. `answer` is that of ``should_run``, or
        the reason if the implementation has deferred. The state has no trace: nothing is recorded.
        """
        if place is not None:
            step = self.decision.candidates[place]
            # Both keep the candidate from another turn; see `walk`.
            if answer is IF_NEEDED:
                progress.postponed.append(place)
            else:
                reason = reason_of_answer(answer, self.decision, step)
                result = self._defer(step, reason, progress, context)
                if result is not UNKNOWN:
                    return result
        return self.walk(0, progress)

    def walk(self, start: int, progress: Progress) -> Any:
        """Give each candidate its turn, from a place on, until one answers."""
        candidates = self.decision.candidates
        for place in range(start, len(candidates)):
            step = candidates[place]
            if step.is_last:
                result = self._second_turns(progress)
                if result is not UNKNOWN:
                    return result
            if step.conversions is not None:  # a backend that has deferred may still convert
                result = self._convert(step, progress)
            # It may have had its turn in a `call_next` of an earlier candidate.
            elif step.backend in progress.reasons or place in progress.postponed:
                continue
            else:
                result = self._turn(place, progress)
            if result is not UNKNOWN:
                return result
        # Without a last resort, as where the policy refuses.
        result = self._second_turns(progress)
        if result is not UNKNOWN:
            return result
        # No backend has answered, however many were tried.
        progress.backend = None
        # An adopted function passes ``NotImplemented`` of its only candidate on: the caller of
        # `lookup` goes on, and asks for the end itself. An exception must not be lost.
        is_alone = len(candidates) == 1 and candidates[0].is_plain
        if self.function.is_adopted and is_alone and progress.cause is None:
            return NotImplemented
        return self.end(progress)

    def _second_turns(self, progress: Progress) -> Any:
        """Call the postponed candidates, whose ``should_run`` is not asked again."""
        while progress.postponed:
            # `call_next` of one of them goes on with the others, which are postponed still.
            place = progress.postponed.pop(0)
            if self.decision.candidates[place].backend not in progress.reasons:
                result = self._turn(place, progress, asks=False)
                if result is not UNKNOWN:
                    return result
        return UNKNOWN

    def _turn(self, place: int, progress: Progress, *, asks: bool = True) -> Any:
        """Ask and call a candidate that does not convert; `UNKNOWN` if it does not answer."""
        decision, step = self.decision, self.decision.candidates[place]
        progress.backend = step.backend
        context: DispatchContext | None = None
        if not step.is_plain:
            context = context_of(decision, step, progress, Rest(self, place + 1, progress))
            answer = ask(decision, step, context, progress) if asks else None
            if isinstance(answer, IfNeeded):
                progress.postponed.append(place)
                self.record(step.backend, "deferred", POSTPONED)
                return UNKNOWN
            if answer is not None:
                return self._defer(step, answer, progress, context)
        if step.backend == DEFAULT and decision.warns:
            from ._explain import warn_of_fallback

            warn_of_fallback(decision, progress)
        implementation = decision.load(step)
        if decision.state.trace is not None:
            self.record(step.backend, "called", step.reason)
        # An exception defers only if the library says so, and never that of the default.
        reason = RETURNED
        try:
            if step.implementation is not None and step.implementation.uses_context:
                result = implementation(context, *progress.args, **progress.kwargs)
            else:
                result = implementation(*progress.args, **progress.kwargs)
        except Exception as error:
            if step.implementation is None or not isinstance(error, self.calls.defer_on):
                self.note(error, step, progress)
                raise
            progress.cause, reason = error, reason_of(error)
            result = NotImplemented
        if result is not NotImplemented or step.backend == DEFAULT:
            return result
        return self._defer(step, reason, progress, context)

    def _defer(
        self, step: Step, reason: str, progress: Progress, context: DispatchContext | None
    ) -> Any:
        """Note that a candidate has deferred; return the answer if it knows one, else `UNKNOWN`.

        It knows one if it has called ``call_next`` with the very arguments of the call before: no
        candidate is asked or run again, unless the function is a coroutine or generator function.
        """
        progress.reasons[step.backend] = reason
        self.record(step.backend, "deferred", reason)
        inner: Progress | None = getattr(context, "_continued", None)
        # What the others said of a part of the data does not hold for all of it.
        if inner is None or not are_same(progress, inner):
            return UNKNOWN
        # The answers of both are those of this call; the outer ones were given later.
        progress.reasons = {**inner.reasons, **progress.reasons}
        progress.unconverted.update(inner.unconverted)
        progress.postponed, progress.cause = inner.postponed, inner.cause or progress.cause
        if inner.result is not UNKNOWN:
            progress.backend = inner.backend
        return inner.result

    def call_next(self, place: int, progress: Progress) -> Any:
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
            progress.found = self.function.extract(progress.args, progress.kwargs)
            types = decision.decider.unique_types(map(type, progress.found), decision.state)
            # By identity: a metaclass may define ==.
            if [*map(id, types)] != [*map(id, decision.types)]:
                # A reason keeps a backend from having another turn, but not its conversions.
                for each in decision.candidates[:place]:
                    progress.reasons.setdefault(each.backend, POSTPONED)
                progress.postponed, progress.unconverted, progress.cause = [], {}, None
                return self.calls.chain(self.function, decision.state, types).walk(0, progress)
        return self.walk(place, progress)

    # What happens to a call that no backend has taken.

    def _convert(self, step: Step, progress: Progress) -> Any:
        """Run the default with arguments that a backend converts; `UNKNOWN` if it cannot."""
        from ._convert import Conversion, Unconverted

        progress.backend = step.backend
        try:
            return Conversion(self.decision, step).call(self, progress)
        except Unconverted as failure:
            progress.unconverted[step.backend] = str(failure)
            self.record(step.backend, "deferred", str(failure))
            return UNKNOWN
        except Exception as error:
            if not isinstance(error, NoImplementationError):
                self.note(error, step, progress)
            raise

    def end(self, progress: Progress) -> Any:
        """Return ``NotImplemented`` for a call that no candidate has answered, or raise."""
        decision = self.decision
        # Python asks the other operand; `invoke` has an error of its own.
        if self.sole or decision.is_operator or not decision.has_end:
            return NotImplemented
        raise self.refusal(progress) from progress.cause

    def refusal(
        self, progress: Progress, converter: str = "", reason: str = ""
    ) -> NoImplementationError:
        """Return the error; with a converter, its conversion of the result has failed."""
        from ._explain import refusal  # imports for rare calls would take time in the first one

        return refusal(self.decision, progress, converter, reason)

    def note(self, error: Exception, step: Step, progress: Progress) -> None:
        """Add to an exception what the user should know: which backend ran, or why none did.

        If the arguments do not fit the library's signature, its own `TypeError` is raised instead.
        """
        from ._explain import note

        note(self.decision, error, step, progress)

    def record(self, backend: str, outcome: str, reason: str) -> None:
        """Record a step, if the state is traced."""
        trace = self.decision.state.trace
        if trace is not None:
            from ._observed import Outcome, TraceEvent  # few programs trace

            function, types = self.function, self.decision.types
            about = function.identifier, backend, Outcome(outcome), reason, types
            trace.append(TraceEvent(*about, function.default_name))


def chain_of(dispatcher: Dispatcher, index: int, calls: Calls, types: Iterable[type]) -> Chain:
    """Return the chain for the types of dispatch arguments, in the state in force."""
    function = dispatcher.records[index - 1].function
    scope: Scope = dispatcher.keeper.get()[0]
    # First the chains, then the backends: if another thread exchanges both in between, the
    # chain of the new backends is stored among the old chains, which are no longer read.
    chains, calls = scope.chains(index), dispatcher.loaded or calls
    unique = calls.decider.unique_types(types, scope.state)
    key = tuple(map(id, unique))
    chain: Chain | None = chains.get(key)
    if chain is None:
        chain = calls.chain(function, scope.state, unique)
        if len(chains) >= MAX_ENTRIES:
            chains.clear()
        chains[key] = chain
    return chain.current()


def reason_of(error: Exception) -> str:
    """Return the reason of an implementation that deferred by an exception."""
    return f"it raised {in_words(error)}"


def shared_part(decision: Decision, step: Step, is_found: bool, rest: Rest | None) -> SharedPart:
    """Return the part that the contexts of calls with the same decision share."""
    function = decision.function
    extract = given if is_found else function.extract
    known = decision.types, step.backend, step.prioritized, function.identifier
    return SharedPart(*known, extract, rest)


def context_of(
    decision: Decision, step: Step, progress: Progress, rest: Rest | None = None
) -> DispatchContext:
    """Return the context of a call for one candidate."""
    args, found = progress.args, progress.found
    known = shared_part(decision, step, found is not None, rest)
    # Without dispatch arguments, it finds them itself when a backend asks for them.
    return context_of_call(known, args if found is None else found, progress.kwargs)


def ask(
    decision: Decision, step: Step, context: DispatchContext, progress: Progress
) -> str | IfNeeded | None:
    """Ask ``should_run``: None if the implementation should run, else `IF_NEEDED` or the reason."""
    should_run = decision.load_should_run(step)
    if should_run is None:
        return None
    try:
        answer = should_run(context, *progress.args, **progress.kwargs)
    except Exception as error:
        from ._explain import note

        note(decision, error, step, progress)
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
