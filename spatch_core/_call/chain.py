"""Calling the candidates of one call, one after the other, until one answers.

A table holds either an implementation, or a callable that tries a whole chain by itself and says
so, see `tries_whole_chain`. Its ``NotImplemented`` is the answer of the call.
After that of an implementation the wrapper goes on with the rest of the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .._dispatch_arguments import Function, TakesFound
from .._identifiers import DEFAULT
from .._resolution.candidate import Candidate
from .._state.state import DispatchState
from .._state.trace import Outcome, TraceEvent
from ..backend_utils import IF_NEEDED
from . import answers
from .asker import make_asking
from .asking import ask, make_context, reason_of_answer
from .context import DispatchContext, Rest
from .course import POSTPONED, RETURNED, UNCONVERTED, Course, Raised, reason_of
from .targets import as_function, tries_whole_chain

if TYPE_CHECKING:
    from .._resolution.resolver import Resolver
    from .end import End


class MakesChains(Protocol):
    """A `Caller`, as far as chains need it."""

    resolver: Resolver
    defer_on: tuple[type[Exception], ...]

    def chain(self, function: Function, state: DispatchState, types: tuple[type, ...]) -> Chain: ...


class Chain(TakesFound):
    """The candidates of a call in turn.

    Parameters
    ----------
    function : Function
        The library's function.
    types : tuple of type
        The dispatch types.
    candidates : sequence of Candidate
        In order. Unless the last is the default, it may happen that none answers.
    state : DispatchState, optional
        The state of the call; its trace records what happens.
    caller : Caller, optional
        Makes the chain of a call of ``context.call_next`` with arguments of other types.
    end : End, optional
        What is said if no backend answers; for calls with foreign types.
    said : mapping of str to str, optional
        The reasons of backends that have deferred before this chain begins.
    """

    __slots__ = (
        *("_rest", "caller", "candidates", "defer_on", "end", "function", "said", "state"),
        *("trace", "types"),
    )

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
        self.trace: list[TraceEvent] | None = self.state.trace
        self.caller = caller
        self.defer_on = () if caller is None else caller.defer_on
        self.end = end
        self.said = said
        self._rest: tuple[object, Chain] | None = None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.run(args, kwargs)

    def call_found(self, found: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        """Call the candidates, with the dispatch arguments that were found already."""
        return self.run(args, kwargs, found=found)

    def run(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        start: int = 0,
        found: tuple[Any, ...] | None = None,
        course: Course | None = None,
        postponed: Sequence[int] | None = None,
    ) -> Any:
        """Call the candidates from `start` on until one answers.

        Those at the places that were `postponed` are called instead, and not asked; if none of them
        answers, that is said by `UNCONVERTED`.
        """
        if course is None:
            course = Course(self.said)
        context: DispatchContext | None = None
        candidates = self.candidates
        for place in range(start, len(candidates)) if postponed is None else postponed:
            candidate = candidates[place]
            if candidate.is_last_resort and course.postponed:
                result = self._run_postponed(args, kwargs, found, course)
                if result is not UNCONVERTED:
                    return result
            course.backend = candidate.backend
            if not candidate.is_plain:
                if candidate.conversions is not None and self.end is not None:
                    result = self.end.convert(candidate, args, kwargs, course, self.state.trace)
                    if result is not UNCONVERTED:
                        return result
                    continue
                # It has deferred, after it called the rest of another candidate's chain.
                if candidate.backend in course.reasons:
                    continue
                rest = Rest(self, place + 1, course)
                context = make_context(candidate, self.types, args, kwargs, context, found, rest)
                answer = None if postponed else ask(candidate, context, args, kwargs)
                if isinstance(answer, str):
                    self._defer(candidate, answer, course)
                    continue
                if answer is not None:
                    course.postponed.append(place)
                    self.record(candidate, Outcome.DEFERRED, POSTPONED)
                    continue
            is_default = candidate.backend == DEFAULT
            if is_default and self.end is not None:
                self.end.before_default(args, kwargs, course)
            implementation = candidate.load()
            self.record(candidate, Outcome.CALLED, candidate.reason)
            try:
                if candidate.implementation is not None and candidate.implementation.uses_context:
                    result = implementation(context, *args, **kwargs)
                else:
                    result = implementation(*args, **kwargs)
            except Exception as error:
                if is_default and self.end is not None:
                    self.end.note(error, course)
                if candidate.propagates or not isinstance(error, self.defer_on):
                    raise
                course.cause = error
                self._defer(candidate, reason_of(error), course)
                continue
            if result is not NotImplemented or is_default:
                if self.function.nature:
                    following = place + 1
                    if postponed is not None:
                        following = self._last_resort()
                        course.postponed += [each for each in postponed if each > place]
                    return self._checked(candidate, result, following, args, kwargs, found, course)
                return result
            self._defer(candidate, RETURNED, course)
        if postponed is not None:
            return UNCONVERTED
        if course.postponed:
            result = self._run_postponed(args, kwargs, found, course)
            if result is not UNCONVERTED:
                return result
        return NotImplemented if self.end is None else self.end.answer(args, kwargs, course)

    def _last_resort(self) -> int:
        """Return the place of the first candidate that answers only where nothing else does."""
        for place, candidate in enumerate(self.candidates):
            if candidate.is_last_resort:
                return place
        return len(self.candidates)

    def _run_postponed(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None,
        course: Course,
    ) -> Any:
        """Call the candidates that said ``IF_NEEDED``; they are not asked again."""
        places = [*course.take_postponed()]
        return Chain.run(self, args, kwargs, 0, found, course, places)

    def _checked(
        self,
        candidate: Candidate,
        result: Any,
        following: int,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None,
        course: Course,
    ) -> Any:
        """Return the answer of a coroutine function or generator function."""

        def go_on(reason: str) -> Any:
            self._defer(candidate, reason, course)
            return self.run(args, kwargs, following, found, course)

        def failed(error: Exception) -> bool:
            if candidate.backend == DEFAULT and self.end is not None:
                self.end.note(error, course)
            return not candidate.propagates and isinstance(error, self.defer_on)

        return answers.answer(self.function, candidate.backend, result, go_on, failed)

    def _defer(self, candidate: Candidate, reason: str, course: Course) -> None:
        course.reasons[candidate.backend] = reason
        self.record(candidate, Outcome.DEFERRED, reason)

    def go_on(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        answer: Any,
        context: DispatchContext,
        found: tuple[Any, ...] | None = None,
    ) -> Any:
        """Go on after the first candidate, which was asked and gave an answer that defers.

        A string is the reason; it may be that the implementation has returned ``NotImplemented``.

        Only generated functions call this; they exist where there is no trace.
        """
        course: Course = getattr(context, "_course", None) or Course(self.said)
        if answer is IF_NEEDED:
            course.postponed.append(0)
        else:
            course.reasons[self.candidates[0].backend] = reason_of_answer(answer)
        return self.run(args, kwargs, 1, found, course)

    def failed_after(self, answer: Any, error: Exception) -> None:
        """Note why the default ran after the first candidate, which gave an answer."""
        if self.end is not None:
            reason = reason_of_answer(answer)
            self.end.note(error, Course({self.candidates[0].backend: reason}))

    def new_course(self) -> Course:
        """Return the course of a call that begins with this chain."""
        return Course(self.said)

    def call_next(
        self, place: int, args: tuple[Any, ...], kwargs: dict[str, Any], course: Course
    ) -> Any:
        """Call the candidates from a place on; those for other types, if these have changed."""
        caller, course = self.caller, course.inner()
        if caller is None:
            return self.run(args, kwargs, place, course=course)
        found = self.function.extract(args, kwargs)
        types = caller.resolver.types(found, self.state)
        if [*map(id, types)] == [*map(id, self.types)]:
            return self.run(args, kwargs, place, course=course)
        before = {candidate.backend for candidate in self.candidates[:place]}
        chain = caller.chain(self.function, self.state, types)
        chain.candidates = [each for each in chain.candidates if each.backend not in before]
        return chain.run(args, kwargs)

    def target(self) -> Callable[..., Any]:
        """Return the first implementation if nothing has to be asked, else what asks it.

        For a coroutine or generator function it is the chain, which checks each answer.

        Raises
        ------
        ImplementationImportError
            If what is needed at once cannot be imported.
        """
        if self.trace is not None or self.function.nature or not self.candidates:
            return as_function(self, self.function)
        first, *others = self.candidates
        is_warned = self.end is not None and self.end.warns
        if first.is_plain and not (is_warned and first.backend == DEFAULT):
            return first.load()
        if first.is_plain or first.conversions is not None or self.defer_on:
            return as_function(self, self.function)
        fallback = None
        if len(others) == 1 and others[0].backend == DEFAULT and not is_warned:
            fallback = others[0].load()
        return make_asking(self, first, fallback)

    def record(self, candidate: Candidate, outcome: Outcome, reason: str) -> None:
        """Record a step, if the state is traced."""
        if self.trace is not None:
            self.trace.append(
                TraceEvent(
                    self.function.identifier,
                    candidate.backend,
                    outcome,
                    reason,
                    self.types,
                    self.function.default_name,
                )
            )

    def failed(self, called: object, error: Exception) -> Raised | None:
        """Judge an exception of an implementation of this chain that a table holds.

        Returns
        -------
        Raised or None
            What `after` goes on after, if the exception defers.
        """
        if called is self.function.default:
            if self.end is not None:
                self.end.note(error, Course(self.said))
        elif isinstance(error, self.defer_on) and not (
            tries_whole_chain(called) or hasattr(called, "_overrides")
        ):
            return Raised(called, error)  # type: ignore[arg-type]  # a table holds callables
        return None

    def after(self, called: Callable[..., Any] | Raised) -> Chain:
        """Return the rest of the chain after an implementation deferred.

        It returned ``NotImplemented``, or has raised an exception. It is looked for among all
        candidates, because the call may have changed the state:
        then it stands elsewhere in this chain or nowhere, and none of the others was called.
        The rest is kept for the next call.
        """
        raised = called if isinstance(called, Raised) else None
        implementation: Any = called if raised is None else raised.implementation
        kept = self._rest
        if raised is None and kept is not None and kept[0] is implementation:
            return kept[1]
        if implementation is self.function.default:
            return Chain(self.function, self.types, (), self.state)
        rest = list(self.candidates)
        for candidate in rest:
            if candidate.is_plain and candidate.is_implemented_by(implementation):
                rest.remove(candidate)
                reason = RETURNED if raised is None else reason_of(raised.error)
                said = {**(self.said or {}), candidate.backend: reason}
                chain = self._with(rest, said)
                if raised is None:
                    # Kept in this case only, in which the candidate keeps the implementation alive.
                    self._rest = implementation, chain
                return chain
        return self

    def _with(self, candidates: Sequence[Candidate], said: Mapping[str, str]) -> Chain:
        return Chain(self.function, self.types, candidates, self.state, self.caller, self.end, said)
