"""Calls whose candidates may change, because a module is imported or a class registered."""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable, Sequence
from typing import Any

from .._dispatch_arguments import TakesFound
from .._patterns import is_awaited
from .entry_chain import EntryChain
from .table_entries import tries_whole_chain


class Guard(TakesFound):
    """Calls a chain, and renews it first if its candidates may have changed.

    Parameters
    ----------
    chain : EntryChain
        The candidates when the guard was made.
    token : object
        The result of `abc.get_cache_token`, read before they were found.
    awaited : sequence of str
        Modules whose import could change them.
    renew : callable
        Forgets all tables; returns the chain with the candidates as they are now.
    """

    __slots__ = ("_awaited", "_chain", "_renew", "_target", "_token")

    def __init__(
        self,
        chain: EntryChain,
        token: object,
        awaited: Sequence[str],
        renew: Callable[[EntryChain], EntryChain],
    ) -> None:
        self._chain = chain
        self._target = chain.target()
        self._token = token
        self._awaited = awaited
        self._renew = renew

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call."""
        # Checked before the target runs, which may register a class or import a module itself.
        if get_cache_token() != self._token or (self._awaited and self._has_arrived()):
            # `_renew` forgets all tables, so the next call does not come here.
            return self._renew(self._chain).run(args, kwargs)
        called: Any = self._target
        try:
            result = called(*args, **kwargs)
        except Exception as error:
            raised = self._chain.failed(called, error)
            if raised is None:
                raise
            called, result = raised, NotImplemented
        if result is NotImplemented and not tries_whole_chain(called):
            return self._chain.after(called).run(args, kwargs)
        return result

    def current(self) -> EntryChain:
        """Return the chain, with the candidates as they are now."""
        if get_cache_token() != self._token or (self._awaited and self._has_arrived()):
            return self._renew(self._chain)
        return self._chain

    def call_found(self, found: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        """Make a call with dispatch arguments that a finder has returned."""
        target: Any = self._target
        if get_cache_token() != self._token or (self._awaited and self._has_arrived()):
            return self._renew(self._chain).run(args, kwargs, found=found)
        if isinstance(target, TakesFound):
            return target.call_found(found, *args, **kwargs)
        try:
            result = target(*args, **kwargs)
        except Exception as error:
            raised = self._chain.failed(target, error)
            if raised is None:
                raise
            target, result = raised, NotImplemented
        if result is NotImplemented and not tries_whole_chain(target):
            return self._chain.after(target).run(args, kwargs, found=found)
        return result

    def _has_arrived(self) -> bool:
        """Whether any of the awaited modules has been imported."""
        return not all(map(is_awaited, self._awaited))
