"""The edges of a priority order, each with its origin and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._order import BY_TYPES, DECLARED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._order import Order

BASE_ORDER = (
    "the library itself is first, then concrete backends, then abstract ones; among these, "
    "backends in the library's code keep their order, then installed ones are sorted by name"
)


@dataclass(frozen=True, slots=True)
class Step:
    """An edge of the priority order: one backend goes before another."""

    before: str
    after: str
    origin: str  # "environment", "declared" or "type specificity"
    declared_by: str | None  # the backend that declares it
    reason: str

    def short_reason(self, name: str) -> str:
        """Return a short text about the edge, from the side of one of its two backends."""
        goes = f"before {self.after}" if name == self.before else f"after {self.before}"
        if self.origin == BY_TYPES:
            return f"{goes}: {'narrower' if name == self.before else 'wider'} types"
        return f"{goes}: {f'{self.declared_by} declares it' if self.declared_by else self.reason}"


def steps(order: Order) -> list[Step]:
    """Return every edge in force, the strongest first."""
    found = []
    for edge in order.edges():
        declared_by = None
        if edge.origin == DECLARED:
            declared_by = edge.after if edge.moves_down else edge.before
        found.append(Step(edge.before, edge.after, edge.origin, declared_by, edge.reason))
    return found


def mending(order: Order) -> str | None:
    """Return a value of ``SET_ORDER`` that breaks every cycle; None without cycles."""
    pieces = [piece for cycle in order.cycles for piece in cycle.set_order.split(",")]
    return ",".join(dict.fromkeys(pieces)) or None


def set_order_before(stated: Sequence[tuple[str, str]], backend: str, others: Sequence[str]) -> str:
    """Return ``SET_ORDER`` with a backend before others, without the pairs that say the opposite.

    Examples
    --------
    >>> set_order_before([("a", "b"), ("c", "d")], "b", ["a"])
    'c>d,b>a'
    """
    opposed = set(others)  # with every backend that a chain of pairs puts after one of them
    size = 0
    while len(opposed) > size:
        size = len(opposed)
        opposed |= {second for first, second in stated if first in opposed}
    pairs = [
        *((a, b) for a, b in stated if not (b == backend and a in opposed)),
        *((backend, other) for other in others if other != backend),
    ]
    return ",".join(dict.fromkeys(f"{first}>{second}" for first, second in pairs))
