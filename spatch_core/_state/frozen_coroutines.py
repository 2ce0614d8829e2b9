"""Calls that suspend: the state is in force in each step, and not between two."""

from __future__ import annotations

import sys
from types import CoroutineType

from .._parameters import ASYNC_GENERATOR, COROUTINE
from .frozen_function import FunctionWithState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from .scope import Scope
    from .state_keeper import StateKeeper


class Steps:
    """The steps of one generator, coroutine or asynchronous generator.

    The state is put in force before each step and taken away after it, so that the consumer never
    sees it. A step that ends inside a block leaves the block's state in force; the next step starts
    with that state.

    Parameters
    ----------
    keeper : StateKeeper
        The library's dispatch state.
    scope : Scope
        The state in force when the first step begins.
    """

    __slots__ = ("_keeper", "_tables")

    def __init__(self, keeper: StateKeeper, scope: Scope) -> None:
        self._keeper = keeper
        self._tables = scope.tables

    def run(self, start: Callable[[], Any]) -> Generator[Any, Any, Any]:
        """Do what ``yield from start()`` does; `start` is called in the first step."""
        iterator = error = sent = None
        while True:
            try:
                if iterator is None:
                    iterator = self._step(start)
                if error is not None:
                    step, arguments = getattr(iterator, "throw", None), (error,)
                    if step is None:
                        raise error
                    value = self._step(step, *arguments)
                elif sent is None:
                    value = self._step(iterator.__next__)
                else:
                    value = self._step(iterator.send, sent)
            except StopIteration as end:
                return end.value
            finally:
                error = None  # breaks the cycle of the exception and this frame
            try:
                sent = yield value
            except GeneratorExit:
                close = getattr(iterator, "close", None)
                if close is not None:
                    self._step(close)
                raise
            except BaseException as thrown:  # noqa: BLE001  # any may be thrown
                error = thrown

    def _step(self, step: Callable[..., Any], *arguments: Any) -> Any:
        keeper = self._keeper
        before = keeper.get()
        keeper.set(self._tables)
        try:
            return step(*arguments)
        finally:
            # What a block has put in force that this step has entered and not left.
            self._tables = keeper.get()
            keeper.set(before)


class CoroutineFunctionWithState(FunctionWithState):
    """A frozen coroutine function: the state is in force within each step."""

    is_coroutine = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if sys.version_info >= (3, 12):
            from inspect import markcoroutinefunction

            markcoroutinefunction(self)
        else:
            from asyncio import coroutines

            # The marker that `asyncio.iscoroutinefunction` looks for in these versions.
            self._is_coroutine = getattr(coroutines, "_is_coroutine", True)

    def __getattr__(self, name: str) -> Any:
        # `inspect` reads these to tell the nature of a callable object.
        if name in ("__code__", "__defaults__", "__kwdefaults__"):
            return getattr(self.__wrapped__, name, getattr(type(self).__call__, name))
        if name == "__name__":
            return type(self).__name__
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    async def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not self._checked:
            self._check()
        return await _Awaited(Steps(self._keeper, self._scope), self.__wrapped__, args, kwargs)


class _Awaited:
    """Awaits a call; the state is in force within each step."""

    __slots__ = ("_call", "_steps")

    def __init__(
        self,
        steps: Steps,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self._steps = steps
        self._call = function, args, kwargs

    def __await__(self) -> Any:
        return self._steps.run(self._start)

    def _start(self) -> Any:
        return _awaiting(*self._call).__await__()


async def _awaiting(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return await function(*args, **kwargs)


async def _stepwise_coroutine(steps: Steps, start: Callable[[], Any]) -> Any:
    return await _Awaited(steps, start, (), {})


def _stepwise_generator(steps: Steps, start: Callable[[], Any]) -> Any:
    def begin() -> Any:
        made = start()
        # A function that `types.coroutine` marks may return a coroutine in place of a generator.
        return made.__await__() if type(made) is CoroutineType else iter(made)

    return (yield from steps.run(begin))


async def _stepwise_async_generator(steps: Steps, start: Callable[[], Any]) -> Any:
    def awaited(method: str, *given: Any) -> _Awaited:
        return _Awaited(steps, getattr(generator, method), given, {})

    generator = start()
    step = awaited("__anext__")
    try:
        while True:
            value = await step
            try:
                sent = yield value
            except GeneratorExit:
                await awaited("aclose")
                raise
            except BaseException as error:  # noqa: BLE001  # any may be thrown
                step = awaited("athrow", error)
            else:
                step = awaited("__anext__") if sent is None else awaited("asend", sent)
    except StopAsyncIteration:
        return


def stepwise(nature: int, keeper: StateKeeper, scope: Scope, start: Callable[[], Any]) -> Any:
    """Return a coroutine or generator that runs each step of another one in a scope.

    Parameters
    ----------
    nature : int
        The nature of `start`; see `nature_of`.
    keeper : StateKeeper
        The library's dispatch state.
    scope : Scope
        The state in force when the first step begins.
    start : callable
        Returns an awaitable, an iterator or an asynchronous iterator.
    """
    steps = Steps(keeper, scope)
    if nature & ASYNC_GENERATOR:
        return _stepwise_async_generator(steps, start)
    if nature & COROUTINE:
        return _stepwise_coroutine(steps, start)
    return _stepwise_generator(steps, start)
