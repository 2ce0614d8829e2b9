"""The course of one call: what the candidates have said so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

RETURNED = "it returned NotImplemented"
UNCONVERTED = object()
"""What stands for the result of candidates that have all deferred, and of a failed conversion."""
POSTPONED = "it said IF_NEEDED: it runs if no other one does"


class Course:
    """What the candidates of one call have said so far.

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
        The candidate that was tried last; at the end, the one that has answered or raised.
    """

    __slots__ = ("backend", "cause", "conversions", "postponed", "reasons")

    def __init__(self, reasons: Mapping[str, str] | None = None) -> None:
        self.reasons: dict[str, str] = {} if reasons is None else {**reasons}
        self.conversions: dict[str, str] = {}
        self.postponed: list[int] = []
        self.cause: Exception | None = None
        self.backend: str | None = None

    def inner(self) -> Course:
        """Return the course of a call of ``call_next``: what was said is the same."""
        course = Course()
        course.reasons, course.conversions = self.reasons, self.conversions
        course.postponed, course.cause = self.postponed, self.cause
        return course

    def take_postponed(self) -> list[int]:
        """Return the places of those that said ``IF_NEEDED``, each once, and forget them."""
        taken: list[int] = []
        # One by one: the courses of `inner` share the list.
        while self.postponed:
            taken.append(self.postponed.pop(0))
        return taken


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
    """Say that an implementation deferred by raising an exception."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # a third party's __str__
        text = ""
    return f"it raised {type(error).__name__}" + (f": {text}" if text else "")
