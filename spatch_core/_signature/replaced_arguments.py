"""Arguments that replace those of a call, because its finder has consumed an iterator."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TypeAlias

    Call: TypeAlias = tuple[tuple[Any, ...], tuple[Any, ...], dict[str, Any]]


class ReplacedArguments:
    """The dispatch arguments of a call, and new arguments for the implementation.

    A callable that finds dispatch arguments (see `BackendSystem.dispatchable`) may return it. The
    implementation that runs gets the new arguments.

    Parameters
    ----------
    dispatch_args : iterable
        The dispatch arguments.
    *args, **kwargs
        All arguments for the implementation.

    Raises
    ------
    TypeError
        If `dispatch_args` is not iterable.

    Examples
    --------
    Iterating over an iterator consumes it, so the call goes on with a list:

    >>> from spatch_core import BackendSystem, ReplacedArguments
    >>> system = BackendSystem(None, "MYLIB")
    >>> def find(arrays, *args, **kwargs):
    ...     arrays = list(arrays)
    ...     return ReplacedArguments(arrays, arrays, *args, **kwargs)
    >>> @system.dispatchable(find, module="mylib")
    ... def total(arrays, start=0):
    ...     return sum(arrays, start)
    >>> total(iter([1, 2, 3]), start=1)
    7
    """

    __slots__ = ("args", "dispatch_args", "kwargs")

    def __init__(self, dispatch_args: Iterable[Any], /, *args: Any, **kwargs: Any) -> None:
        if not hasattr(dispatch_args, "__iter__"):
            raise TypeError(
                "ReplacedArguments takes the dispatch arguments first, several in a tuple or list, "
                f"and then the arguments of the call; not {dispatch_args!r} first"
            )
        self.dispatch_args = dispatch_args
        self.args = args
        self.kwargs = kwargs

    def __iter__(self) -> Iterator[Any]:
        # Iterated like the result of any finder. The object itself comes first: its type is a key
        # of the function's table, whose entry takes the arguments from the object.
        yield self
        yield from self.dispatch_args


def replaced(found: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """Return the dispatch arguments of a call, and the arguments for the implementation.

    Parameters
    ----------
    found : tuple
        The result of the finder.
    args, kwargs
        The arguments of the call.
    """
    if has_replaced(found):
        first = found[0]
        return found[1:], first.args, first.kwargs
    return found, args, kwargs


def has_replaced(found: tuple[Any, ...]) -> bool:
    """Whether a finder has replaced the arguments of a call."""
    return len(found) > 0 and type(found[0]) is ReplacedArguments
