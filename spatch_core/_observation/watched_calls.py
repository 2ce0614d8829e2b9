"""Watches calls from start to end, also those of generators and coroutines."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

from .._dispatch_arguments import ASYNC_GENERATOR, COROUTINE
from .._state_hooks import Call

Watch: TypeAlias = Callable[[Call, int], AbstractContextManager[object]]
"""Takes the call and the nature of the function; returns a context that surrounds the call."""


def watched(call: Call, watch: Watch) -> Any:
    """Continue a call, in a context that lasts until the call has ended.

    For a generator or coroutine, the first step enters the context and the last one leaves it.
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
