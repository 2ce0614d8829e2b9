"""The parts of the source for coroutine functions, generators and asynchronous generators.

Imported when a library decorates one.
"""

from __future__ import annotations

from .._dispatch_arguments import ASYNC_GENERATOR, COROUTINE, GENERATOR

ANSWERS = {
    # What an implementation awaits is not looked at again.
    COROUTINE: """\
if result is {NotImplemented}:
    result = {dispatcher}.deferred({index}, call, args, keywords{found})
    if result is {NotImplemented}:
        return result
if {type}(result) is not {Coroutine}:
    {dispatcher}.check({index}, call, result)
return await result
""",
    GENERATOR: """\
if result is {NotImplemented}:
    result = {dispatcher}.deferred({index}, call, args, keywords{found})
if {type}(result) is not {Generator}:
    {dispatcher}.check({index}, call, result)
return (yield from result)
""",
    # Does what `yield from` does; asynchronous generators have no such statement.
    ASYNC_GENERATOR: """\
if result is {NotImplemented}:
    result = {dispatcher}.deferred({index}, call, args, keywords{found})
if {type}(result) is not {AsyncGenerator}:
    result = {dispatcher}.check({index}, call, result)
step = result.__anext__()
try:
    while True:
        value = await step
        try:
            sent = yield value
        except {GeneratorExit}:
            await result.aclose()
            raise
        except {BaseException} as error:
            step = result.athrow(error)
        else:
            step = result.__anext__() if sent is None else result.asend(sent)
except {StopAsyncIteration}:
    return
""",
}
"""The lines that handle the result of a call, by the nature of the function."""
