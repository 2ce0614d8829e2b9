"""The outcomes of calls under a backend: it answered, it deferred, or it never saw the call."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

Reasons = dict[str, dict[str, int]]
"""By the function's identifier, how many calls each reason was given for."""


@dataclass(slots=True)
class CallOutcomes:
    """The outcomes of the calls of one test, or of several.

    Attributes
    ----------
    answered : dict of str to int
        By the function's identifier, how many calls the backend has answered.
    deferred, unseen : dict of str to dict of str to int
        By the function's identifier, how many calls the backend has declined, and how many went
        past it, by reason.
    """

    answered: dict[str, int] = field(default_factory=dict)
    deferred: Reasons = field(default_factory=dict)
    unseen: Reasons = field(default_factory=dict)

    @property
    def is_reached(self) -> bool:
        """Whether the backend was asked for a call."""
        return bool(self.answered or self.deferred)

    def add(self, other: CallOutcomes) -> None:
        """Add the counts of others."""
        _add(self.answered, other.answered)
        for mine, theirs in ((self.deferred, other.deferred), (self.unseen, other.unseen)):
            for function, reasons in theirs.items():
                _add(mine.setdefault(function, {}), reasons)

    def as_json(self) -> dict[str, Any]:
        """Return the same as a dictionary, from which the class can be made again."""
        return asdict(self)


def _add(counts: dict[str, int], others: dict[str, int]) -> None:
    for key, count in others.items():
        counts[key] = counts.get(key, 0) + count
