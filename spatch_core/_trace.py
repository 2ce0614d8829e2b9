"""Trace events and explanations: what ran, what would run, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ._identifiers import type_identifier


class Outcome(str, Enum):
    """What became of one candidate in one call."""

    CALLED = "called"
    DEFERRED = "deferred"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One step of a dispatched call.

    Parameters
    ----------
    function : str
        Identifier of the library's function.
    backend : str
        The candidate; ``"default"`` is the library's own implementation.
    outcome : Outcome
        ``CALLED`` is recorded before the implementation runs, so that the events of calls
        that it makes itself come after its own; ``DEFERRED`` follows if it then returns
        ``NotImplemented``.
    reason : str
        Why it deferred, or why it was called although it does not match.
    types : tuple of type
        The dispatch types of the call.
    """

    function: str
    backend: str
    outcome: Outcome
    reason: str
    types: tuple[type, ...]

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.function} -> {self.backend} {self.outcome}{reason}"


class Verdict(str, Enum):
    """What would become of one backend in one call."""

    RUNS = "runs"
    LATER = "comes later"
    ASKED = "would be asked"
    DEFERS = "defers"
    INACTIVE = "inactive"
    NO_MATCH = "does not match"
    NO_IMPLEMENTATION = "has no implementation"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class ExplainedBackend:
    """One line of an explanation.

    Parameters
    ----------
    backend : str
        Its name.
    verdict : Verdict
        What would become of it.
    reason : str
        Why.
    """

    backend: str
    verdict: Verdict
    reason: str

    def __str__(self) -> str:
        return f"{self.backend} {self.verdict}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would run for a call, and why; printed as a short text.

    Parameters
    ----------
    function : str
        Identifier of the library's function.
    types : tuple of type
        The dispatch types.
    selected : str or None
        The backend that would run (it may still return ``NotImplemented``); None where
        that depends on what a ``should_run`` says of the arguments, which were not given.
    backends : tuple of ExplainedBackend
        Every backend in the order in which they would be considered.
    """

    function: str
    types: tuple[type, ...]
    selected: str | None
    backends: tuple[ExplainedBackend, ...]

    def __str__(self) -> str:
        types = ", ".join(map(type_identifier, self.types))
        lines = [f"{self.function}({types or 'no dispatch types'})"]
        width = max(len(each.backend) for each in self.backends)
        for each in self.backends:
            mark = ">" if each.backend == self.selected else " "
            reason = f": {each.reason}" if each.reason else ""
            lines.append(f"{mark} {each.backend:<{width}}  {each.verdict}{reason}")
        return "\n".join(lines)
