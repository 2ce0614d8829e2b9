"""The order of the candidates of a call, computed among these alone.

A backend that is inactive, does not implement the function or does not match does not affect it:
its edges do not count. Prioritized backends go first, in the user's order. The others are ordered
rank by rank, with the edges inside each rank:

====  =========================================================================================
rank  its candidates
====  =========================================================================================
1     the library's own, and those that ``SET_ORDER`` puts before one of the library's
2     merely installed backends that know a dispatch type by a specific pattern, or that
      ``SET_ORDER`` puts before any other
3     other merely installed backends: they know the types by general patterns alone
====  =========================================================================================

So a merely installed backend changes nothing among the library's own, and a backend that takes
every object changes nothing among the backends that know the types.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from .._discovery import CYCLE, Catalog
from .._order import Cycle, Order, order_backends
from .._patterns import DEFAULT

# A bound: `nearness` depends on classes, which a program may make without end.
_MOST_ORDERS = 1000


Nearness = tuple[tuple[frozenset[str], ...], ...]


@dataclass(frozen=True, slots=True)
class OrderedRank:
    """The candidates of one rank.

    Parameters
    ----------
    names : tuple of str
        In order; the first goes first.
    skipped : mapping of str to Cycle
        Skipped candidates, each with its cycle of declared edges.
    """

    names: tuple[str, ...]
    skipped: Mapping[str, Cycle] = field(default_factory=dict)


class CandidateOrder:
    """Orders the candidates of calls.

    Orders are cached: calls of many functions and types have the same candidates. Keys hold names
    alone, so that the cache keeps no class alive.

    Parameters
    ----------
    catalog : Catalog
        The library's backends.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._descriptions = catalog.descriptions
        self._default_name = catalog.default_name
        self._set_order = catalog.environment.set_order
        self._variable = catalog.environment.variable("SET_ORDER")
        self._position = {name: number for number, name in enumerate(catalog.base_order)}
        self._stated_first = frozenset(first for first, _ in self._set_order)
        self._kept: dict[tuple[frozenset[str], Nearness], OrderedRank] = {}

    def ranks(
        self, names: frozenset[str], placed: frozenset[str], specific: frozenset[str]
    ) -> Iterator[frozenset[str]]:
        """Yield the candidates of each rank; see the table of the module.

        Parameters
        ----------
        names : frozenset of str
            The candidates that are not prioritized.
        placed : frozenset of str
            The backends that are placed.
        specific : frozenset of str
            The backends that know a dispatch type of the call by a specific pattern.
        """
        # Start from `names`, which is small: the other sets may hold a thousand names.
        chosen = (names & placed) | (names & {DEFAULT})
        installed = names - chosen
        known = (installed & specific) | (installed & self._stated_first)
        yield from (chosen, known, installed - known)

    def order(self, names: frozenset[str], nearness: Nearness) -> OrderedRank:
        """Order the candidates of one rank.

        Parameters
        ----------
        names : frozenset of str
            The candidates.
        nearness : tuple of tuple of frozenset of str
            For each dispatch type, sets of backends, the nearest first; see `TypeMatch`. They may
            contain backends that are no candidates.
        """
        if len(names) < 2:
            return OrderedRank(tuple(names))
        key = names, nearness
        ordered = self._kept.get(key)
        if ordered is None:
            if len(self._kept) >= _MOST_ORDERS:
                self._kept.clear()
            ordered = self._kept[key] = self._order(names, nearness)
        return ordered

    def _order(self, names: frozenset[str], nearness: Nearness) -> OrderedRank:
        skipped: dict[str, Cycle] = {}
        left: Collection[str] = sorted(names, key=self._position.__getitem__)
        while True:
            order = self._order_alone(left, nearness)
            installed = {
                name: cycle
                for cycle in order.cycles
                for name in cycle.members
                if not self._descriptions[name].in_code
            }
            if not installed:
                break
            # Merely installed backends are skipped first. Then the library's own may be on no
            # cycle any more, so the rest is ordered again.
            skipped |= installed
            left = [name for name in left if name not in installed]
        skipped |= {name: cycle for cycle in order.cycles for name in cycle.members}
        return OrderedRank(order.names, skipped)

    def _order_alone(self, names: Collection[str], nearness: Nearness) -> Order:
        # In base order: `order_backends` keeps the order of in-code backends.
        given = [self._descriptions[name] for name in names]
        return order_backends(given, self._set_order, self._variable, nearness)

    def why_skipped(self, cycle: Cycle) -> str:
        """Say why a candidate on a cycle is skipped."""
        path = cycle.in_words(self._default_name)
        return f"{CYCLE}: {path}. Set {self._variable}={cycle.set_order!r}"

    def why_void(self, before: str, after: str, placed: Collection[str]) -> str:
        """Say why an edge between two backends takes part in no call; empty if it may.

        Parameters
        ----------
        before, after : str
            The backends.
        placed : collection of str
            The backends that are placed.
        """
        for name in (before, after):
            if self._descriptions[name].requires_opt_in:
                return f"{name} is inactive, or prioritized and goes first"
        if (before in placed) != (after in placed):
            return "the library's own go before backends that are merely installed"
        if self._descriptions[before].every or self._descriptions[after].every:
            return ""
        first, second = self._descriptions[before].functions, self._descriptions[after].functions
        if DEFAULT in (before, after):
            shares = bool(second if before == DEFAULT else first)
        else:
            shares = not set(first).isdisjoint(second)
        return "" if shares else "they implement no function in common"
