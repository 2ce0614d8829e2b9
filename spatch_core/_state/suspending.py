"""Frozen functions whose calls suspend: coroutine functions and generator functions."""

from __future__ import annotations

import sys

from .frozen_function import FunctionWithState
from .steps import Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class SuspendingFunctionWithState(FunctionWithState):
    """The same for a function whose calls suspend: the state is in force inside of each step."""

    def __getattr__(self, name: str) -> Any:
        # By these `inspect` finds out the nature of what is no function.
        if name in ("__code__", "__defaults__", "__kwdefaults__"):
            return getattr(self.__wrapped__, name, getattr(type(self).__call__, name))
        if name == "__name__":
            return type(self).__name__
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _steps(self) -> Steps:
        if not self._checked:
            self._check()
        return Steps(self._keeper, self._scope)


class GeneratorFunctionWithState(SuspendingFunctionWithState):
    """The same for a generator function."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        def start() -> Any:
            return iter(self.__wrapped__(*args, **kwargs))

        return (yield from self._steps().run(start))


class CoroutineFunctionWithState(SuspendingFunctionWithState):
    """The same for a coroutine function."""

    is_coroutine = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if sys.version_info >= (3, 12):
            from inspect import markcoroutinefunction

            markcoroutinefunction(self)
        else:
            from asyncio import coroutines

            self._is_coroutine = getattr(coroutines, "_is_coroutine", True)

    async def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return await _Awaited(self._steps(), self.__wrapped__, args, kwargs)


class AsyncGeneratorFunctionWithState(SuspendingFunctionWithState):
    """The same for an asynchronous generator function."""

    async def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        steps = self._steps()

        def awaited(method: str, *given: Any) -> _Awaited:
            return _Awaited(steps, getattr(generator, method), given, {})

        generator = self.__wrapped__(*args, **kwargs)
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


class _Awaited:
    """Awaits a call, in steps."""

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
