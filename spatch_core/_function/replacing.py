"""Calls whose arguments a finder replaces, such as generators by lists."""

from __future__ import annotations

from .._dispatch_arguments import TakesFound
from .._signature.replaced_arguments import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Replacing(TakesFound):
    """The entry of a table for calls whose arguments a finder replaces.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher.
    index : int
        The function's place in the tables.
    target : callable
        The entry that the table would hold otherwise.
    """

    __slots__ = ("_dispatcher", "_index", "_target")

    def __init__(self, dispatcher: Any, index: int, target: Callable[..., Any]) -> None:
        self._dispatcher = dispatcher
        self._index = index
        self._target = target

    def call_found(self, found: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        """Make a call with the replaced arguments; the original ones may be exhausted."""
        target: Any = self._target
        found, args, kwargs = replaced(found, args, kwargs)
        if isinstance(target, TakesFound):
            return target.call_found(found, *args, **kwargs)
        try:
            result = target(*args, **kwargs)
        except Exception as error:
            deferred = self._dispatcher.failed(self._index, target, args, kwargs, error, found)
            if deferred is None:
                raise
            target, result = deferred, NotImplemented
        if result is NotImplemented:
            return self._dispatcher.deferred(self._index, target, args, kwargs, found)
        return result
