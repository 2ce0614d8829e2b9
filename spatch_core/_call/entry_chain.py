"""The chain behind an entry of a table: makes the entry, and calls the rest if that defers.

An entry is either the implementation of the first candidate, or a callable that tries the whole
chain (see `tries_whole_chain`). ``NotImplemented`` from the latter is the answer of the call. After
``NotImplemented`` from an implementation, the wrapper calls the rest of the chain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._implementation.if_needed import IF_NEEDED
from .._patterns import DEFAULT
from .candidate_chain import Chain
from .context import DispatchContext
from .first_candidate import make_first_call
from .progress import RETURNED, UNCONVERTED, Progress, Raised, reason_of
from .should_run import reason_of_answer
from .table_entries import as_function, tries_whole_chain


class EntryChain(Chain):
    """The chain behind an entry of a table.

    The parameters are those of `Chain`.
    """

    __slots__ = ("_rest",)

    # A cache of one: the implementation that returned NotImplemented last, and the rest after it;
    # one tuple, so that threads see a matching pair. Not set at first: most chains never need it.
    _rest: tuple[object, EntryChain]

    def target(self) -> Callable[..., Any]:
        """Return the first implementation if it is plain, else a callable that tries the chain.

        For a coroutine or generator function it is the chain, which checks each answer.

        Raises
        ------
        ImplementationImportError
            If the first implementation or its ``should_run`` cannot be imported.
        """
        if self.state.trace is not None or self.function.nature or not self.candidates:
            return as_function(self, self.function)
        first, *others = self.candidates
        is_warned = self.end is not None and self.end.ending.warns
        if first.is_plain and not (is_warned and first.backend == DEFAULT):
            return first.load()
        if first.is_plain or first.conversions is not None or self.defer_on:
            return as_function(self, self.function)
        fallback = None
        if len(others) == 1 and others[0].backend == DEFAULT and not is_warned:
            fallback = others[0].load()
        return make_first_call(self, first, fallback)

    def failed(self, called: object, error: Exception) -> Raised | None:
        """Handle an exception of a table's entry that is an implementation of this chain.

        Returns
        -------
        Raised or None
            The argument for `after`, if the implementation defers by the exception.
        """
        if called is self.function.default:
            if self.end is not None:
                self.end.note(error, Progress(self.said))
        elif isinstance(error, self.defer_on) and not (
            tries_whole_chain(called) or hasattr(called, "_overrides")
        ):
            return Raised(called, error)  # type: ignore[arg-type]  # a table holds callables
        return None

    def after(self, called: Callable[..., Any] | Raised) -> EntryChain:
        """Return the rest of the chain after an implementation deferred.

        The implementation need not be that of the first candidate, nor of any: if the call has
        changed the state, this chain is another one. No other candidate was called yet.
        """
        if isinstance(called, Raised):
            # Not cached: the reason is that of this exception.
            return self._after(called.implementation, reason_of(called.error))
        kept: tuple[object, EntryChain] | None = getattr(self, "_rest", None)
        if kept is not None and kept[0] is called:
            return kept[1]
        chain = self._after(called, RETURNED)
        if chain is not self and called is not self.function.default:
            # The cache keeps nothing alive: a candidate of this chain holds the implementation.
            self._rest = called, chain
        return chain

    def _after(self, implementation: Callable[..., Any], reason: str) -> EntryChain:
        """Return the chain without the candidate that has this implementation."""
        if implementation is self.function.default:
            return EntryChain(self.function, self.types, (), self.state)
        candidates = list(self.candidates)
        for candidate in candidates:
            if candidate.is_plain and candidate.is_implemented_by(implementation):
                candidates.remove(candidate)
                said = {**(self.said or {}), candidate.backend: reason}
                return EntryChain(
                    self.function, self.types, candidates, self.state, self.caller, self.end, said
                )
        return self  # no candidate of this chain: all of them are still to be tried

    def go_on(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        answer: Any,
        context: DispatchContext,
        found: tuple[Any, ...] | None = None,
    ) -> Any:
        """Call the rest after the first candidate was postponed or deferred.

        `answer` is that of ``should_run``, or the reason if the implementation has deferred.

        Only generated functions call this. They exist in untraced states alone, so that nothing
        need be recorded.
        """
        progress = Progress(self.said)
        if answer is IF_NEEDED:
            progress.postponed.append(0)
        else:
            first = self.candidates[0].backend
            progress.reasons[first] = reason_of_answer(answer)
            result = progress.settle(context, first, args, kwargs)
            if result is not UNCONVERTED:
                return result
        return self.run(args, kwargs, 1, found, progress)

    def failed_after(self, answer: Any, error: Exception) -> None:
        """Add the answer of the first candidate's ``should_run`` to an exception of the default."""
        if self.end is not None:
            reason = reason_of_answer(answer)
            self.end.note(error, Progress({self.candidates[0].backend: reason}))
