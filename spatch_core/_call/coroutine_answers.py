"""Answers of implementations of coroutine and generator functions: checked and awaited.

The wrapper of such a function awaits the answer or iterates over it, so the answer must be of the
kind that the function promises.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType, GeneratorType
from typing import Any

from .._dispatch_arguments import ASYNC_GENERATOR, COROUTINE, Function
from .._errors import BackendDeferredError
from .._patterns import DEFAULT
from .progress import RETURNED, reason_of

_AWAITABLE_GENERATOR = 0x100
"""The flag of generators that `types.coroutine` has marked."""


def checked(function: Function, backend: str, result: Any, giver: str = "") -> Any:
    """Return the answer of an implementation in the form that the wrapper uses.

    Parameters
    ----------
    function : Function
        The library's function, which is not plain.
    backend : str
        The backend that implements it.
    result : object
        The return value of the implementation.
    giver : str, optional
        Names the giver in messages if it is no backend, such as a hook.

    Raises
    ------
    TypeError
        If it is of the wrong kind.
    """
    nature = function.nature
    if nature & COROUTINE:
        kind, needed, fits = "a coroutine function", "an awaitable", _is_awaitable(result)
    elif nature & ASYNC_GENERATOR:
        kind, needed = "an asynchronous generator function", "an asynchronous iterator"
        fits = hasattr(type(result), "__anext__")
        # An iterator that is no generator: the wrapper needs the other methods, too.
        if fits and not all(hasattr(result, name) for name in ("asend", "athrow", "aclose")):
            return _PlainSteps(result)
    else:
        kind, needed = "a generator function", "an iterator"
        fits = hasattr(type(result), "__next__") or (
            nature & _AWAITABLE_GENERATOR != 0 and type(result) is CoroutineType
        )
    if not fits:
        if type(result) is CoroutineType:
            result.close()  # or Python would warn that it was never awaited
        which = f"returned {result!r} for {function.identifier}, which is {kind}"
        raise TypeError(
            f"{giver} {which}; it must return {needed}, e.g. what call.next(...) returns"
            if giver
            else f"backend {backend!r} {which}; its implementation must return {needed}"
        )
    return result


def _is_awaitable(result: object) -> bool:
    if type(result) is GeneratorType:
        return result.gi_code.co_flags & _AWAITABLE_GENERATOR != 0
    return hasattr(type(result), "__await__")


class _PlainSteps:
    """An asynchronous iterator with the methods of an asynchronous generator.

    Parameters
    ----------
    iterator : asynchronous iterator
        As in ``yield from``, it learns nothing of `athrow` and `aclose`, and `asend` fails.
    """

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __aiter__(self) -> Any:
        return self

    def __anext__(self) -> Any:
        return self._iterator.__anext__()

    def asend(self, value: object) -> Any:
        """Fail as `yield from` does."""
        return self._iterator.asend(value)

    async def athrow(self, error: BaseException) -> Any:
        """Raise the error here."""
        raise error

    async def aclose(self) -> None:
        """Do nothing."""


def answer(
    function: Function,
    backend: str,
    result: Any,
    go_on: Callable[[str], Any],
    failed: Callable[[Exception], bool],
) -> Any:
    """Return the answer of a candidate, as `Chain.run` returns it.

    `go_on` takes the reason, and calls the rest of the chain; `failed` returns whether an
    exception that the answer raises when it is awaited means that the candidate defers.
    """
    result = checked(function, backend, result)
    if function.nature & COROUTINE:
        return _awaited(backend, result, go_on, failed)
    return result


async def _awaited(
    backend: str, result: Any, go_on: Callable[[str], Any], failed: Callable[[Exception], bool]
) -> Any:
    """Await an answer; call the rest of the chain if it defers."""
    try:
        found = await result
    except Exception as error:
        if not failed(error):
            raise
        reason = reason_of(error)
    else:
        if found is not NotImplemented or backend == DEFAULT:
            return found
        reason = RETURNED
    rest = go_on(reason)
    return rest if rest is NotImplemented else await rest


async def invoked(function: Function, backend: str, result: Any) -> Any:
    """Await the answer of the backend that `invoke` names, which may not defer."""
    found = await result
    if found is NotImplemented and backend != DEFAULT:
        raise BackendDeferredError(backend, function.identifier, RETURNED)
    return found
