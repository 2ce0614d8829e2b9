"""Calls that a hook watches from the begin to the end, whatever the nature of the function."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

from .._dispatch_arguments import ASYNC_GENERATOR, COROUTINE
from .._state.hooks import Call

Watch: TypeAlias = Callable[[Call, int], AbstractContextManager[object]]
"""Takes the call and the nature of the function; is entered and left around the call."""


def watched(call: Call, watch: Watch) -> Any:
    """Go on with a call, in a context that lasts until its result is there.

    For a function that suspends, the context is entered in the first step and left after the last.
    """
    nature = call._hooked.function.nature
    if not nature:
        with watch(call, nature):
            return call.next(*call.args, **call.kwargs)
    if nature & ASYNC_GENERATOR:
        return _asynchronous_steps(call, watch, nature)
    return (_awaited if nature & COROUTINE else _steps)(call, watch, nature)


async def _awaited(call: Call, watch: Watch, nature: int) -> Any:
    with watch(call, nature):
        return await call.next(*call.args, **call.kwargs)


def _steps(call: Call, watch: Watch, nature: int) -> Any:
    with watch(call, nature):
        return (yield from call.next(*call.args, **call.kwargs))


async def _asynchronous_steps(call: Call, watch: Watch, nature: int) -> Any:
    with watch(call, nature):
        generator = call.next(*call.args, **call.kwargs)
        step = generator.__anext__()
        try:
            while True:
                value = await step
                try:
                    sent = yield value
                except GeneratorExit:
                    await generator.aclose()
                    raise
                except BaseException as error:  # noqa: BLE001  # any may be thrown
                    step = generator.athrow(error)
                else:
                    step = generator.__anext__() if sent is None else generator.asend(sent)
        except StopAsyncIteration:
            return
