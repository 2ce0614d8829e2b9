"""Calls of functions with a ``like`` argument, which implementations do not get."""

from __future__ import annotations

from .._dispatch_arguments import TakesFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._dispatch_arguments import Function
    from .wrapper_support import Link


class WithoutLike(TakesFound):
    """The entry of a table that leaves the ``like`` argument out of a call.

    Parameters
    ----------
    link : Link
        Leads to the library's dispatcher.
    index : int
        The function's place in the tables.
    function : Function
        The function.
    target : callable
        The entry that the table would hold otherwise.
    """

    __slots__ = ("_function", "_index", "_link", "_target")

    def __init__(
        self, link: Link, index: int, function: Function, target: Callable[..., Any]
    ) -> None:
        self._link = link
        self._index = index
        self._function = function
        self._target = target

    def call_found(self, found: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        """Make a call without the ``like`` argument."""
        target: Any = self._target
        kwargs = self._function.without_like(kwargs)
        if isinstance(target, TakesFound):
            return target.call_found(found, *args, **kwargs)
        try:
            result = target(*args, **kwargs)
        except Exception as error:
            deferred = self._link.failed(self._index, target, args, kwargs, error, found)
            if deferred is None:
                raise
            target, result = deferred, NotImplemented
        if result is NotImplemented:
            return self._link.deferred(self._index, target, args, kwargs, found)
        return result
