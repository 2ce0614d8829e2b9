"""Calling the candidates of one call, one after the other, until one answers.

A table holds either an implementation, or a callable that tries a whole chain by itself and says
so, see `tries_whole_chain`. Its ``NotImplemented`` is the answer of the call.
After that of an implementation the wrapper goes on with the rest of the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from .._dispatch_arguments import COROUTINE, Function, TakesFound
from .._identifiers import DEFAULT
from .._resolution.candidate import Candidate
from .._state.trace import Outcome, TraceEvent
from ..exceptions import BackendDeferredError
from . import answers
from .asking import ask, make_asking, make_context
from .context import DispatchContext


def tries_whole_chain(target: object) -> bool:
    """Whether a callable of a table tries the whole chain by itself."""
    if isinstance(target, FunctionType):
        return "_tries_whole_chain" in target.__dict__
    return isinstance(target, TakesFound)


def as_function(target: Any, function: Function) -> Callable[..., Any]:
    """Return what a table holds for an object that tries a whole chain: a function.

    CPython calls plain functions without using the C stack, and objects with `__call__` by using
    it: a library's function that calls itself deeply could overflow the stack of a thread. The
    wrapper of a function with a finder calls the method `call_found` instead.
    """
    if function.parameters is None:
        return target  # type: ignore[no-any-return]  # a `TakesFound`
    run = target.run

    def call(*args: Any, **kwargs: Any) -> Any:
        return run(args, kwargs)

    made: Any = call
    made._tries_whole_chain = True
    return call


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
    trace : list of TraceEvent or None
        Where to record what happens.
    """

    __slots__ = ("_rest", "candidates", "function", "trace", "types")

    def __init__(
        self,
        function: Function,
        types: tuple[type, ...],
        candidates: Sequence[Candidate],
        trace: list[TraceEvent] | None = None,
    ) -> None:
        self.function = function
        self.types = types
        self.candidates = candidates
        self.trace = trace
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
    ) -> Any:
        """Call the candidates from `start` on until one answers."""
        context: DispatchContext | None = None
        for place, candidate in enumerate(self.candidates[start:], start):
            if not candidate.is_plain:
                context = make_context(candidate, self.types, args, kwargs, context, found)
                reason = ask(candidate, context, args, kwargs)
                if reason is not None:
                    self.record(candidate, Outcome.DEFERRED, reason)
                    continue
            implementation = candidate.load()
            self.record(candidate, Outcome.CALLED, candidate.reason)
            if candidate.implementation is not None and candidate.implementation.uses_context:
                result = implementation(context, *args, **kwargs)
            else:
                result = implementation(*args, **kwargs)
            if result is not NotImplemented or candidate.backend == DEFAULT:
                if self.function.nature:

                    def go_on(candidate: Candidate = candidate, rest: int = place + 1) -> Any:
                        self._defer(candidate)
                        return self.run(args, kwargs, rest, found)

                    return answers.answer(self.function, candidate.backend, result, go_on)
                return result
            self._defer(candidate)
        return NotImplemented

    def _defer(self, candidate: Candidate) -> None:
        self.record(candidate, Outcome.DEFERRED, "it returned NotImplemented")

    def target(self) -> Callable[..., Any]:
        """Return the first implementation if nothing has to be asked, else what asks it.

        For a coroutine or generator function it is the chain, which checks each answer.

        Raises
        ------
        ImplementationImportError
            If what is needed at once cannot be imported.
        """
        if self.trace is not None or self.function.nature:
            return as_function(self, self.function)
        first, *others = self.candidates
        if first.is_plain:
            return first.load()
        fallback = None
        if len(others) == 1 and others[0].backend == DEFAULT:
            fallback = others[0].load()
        return make_asking(self, first, fallback)

    def record(self, candidate: Candidate, outcome: Outcome, reason: str) -> None:
        """Record a step, if the state is traced."""
        if self.trace is not None:
            self.trace.append(
                TraceEvent(self.function.identifier, candidate.backend, outcome, reason, self.types)
            )

    def after(self, implementation: Callable[..., Any]) -> Chain:
        """Return the rest of the chain after `implementation` returned ``NotImplemented``.

        It is looked for among all candidates, because the call may have changed the state:
        then it stands elsewhere in this chain or nowhere, and none of the others was called.
        The rest is kept for the next call.
        """
        kept = self._rest
        if kept is not None and kept[0] is implementation:
            return kept[1]
        if implementation is self.function.default:
            return Chain(self.function, self.types, (), self.trace)
        rest = list(self.candidates)
        for candidate in rest:
            if candidate.is_plain and candidate.loaded is implementation:
                rest.remove(candidate)
                # Kept in this case only, in which the candidate keeps the implementation alive.
                chain = Chain(self.function, self.types, rest, self.trace)
                self._rest = implementation, chain
                return chain
        return self


class Demanded(Chain):
    """The chain of the one backend that `invoke` was told; it must answer.

    It serves one call.
    """

    __slots__ = ("_reason",)

    _reason: str

    def run(self, *call: Any, **more: Any) -> Any:
        """Call the backend."""
        result = super().run(*call, **more)
        (candidate,) = self.candidates
        if result is not NotImplemented and self.function.nature & COROUTINE:
            return answers.demanded(self.function, candidate.backend, result)
        if result is NotImplemented and candidate.backend != DEFAULT:
            raise BackendDeferredError(candidate.backend, self.function.identifier, self._reason)
        return result

    def record(self, candidate: Candidate, outcome: Outcome, reason: str) -> None:
        """Keep the reason for the error, too."""
        super().record(candidate, outcome, reason)
        self._reason = reason
