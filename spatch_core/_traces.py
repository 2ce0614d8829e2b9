"""Trace events: the steps of the calls in a traced block."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from ._errors import Published, published
from ._parameters import Function
from ._patterns import DEFAULT, shown


class Outcome(str, Enum):
    """The outcome of one candidate in one call."""

    CALLED = "called"
    CONVERTED = "converted"
    DEFERRED = "deferred"

    def __str__(self) -> str:
        return self.value

    def __reduce_ex__(self, protocol: Any) -> Any:
        return published(self, self.value)


@dataclass(frozen=True, slots=True)
class TraceEvent(Published):
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
        ``NotImplemented``. ``CONVERTED`` is recorded for each object that is converted.
    reason : str
        Why it deferred; why it was called although it does not match; or the conversion: the type
        before and after, and the number of bytes if known.
    types : tuple of type
        The dispatch types of the call.
    default_name : str, optional
        The name of the library's own implementation in the text.
    """

    function: str
    backend: str
    outcome: Outcome
    reason: str
    types: tuple[type, ...]
    default_name: str = DEFAULT

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.function} -> {shown(self.backend, self.default_name)} {self.outcome}{reason}"


class Trace(list[TraceEvent]):
    """The events of the calls in a traced block, in order.

    ``with backend_opts(trace=True) as trace:`` gives one. Calls append to this list. Printed, it
    has one line per event.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def __reduce__(self) -> Any:
        return published(self, [*self])


def record(
    trace: Trace | None,
    function: Function,
    backend: str,
    outcome: Outcome,
    reason: str,
    types: tuple[type, ...],
) -> None:
    """Add an event to the trace of a state, if it has one."""
    if trace is not None:
        trace.append(
            TraceEvent(function.identifier, backend, outcome, reason, types, function.default_name)
        )
