"""The progress of one call: the answers of its candidates so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import is_
from typing import Any

RETURNED = "it returned NotImplemented"
CONTINUED = "it went on with context.call_next()"
UNCONVERTED = object()
"""In place of a result: the remaining candidates must be tried, e.g. after a failed conversion."""
POSTPONED = "it said IF_NEEDED: it runs if no other one does"


class Progress:
    """The answers of the candidates of one call so far.

    Parameters
    ----------
    reasons : mapping of str to str, optional
        By backend, why it deferred.

    Attributes
    ----------
    conversions : dict of str to str
        By backend, why its conversions could not be used.
    postponed : list of int
        The places of the candidates that said ``IF_NEEDED``.
    cause : Exception or None
        The last exception by which an implementation deferred.
    backend : str or None
        The candidate that was tried last; after the call, the one that answered or raised, if any.
    """

    __slots__ = ("backend", "cause", "conversions", "postponed", "reasons")

    def __init__(self, reasons: Mapping[str, str] | None = None) -> None:
        self.reasons: dict[str, str] = {} if reasons is None else {**reasons}
        self.conversions: dict[str, str] = {}
        self.postponed: list[int] = []
        self.cause: Exception | None = None
        self.backend: str | None = None

    def inner(self) -> Progress:
        """Return the progress of a ``call_next``, which begins with the answers so far."""
        progress = Progress(self.reasons)
        progress.conversions = {**self.conversions}
        progress.postponed, progress.cause = [*self.postponed], self.cause
        return progress

    def settle(
        self,
        context: Any,
        backend: str,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """Return the answer after a backend deferred, if that backend has called ``call_next``.

        Parameters
        ----------
        context : DispatchContext or None
            The last one made in the call.
        backend : str
            The backend that deferred.
        args, kwargs
            The arguments of the call.

        Returns
        -------
        object
            `UNCONVERTED` if the rest of the candidates must be tried.
        """
        continued: Continued | None = getattr(context, "_continued", None)
        if continued is None or context.name != backend:
            return UNCONVERTED
        return continued.settle(args, kwargs, self)

    def take_postponed(self) -> list[int]:
        """Return the places of postponed candidates, and forget them."""
        taken, self.postponed = self.postponed, []
        return taken


class Continued:
    """A call of ``call_next``.

    Parameters
    ----------
    args, kwargs
        Its arguments.
    progress : Progress
        The answers of the candidates in it.

    Attributes
    ----------
    result : object
        Its result; `UNCONVERTED` if it has none, or one that can be used only once.
    """

    __slots__ = ("args", "kwargs", "progress", "result")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], progress: Progress) -> None:
        self.args = args
        self.kwargs = kwargs
        self.progress = progress
        self.result: Any = UNCONVERTED

    def settle(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], progress: Progress) -> Any:
        """Return the result for the outer call, after the caller of ``call_next`` deferred.

        If both calls have the very same arguments, no candidate is asked or run again: the answers
        of the candidates are added to the progress of the outer call.

        Returns
        -------
        object
            `UNCONVERTED` if the rest of the candidates must be tried.
        """
        mine, others = self.kwargs, kwargs
        if len(args) != len(self.args) or mine.keys() != others.keys():
            return UNCONVERTED
        if not all(map(is_, self.args, args)) or any(mine[k] is not others[k] for k in mine):
            return UNCONVERTED
        inner = self.progress
        progress.reasons = {**inner.reasons, **progress.reasons}
        progress.conversions.update(inner.conversions)
        progress.postponed, progress.cause = inner.postponed, inner.cause or progress.cause
        if self.result is not UNCONVERTED:
            progress.backend = inner.backend
        return self.result


class Raised:
    """An implementation that deferred by raising an exception.

    Parameters
    ----------
    implementation : callable
        The implementation.
    error : Exception
        The exception, of a class that the library names in ``defer_on``.
    """

    __slots__ = ("error", "implementation")

    def __init__(self, implementation: Callable[..., Any], error: Exception) -> None:
        self.implementation = implementation
        self.error = error


def reason_of(error: Exception) -> str:
    """Return the reason of an implementation that deferred by an exception."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # a third party's __str__
        text = ""
    return f"it raised {type(error).__name__}" + (f": {text}" if text else "")
