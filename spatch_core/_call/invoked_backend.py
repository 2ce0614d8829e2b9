"""The chain of the single backend that `invoke` names."""

from __future__ import annotations

from typing import Any

from .._dispatch_arguments import COROUTINE
from .._identifiers import DEFAULT
from .._reporting.errors import BackendDeferredError
from .._resolution.candidate import Candidate
from .._traces import Outcome
from . import coroutine_answers
from .candidate_chain import Chain


class Invoked(Chain):
    """The chain of the single backend that `invoke` names, which may not defer.

    It serves one call, so that it can keep the reason.
    """

    __slots__ = ("_reason",)

    _reason: str

    def run(self, *call: Any, **more: Any) -> Any:
        """Call the backend."""
        result = super().run(*call, **more)
        (candidate,) = self.candidates
        if result is not NotImplemented and self.function.nature & COROUTINE:
            return coroutine_answers.invoked(self.function, candidate.backend, result)
        if result is NotImplemented and candidate.backend != DEFAULT:
            raise BackendDeferredError(candidate.backend, self.function.identifier, self._reason)
        return result

    def call_next(self, *call: Any, **more: Any) -> Any:
        """Raise: there is no other candidate."""
        (candidate,) = self.candidates
        raise BackendDeferredError(
            candidate.backend,
            self.function.identifier,
            "it called context.call_next(), but invoke(backend=...) names no other backend",
        )

    def record(self, candidate: Candidate, outcome: Outcome, reason: str) -> None:
        """Record a step, and keep its reason for the error."""
        super().record(candidate, outcome, reason)
        self._reason = reason
