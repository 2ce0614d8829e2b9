"""The value of the fixture ``spatch_backend``."""

from __future__ import annotations

from dataclasses import dataclass, field

from .call_outcomes import CallOutcomes

__all__ = ["BackendInTest"]


@dataclass(frozen=True, slots=True)
class BackendInTest:
    """The backend under which a test runs: the fixture ``spatch_backend`` for pytest.

    Parameters
    ----------
    name : str
        ``"default"`` without ``--spatch-backend``.
    converts : bool
        Whether each call is made with objects of the backend.
    outcomes : CallOutcomes
        The outcomes of the calls of the test so far.
    """

    name: str
    converts: bool = False
    outcomes: CallOutcomes = field(default_factory=CallOutcomes)

    @property
    def answered(self) -> dict[str, int]:
        """By the function's identifier, how many calls the backend has answered."""
        return {**self.outcomes.answered}

    @property
    def deferred(self) -> dict[str, list[str]]:
        """By the function's identifier, the reasons for which the backend has deferred."""
        return {name: [*reasons] for name, reasons in self.outcomes.deferred.items()}
