"""The answer to ``explain --why-not``: what would make a backend run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .question import Question


class Outcome(str, Enum):
    """What a backend would do in a call."""

    RUNS = "runs"
    ASKED = "its should_run decides"
    WOULD = "would run"
    CANNOT = "cannot run"
    UNREAD = "is not read"


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way to make a backend run."""

    question: Question  # with the options and types with which it would run
    variables: Mapping[str, str]  # environment variables that have to be set
    outcome: Outcome  # `RUNS`, or `ASKED` where it depends on the arguments too
    text: str  # the same in words

    def as_json(self) -> dict[str, Any]:
        """Return it as ``explain --json`` has it."""
        options = self.question.options
        return {
            "prioritize": list(options.prioritize),
            "disable": list(options.disable),
            "type": options.type and options.type.identifier,
            "types": [each.identifier for each in self.question.types],
            "environment": dict(self.variables),
            "outcome": self.outcome.value,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """Why a backend does not run, and what would make it."""

    backend: str
    outcome: Outcome  # whether it runs, would with any of the remedies, or cannot
    reason: str = ""  # why it does not run; empty if it does
    remedies: Sequence[Remedy] = ()  # ways to make it run, the simplest first
    obstacles: Sequence[str] = ()  # faults that no option or variable can mend

    def as_json(self) -> dict[str, Any]:
        """Return it as ``explain --json`` has it."""
        return {
            "backend": self.backend,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "remedies": [each.as_json() for each in self.remedies],
            "obstacles": list(self.obstacles),
        }
