"""The chain of the one backend that `invoke` was told."""

from __future__ import annotations

from typing import Any

from .._dispatch_arguments import COROUTINE
from .._identifiers import DEFAULT
from .._reporting.errors import BackendDeferredError
from .._resolution.candidate import Candidate
from .._state.trace import Outcome
from . import answers
from .chain import Chain


class Invoked(Chain):
    """The chain of the one backend that `invoke` was told; it must answer.

    It serves one call.
    """

    __slots__ = ("_reason",)

    _reason: str

    def run(self, *call: Any, **more: Any) -> Any:
        """Call the backend."""
        result = super().run(*call, **more)
        (candidate,) = self.candidates
        if result is not NotImplemented and self.function.nature & COROUTINE:
            return answers.invoked(self.function, candidate.backend, result)
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
        """Keep the reason for the error, too."""
        super().record(candidate, outcome, reason)
        self._reason = reason
