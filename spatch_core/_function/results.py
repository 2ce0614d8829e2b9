"""What follows a call without an answer: the rest of the chain, or a note on the exception."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .._dispatch_arguments import given

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._call.caller import Caller
    from .._dispatch_arguments import Function
    from .._state import Scope, StateKeeper


class Record(Protocol):
    """The part of `Dispatchable` that results need."""

    function: Function


class Dispatcher(Protocol):
    """The part of `Dispatcher` that results need."""

    keeper: StateKeeper

    @property
    def loaded(self) -> Caller | None: ...

    @property
    def records(self) -> Sequence[Record]: ...


class Results:
    """Handles ``NotImplemented`` and exceptions of table entries.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher.
    """

    __slots__ = ("_dispatcher",)

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    def deferred(
        self,
        index: int,
        called: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        values: tuple[Any, ...] | None = None,
    ) -> Any:
        """Call the next candidates after `called` returned ``NotImplemented``.

        Parameters
        ----------
        index : int
            The function's place in the tables.
        called : callable
            The implementation that returned ``NotImplemented``.
        args, kwargs
            The arguments of the call.
        values : tuple, optional
            The dispatch arguments, if a finder has returned them, which is not called again.
        """
        function = self._dispatcher.records[index - 1].function
        caller = self._dispatcher.loaded
        if caller is None or called is function.default or caller.tries_whole_chain(called):
            return NotImplemented
        chain, found = self._chain(index, caller, args, kwargs, values)
        return chain.after(called).run(args, kwargs, found=found)

    def failed(
        self,
        index: int,
        called: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        error: Exception,
        values: tuple[Any, ...] | None = None,
    ) -> Any:
        """Handle an exception of a table's entry; add the reasons to one of the default.

        The parameters are those of `deferred`. It raises only interrupts: the caller re-raises
        the exception.

        Returns
        -------
        object
            The argument `called` of `deferred`, if the entry defers by the exception; else None.
        """
        function = self._dispatcher.records[index - 1].function
        caller = self._dispatcher.loaded
        if caller is None or not caller.concerns_chain(function, called, error):
            return None
        try:
            return self._chain(index, caller, args, kwargs, values)[0].failed(called, error)
        except Exception:  # noqa: BLE001  # whatever it raises
            return None

    def _chain(
        self,
        index: int,
        caller: Caller,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        values: tuple[Any, ...] | None,
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return the chain of a call, and its dispatch arguments."""
        function = self._dispatcher.records[index - 1].function
        scope: Scope = self._dispatcher.keeper.get()[0]
        # First the chains, then the backends: if another thread exchanges both in between, the
        # chain of the new backends is stored among the old chains, which are no longer read.
        chains, caller = scope.chains(index), self._dispatcher.loaded or caller
        found = function.extract(args, kwargs) if values is None else given(values)
        types = caller.resolver.types(found, scope.state)
        chain = chains.get(types)
        if chain is None:
            chain = caller.chain(function, scope.state, types)
            chains.keep(types, chain)
        return chain, found

    def check(self, index: int, called: Callable[..., Any], result: Any) -> Any:
        """Return the answer of an implementation of a coroutine or generator function.

        Raises
        ------
        TypeError
            If it is of the wrong kind; it names the backend.
        """
        function, caller = self._dispatcher.records[index - 1].function, self._dispatcher.loaded
        if caller is None:
            return result  # of the default: no backend is known yet
        return caller.check(function, self._dispatcher.keeper.current(), called, result)
