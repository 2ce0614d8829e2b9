"""The chain of a call: its candidates are called one after the other, until one answers.

Each candidate has a turn:

============================================  ===============================================
the candidate                                 what happens
============================================  ===============================================
is a last resort, and others are postponed    the postponed ones have their second turns first
converts                                      its result is the answer, unless it cannot
                                              convert the arguments
declines by ``should_run``                    it defers
returns ``IF_NEEDED`` from ``should_run``     it is postponed to a second turn
returns ``NotImplemented``, or raises an      it defers
exception of ``defer_on``
returns or raises anything else               that is the answer of the call
============================================  ===============================================

The default never defers. If no candidate answers, the `End` does; without one, the answer is
``NotImplemented``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._dispatch_arguments import Function, TakesFound
from .._identifiers import DEFAULT
from .._resolution.candidate import Candidate
from .._state import DispatchState
from .._traces import Outcome, record
from . import coroutine_answers
from .context import DispatchContext
from .context_call_next import Rest, call_next
from .progress import POSTPONED, RETURNED, UNCONVERTED, Progress, reason_of
from .should_run import ask, make_context

if TYPE_CHECKING:
    from .context_call_next import MakesChains
    from .end_of_chain import End


class Chain(TakesFound):
    """The candidates of a call in turn.

    Parameters
    ----------
    function : Function
        The library's function.
    types : tuple of type
        The dispatch types.
    candidates : sequence of Candidate
        In order. If the last one is not the default, all of them may defer.
    state : DispatchState, optional
        The state of the call; its trace records what happens.
    caller : Caller, optional
        Makes the chain of a call of ``context.call_next`` with arguments of other types.
    end : End, optional
        The end of calls with foreign types that no backend answers.
    said : mapping of str to str, optional
        The reasons of backends that have deferred before this chain begins.
    """

    __slots__ = ("caller", "candidates", "defer_on", "end", "function", "said", "state", "types")

    def __init__(
        self,
        function: Function,
        types: tuple[type, ...],
        candidates: Sequence[Candidate],
        state: DispatchState | None = None,
        caller: MakesChains | None = None,
        end: End | None = None,
        said: Mapping[str, str] | None = None,
    ) -> None:
        self.function = function
        self.types = types
        self.candidates = candidates
        self.state = DispatchState() if state is None else state
        self.caller = caller
        self.defer_on = () if caller is None else caller.defer_on
        self.end = end
        self.said = said

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.run(args, kwargs)

    def call_found(self, found: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        """Call the candidates with dispatch arguments that a finder has returned."""
        return self.run(args, kwargs, found=found)

    def run(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        start: int = 0,
        found: tuple[Any, ...] | None = None,
        progress: Progress | None = None,
        again: Sequence[int] = (),
    ) -> Any:
        """Call the candidates in turn until one answers.

        Parameters
        ----------
        args, kwargs
            The arguments of the call.
        start : int, optional
            The place of the first candidate whose turn it is.
        found : tuple, optional
            The dispatch arguments, None and `missing` among them, if a finder has returned them.
        progress : Progress, optional
            The answers of the candidates so far.
        again : sequence of int, optional
            The places of postponed candidates, all before `start`: they go first, and their
            ``should_run`` is not called again.
        """
        if progress is None:
            progress = Progress(self.said)
        context: DispatchContext | None = None
        candidates = self.candidates
        turns = range(start, len(candidates))
        for place in [*again, *turns] if again else turns:
            candidate = candidates[place]
            if progress.postponed and candidate.is_last_resort:
                again = progress.take_postponed()
                # Not `self.run`: in subclasses, it begins a call.
                return Chain.run(self, args, kwargs, place, found, progress, again)
            # It may have had its turn in a `call_next` of an earlier candidate.
            had_turn = candidate.backend in progress.reasons or place in progress.postponed
            if had_turn and candidate.conversions is None:
                continue
            progress.backend = candidate.backend
            if not candidate.is_plain:
                if candidate.conversions is not None and self.end is not None:
                    result = self.end.convert(candidate, args, kwargs, progress, self.state.trace)
                    if result is UNCONVERTED:
                        continue
                    return result
                postponed = [each for each in again if each > place] if place < start else ()
                rest = Rest(self, place + 1, progress, postponed)
                context = make_context(candidate, self.types, args, kwargs, context, found, rest)
                # A place before `start` is a second turn, without `should_run`.
                if place >= start and not self._is_willing(place, context, args, kwargs, progress):
                    continue
            if candidate.backend == DEFAULT and self.end is not None:
                self.end.before_default(args, kwargs, progress)
            implementation = candidate.load()
            self.record(candidate, Outcome.CALLED, candidate.reason)
            result, reason = None, ""
            try:
                if candidate.implementation is not None and candidate.implementation.uses_context:
                    result = implementation(context, *args, **kwargs)
                else:
                    result = implementation(*args, **kwargs)
            except Exception as error:
                if not self._defers_by(error, candidate, progress):
                    raise
                progress.cause, reason = error, reason_of(error)
            if reason or (result is NotImplemented and candidate.backend != DEFAULT):
                self._defer(candidate, reason or RETURNED, progress)
                result = progress.settle(context, candidate.backend, args, kwargs)
                if result is UNCONVERTED:
                    continue
                return result
            if not self.function.nature:
                return result
            # The candidates that remain if the answer defers when it is awaited.
            if place >= start:
                start, again = place + 1, ()
            else:
                again = again[again.index(place) + 1 :]
            call = args, kwargs, start, found, progress, again
            return self._checked(candidate, result, context, call)
        if progress.postponed:
            again = progress.take_postponed()
            return Chain.run(self, args, kwargs, len(candidates), found, progress, again)
        progress.backend = None
        return NotImplemented if self.end is None else self.end.answer(args, kwargs, progress)

    def _is_willing(
        self,
        place: int,
        context: DispatchContext,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        progress: Progress,
    ) -> bool:
        """Call ``should_run``; note its answer if the candidate is not to run now."""
        candidate = self.candidates[place]
        answer = ask(candidate, context, args, kwargs)
        if answer is None:
            return True
        if isinstance(answer, str):
            self._defer(candidate, answer, progress)
        else:
            progress.postponed.append(place)
            self.record(candidate, Outcome.DEFERRED, POSTPONED)
        return False

    def _defers_by(self, error: Exception, candidate: Candidate, progress: Progress) -> bool:
        """Whether an exception means deferring; one of the default gets a note with the reasons."""
        if candidate.backend != DEFAULT:
            return not candidate.propagates and isinstance(error, self.defer_on)
        if self.end is not None:
            self.end.note(error, progress)
        return False

    def _checked(
        self,
        candidate: Candidate,
        result: Any,
        context: DispatchContext | None,
        rest: tuple[Any, ...],
    ) -> Any:
        """Return the answer of a coroutine function or generator function.

        `rest` are the arguments of `run` for the candidates that remain.
        """

        args, kwargs, *_, progress, _ = rest

        def go_on(reason: str) -> Any:
            self._defer(candidate, reason, progress)
            progress.settle(context, candidate.backend, args, kwargs)
            return self.run(*rest)

        def failed(error: Exception) -> bool:
            return self._defers_by(error, candidate, progress)

        return coroutine_answers.answer(self.function, candidate.backend, result, go_on, failed)

    def _defer(self, candidate: Candidate, reason: str, progress: Progress) -> None:
        progress.reasons[candidate.backend] = reason
        self.record(candidate, Outcome.DEFERRED, reason)

    def call_next(
        self, place: int, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress
    ) -> Any:
        """Call the candidates from a place on; with other types, those for these types."""
        return call_next(self, place, args, kwargs, progress)

    def run_all(self, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress) -> Any:
        """Call the candidates, without looking at what an instance remembers."""
        return Chain.run(self, args, kwargs, progress=progress)

    def record(self, candidate: Candidate, outcome: Outcome, reason: str) -> None:
        """Record a step, if the state is traced."""
        record(self.state.trace, self.function, candidate.backend, outcome, reason, self.types)
