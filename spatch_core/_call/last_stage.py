"""The last stage of a call in a state with hooks: the candidates, in the state of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._dispatch_arguments import Function
from .._freezing import stepwise
from .._identifiers import DEFAULT
from .._state import Scope, StateKeeper
from .._state_hooks import Call
from .candidate_chain import Chain
from .entry_chain import EntryChain
from .progress import RETURNED, Progress
from .table_entries import tries_whole_chain

if TYPE_CHECKING:
    from .changing_candidates import Guard


class LastStage:
    """Calls the candidates after the hooks, for calls of one function with the same types.

    Parameters
    ----------
    function : Function
        The library's function.
    keeper : StateKeeper
        The library's dispatch state.
    scope : Scope
        The state of the call.
    way : Chain or Guard
        The candidates.
    """

    __slots__ = (*("_backend", "_function", "_get", "_keeper", "_plain", "_scope", "_set", "_way"),)

    def __init__(
        self, function: Function, keeper: StateKeeper, scope: Scope, way: Chain | Guard
    ) -> None:
        self._function = function
        self._keeper = keeper
        self._get, self._set = keeper.get, keeper.set
        self._scope = scope
        self._way = way
        self._plain: Callable[..., Any] | None = None
        self._backend = ""
        # A shortcut past the chain: the first implementation, if it has no `should_run` and its
        # exceptions propagate without a note.
        if type(way) is EntryChain and way.candidates and not way.defer_on:
            backend, target = way.candidates[0].backend, way.target()
            if not tries_whole_chain(target) and (way.end is None or backend != DEFAULT):
                self._plain, self._backend = target, backend

    def chain(self) -> Chain:
        """Return the candidates as they are now."""
        way = self._way
        return way if isinstance(way, Chain) else way.current()

    def run(
        self,
        call: Call,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None,
    ) -> Any:
        """Call the candidates in the state of the call."""
        # Without a token: the call may go on in another context, such as another thread's.
        before = self._get()
        self._set(self._scope.tables)
        try:
            return self._run(call, args, kwargs, found)
        finally:
            self._set(before)

    def _run(
        self,
        call: Call,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        found: tuple[Any, ...] | None,
    ) -> Any:
        plain, start = self._plain, 0
        if plain is not None:
            call._after = self._backend
            result = plain(*args, **kwargs)
            if result is not NotImplemented or self._backend == DEFAULT:
                return result
            start = 1
        chain = self.chain()
        call._after = progress = Progress(chain.said)
        if start:
            progress.reasons[self._backend] = RETURNED
        result = chain.run(args, kwargs, start, found, progress)
        if self._function.nature and result is not NotImplemented:
            return stepwise(self._function.nature, self._keeper, self._scope, lambda: result)
        return result
