"""Runs generators and coroutines step by step, each step under a dispatch state of their own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from .keeper import StateKeeper
    from .scope import Scope, Tables


class Steps:
    """The steps of one generator, coroutine or asynchronous generator.

    The state is put in force before each step and put back after it, so that the consumer never
    sees it. A step that leaves another state in force, because it is inside of a block, finds
    that state again in the next step.

    Parameters
    ----------
    keeper : StateKeeper
        The library's dispatch state.
    scope : Scope
        What is in force when the first step begins.
    """

    __slots__ = ("_held", "_keeper", "_scope")

    def __init__(self, keeper: StateKeeper, scope: Scope) -> None:
        self._keeper = keeper
        self._scope = scope
        self._held: tuple[Tables, Any] | None = None

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
                error = None  # or a frame in its traceback would refer to it
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
        keeper, held = self._keeper, self._held
        # Not kept by frames in the traceback of an error: it may hold an observation.
        self._held = None
        entered = keeper.enter(self._scope) if held is None else keeper.enter_held(*held)
        del held
        try:
            value = step(*arguments)
            self._held = keeper.held()
        except StopIteration:
            # Each step of an asynchronous generator is an awaitable of its own, which ends.
            self._held = keeper.held()
            raise
        finally:
            keeper.leave(entered)
            del entered
        return value
