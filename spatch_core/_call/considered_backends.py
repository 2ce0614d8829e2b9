"""The backends that a call has considered before it ended without one, each with its reason."""

from __future__ import annotations

from dataclasses import replace

from .._dispatch_arguments import Function
from .._identifiers import DEFAULT
from .._resolution.dry_run import explain
from .._resolution.explanation import ExplainedBackend, Verdict
from .._resolution.resolver import Resolver
from .._state import DispatchState
from .progress import Progress


class Considered:
    """Explains calls of one function with the same types; equal answers are explained once.

    Parameters
    ----------
    resolver : Resolver
        The library's.
    function : Function
        The library's function.
    state : DispatchState
        The state of the calls.
    types : tuple of type
        The dispatch types.
    """

    __slots__ = ("_call", "_known", "_match", "_types")

    def __init__(
        self, resolver: Resolver, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> None:
        self._call = resolver, function, state, types
        self._match = resolver.matcher.match
        self._types = types
        # The answers in the last call and their explanation; one tuple, so that other threads see
        # a matching pair.
        self._known: tuple[object, tuple[ExplainedBackend, ...]] = None, ()

    def backends(self, progress: Progress) -> tuple[ExplainedBackend, ...]:
        """Return every backend that a call has considered, without calling ``should_run`` again.

        Parameters
        ----------
        progress : Progress
            The answers of the candidates in this call.
        """
        # A part of the key: an import or a registration may change them.
        matches = [self._match(cls) for cls in self._types]
        said = {**progress.reasons}, {**progress.conversions}, matches
        # A subclass of str may define `==`.
        is_plain = all(type(text) is str for each in said[:2] for text in each.values())
        before, explained = self._known
        if not is_plain or said != before:
            explanation = explain(*self._call, given=progress)
            explained = tuple([each for each in explanation.backends if each.backend != DEFAULT])
            if is_plain:
                self._known = said, explained
        return explained


def unconverted(
    considered: tuple[ExplainedBackend, ...], converter: str, reason: str
) -> tuple[ExplainedBackend, ...]:
    """Return `considered` with the reason why a backend could not convert the result."""
    return tuple(
        [
            replace(each, verdict=Verdict.CANNOT_CONVERT, reason=reason)
            if each.backend == converter and each.verdict is Verdict.CONVERTS
            else each
            for each in considered
        ]
    )
