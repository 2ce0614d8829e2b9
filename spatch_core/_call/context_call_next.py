"""The rest of a chain after one candidate, which that candidate may call by ``call_next``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .._resolution.adopted_function import AdoptedFunction
from .progress import CONTINUED, POSTPONED, Continued, Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._dispatch_arguments import Function
    from .._resolution.resolver import Resolver
    from .._state import DispatchState


class Rest:
    """The rest of a chain after one candidate, for `DispatchContext.call_next`.

    Parameters
    ----------
    chain : Chain
        The chain.
    place : int
        The place of the next candidate.
    progress : Progress or None
        The answers of the candidates so far; None if it is the first candidate.
    postponed : sequence of int, optional
        The places of postponed candidates that have not had their second turn.
    """

    __slots__ = ("_chain", "_place", "_postponed", "_progress")

    def __init__(
        self,
        chain: Any,
        place: int,
        progress: Progress | None = None,
        postponed: Sequence[int] = (),
    ) -> None:
        self._chain = chain
        self._place = place
        self._progress = progress
        self._postponed = postponed

    def call(self, context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the rest. The context keeps its answers, which count if its candidate defers."""
        chain = self._chain
        progress = Progress(chain.said) if self._progress is None else self._progress.inner()
        progress.reasons[context.name] = CONTINUED
        # Candidates that wait for their second turn belong to the rest, too.
        progress.postponed += self._postponed
        continued = context._continued = Continued(args, kwargs, progress)
        result = chain.call_next(self._place, args, kwargs, progress)
        # The result of a plain function is the answer of the call if the candidate defers after
        # all. Awaitables and iterators can be used only once.
        if not chain.function.nature:
            continued.result = result
        return result


class MakesChains(Protocol):
    """The part of `Caller` that chains use."""

    resolver: Resolver
    defer_on: tuple[type[Exception], ...]

    def chain(self, function: Function, state: DispatchState, types: tuple[type, ...]) -> Any: ...


def call_next(
    chain: Any, place: int, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress
) -> Any:
    """Call the candidates of a chain from a place on; with other types, those for these types."""
    caller: MakesChains | None = chain.caller
    # The types of adopted functions are passed by their callers, not found among the arguments.
    if caller is not None and not isinstance(chain.function, AdoptedFunction):
        found = chain.function.extract(args, kwargs)
        types = caller.resolver.types(found, chain.state)
        if [*map(id, types)] != [*map(id, chain.types)]:
            # A reason keeps a backend from having another turn, but not its conversions.
            before = [each.backend for each in chain.candidates[:place]]
            anew = Progress({**dict.fromkeys(before, POSTPONED), **progress.reasons})
            return caller.chain(chain.function, chain.state, types).run_all(args, kwargs, anew)
    return chain.run(args, kwargs, place, progress=progress)
