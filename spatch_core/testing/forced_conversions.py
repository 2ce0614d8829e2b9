"""A hook that makes each call with objects of a backend instead of the library's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from .._call.conversion import Conversion
from .._call.nested_values import Leaves
from .._call.round_trip import RoundTrip, Unconverted, converted
from .._dispatch_arguments import ASYNC_GENERATOR, COROUTINE, GENERATOR, Function
from .._identifiers import DEFAULT
from .._resolution.candidate import Candidate
from .._state_hooks import Call


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
        nature = call._hooked.function.nature
        if not self.is_active or nature & (GENERATOR | ASYNC_GENERATOR):
            return NotImplemented
        conversion, candidate = self._conversion(call)
        is_own = self._is_own(call)
        leaves = Leaves((*call.args, *call.kwargs.values()), is_own, conversion._is_foreign)
        written = [value for _, value in conversion._mutated(call.args, call.kwargs)]
        if not leaves.found or Leaves(written, is_own).found:
            return NotImplemented
        to_default, from_default, _ = candidate.load_conversions()
        made: dict[int, Any] = {}
        back = {**leaves.noted}
        try:
            for key, value in leaves.found.items():
                made[key] = converted(from_default, "from_default", value)
                back[id(made[key])] = value
        except Unconverted:
            return NotImplemented
        trip = RoundTrip(leaves, made, back)

        def finish(result: Any) -> Any:
            if result is NotImplemented:
                return result
            return trip.back(result, conversion._is_foreign, to_default, _Unheard())

        args = [trip.there(each) for each in call.args]
        result = call.next(*args, **{name: trip.there(each) for name, each in call.kwargs.items()})
        return _awaited(result, finish) if nature & COROUTINE else finish(result)

    def _conversion(self, call: Call) -> tuple[Conversion, Candidate]:
        resolver = call._hooked.resolver
        function: Function = call._hooked.function
        candidate = resolver.converters.candidate(function, self._backend)
        return Conversion(candidate, resolver), candidate

    @staticmethod
    def _is_own(call: Call) -> Callable[[type], bool]:
        match = call._hooked.resolver.matcher.match

        def is_own(cls: type) -> bool:
            found = match(cls)
            return not found.is_builtin and DEFAULT in found.primary

        return is_own


class _Unheard:
    """A listener that ignores everything; see `round_trip.ConversionListener`."""

    def called(self) -> None: ...

    def converted(self, before: Any, after: Any) -> None: ...

    def refusal(self, reason: str) -> Exception:
        return TypeError(reason)


async def _awaited(result: Awaitable[Any], finish: Callable[[Any], Any]) -> Any:
    return finish(await result)
