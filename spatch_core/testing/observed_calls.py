"""A hook that records the outcome of each call under a backend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import Any

from .._context import POSTPONED
from .._observed import Call
from ..backend_system import BackendSystem
from ..hooks import watched
from .call_outcomes import CallOutcomes


class ObservedCalls:
    """A hook that records whether a backend answered each call, deferred or never saw it.

    Parameters
    ----------
    system : BackendSystem
        The library.
    backend : str
        The backend.

    Attributes
    ----------
    outcomes : CallOutcomes
        The outcomes of the calls since `begin`.
    """

    def __init__(self, system: BackendSystem, backend: str) -> None:
        self._system = system
        self._backend = backend
        self._lock = RLock()
        self._reasons: dict[tuple[str, tuple[type, ...]], str] = {}
        self.begin()

    def begin(self) -> None:
        """Start to record the calls of another test."""
        self.outcomes = CallOutcomes()
        self._running: dict[int, tuple[Call, int]] = {}  # each call with its thread

    def threads_running(self, function: str) -> set[int]:
        """Return the threads in whose calls of a function the backend has been tried last."""
        return {
            thread
            for call, thread in [*self._running.values()]
            if call.function == function and call.backend == self._backend
        }

    def __call__(self, call: Call) -> Any:
        """Make the call, and record its outcome."""
        return watched(call, self._watch)

    @contextmanager
    def _watch(self, call: Call, nature: int) -> Iterator[None]:
        outcomes, running = self.outcomes, self._running  # of the test in which the call starts
        running[id(call)] = call, get_ident()
        try:
            yield
        finally:
            del running[id(call)]
            self._note(outcomes, call)

    def note_unseen(self, function: str, reason: str) -> None:
        """Note a call that the library did not get."""
        with self._lock:
            self.outcomes.add(CallOutcomes(unseen={function: {reason: 1}}))

    def _note(self, outcomes: CallOutcomes, call: Call) -> None:
        noted = CallOutcomes()
        if call.backend == self._backend:
            noted.answered[call.function] = 1
        elif self._backend in call.deferred:
            noted.deferred[call.function] = {call.deferred[self._backend]: 1}
        else:
            noted.unseen[call.function] = {self._why_unseen(call): 1}
        with self._lock:
            outcomes.add(noted)

    def _why_unseen(self, call: Call) -> str:
        names = [each.backend for each in call._hooked.chain().decision.candidates]
        if self._backend in names:
            if call.backend in names[: names.index(self._backend)]:
                return f"{call.backend} answered first"
            return POSTPONED if call.backend else "no backend was called"
        key = call.function, call.types
        if key not in self._reasons:
            explained = self._system.explain_types(*key).backends
            reasons = [
                f"{each.verdict}: {each.reason}" if each.reason else str(each.verdict)
                for each in explained
                if each.backend == self._backend
            ]
            self._reasons[key] = reasons[0] if reasons else "it takes no part in the call"
        return self._reasons[key]
