"""A hook that makes each call with objects of a backend instead of the library's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from .._convert import Conversion, RoundTrip, Unconverted, converted, leaves
from .._function import Function
from .._observed import Call
from .._patterns import DEFAULT
from .._wrapper import ASYNC_GENERATOR, COROUTINE, GENERATOR


class ForcedConversions:
    """A hook that converts the library's objects in arguments for a backend, and results back.

    A call is not changed if its arguments have no such object, if it writes into one, if the
    function is a generator function, or if the backend cannot convert the arguments.

    Parameters
    ----------
    backend : str
        The name of a backend with conversions.

    Attributes
    ----------
    is_active : bool
        Whether calls are converted.
    """

    def __init__(self, backend: str) -> None:
        self._backend = backend
        self.is_active = True

    def __call__(self, call: Call) -> Any:
        """Make the call with converted arguments; see `hooks`."""
        decision = call._hooked.chain().decision
        function: Function = call._hooked.function
        if not self.is_active or function.nature & (GENERATOR | ASYNC_GENERATOR):
            return NotImplemented
        decider = call._hooked.calls.decider
        step = decider.conversion(self._backend)
        conversion = Conversion(decision, step)

        def is_own(cls: type) -> bool:
            found = decider.matcher.match(cls)
            return not found.is_builtin and DEFAULT in found.primary

        written = [value for _, value in conversion.written(call.args, call.kwargs)]
        if leaves(written, is_own) or not leaves((*call.args, *call.kwargs.values()), is_own):
            return NotImplemented
        to_default, from_default, _ = decision.load_conversions(step)
        trip = RoundTrip(
            lambda value: converted(from_default, "from_default", value),
            lambda value: converted(to_default, "to_default", value),
            *(is_own, conversion.is_foreign),
        )
        try:
            args = [trip.there(each) for each in call.args]
            kwargs = {name: trip.there(each) for name, each in call.kwargs.items()}
        except Unconverted:
            return NotImplemented
        result = call.next(*args, **kwargs)
        if result is NotImplemented:
            return result
        return _awaited(result, trip.back) if function.nature & COROUTINE else trip.back(result)


async def _awaited(result: Awaitable[Any], finish: Callable[[Any], Any]) -> Any:
    return finish(await result)
