"""The outcomes of calls under a backend: it answered, deferred, or never saw the call."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

Reasons = dict[str, dict[str, int]]
"""The number of calls by reason, by identifier of the function."""


@dataclass(slots=True)
class CallOutcomes:
    """The outcomes of the calls of one test, or of several.

    Attributes
    ----------
    answered : dict of str to int
        The number of calls that the backend has answered, by identifier of the function.
    deferred, unseen : dict of str to dict of str to int
        The number of calls that the backend has declined, and that never reached it, by identifier
        of the function and by reason.
    """

    answered: dict[str, int] = field(default_factory=dict)
    deferred: Reasons = field(default_factory=dict)
    unseen: Reasons = field(default_factory=dict)

    @property
    def is_reached(self) -> bool:
        """Whether the backend was asked for a call."""
        return bool(self.answered or self.deferred)

    def add(self, other: CallOutcomes) -> None:
        """Add the counts of other outcomes."""
        _add(self.answered, other.answered)
        for mine, theirs in ((self.deferred, other.deferred), (self.unseen, other.unseen)):
            for function, reasons in theirs.items():
                _add(mine.setdefault(function, {}), reasons)

    def as_json(self) -> dict[str, Any]:
        """Return the arguments of the class as a dictionary for JSON."""
        return asdict(self)


def _add(counts: dict[str, int], others: dict[str, int]) -> None:
    for key, count in others.items():
        counts[key] = counts.get(key, 0) + count
