"""The golden rule: installing a backend, and nothing else, never changes a call of the library.

A backend takes part in a call in one of four ways, its `Standing`:

============  ==================================================  ===========================
standing      reason                                              answers a call it matches
============  ==================================================  ===========================
PRIORITIZED   the user: ``prioritize=``, ``<PREFIX>_PRIORITIZE``  always
              or the current backend
PLACED        the library (a backend passed in code), or          always
              ``<PREFIX>_SET_ORDER`` (before one of these, or
              before the default)
INSTALLED     the distribution is installed                       unless the default matches
INACTIVE      ``disable=``, or it requires opt-in and is not      never
              prioritized
============  ==================================================  ===========================

A backend is *chosen* if it is prioritized or placed. A backend matches a call if it knows every
dispatch type that counts, and if one of these is a primary type of it. A type counts if it is a
primary type of the default, or if an active backend that implements the function knows it. So no
backend gets a type that it does not know while another backend knows it.

One exception keeps ``add(array, 1.5)`` with the library when a backend is installed that happens to
know ``float``. Types *ride along*, and do not count, in the calls that the default matches without
them. Such a type is no primary type of the default, nor, by a specific pattern, of an active
backend that implements the function. Patterns that say little of a class are not specific: any
pattern of ``float`` itself, ``~builtins:float`` of ``numpy.float64``, ``@collections.abc:Hashable``
of nearly all classes. For a library that lists Python's own classes alone, all are specific.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum

from .._description.description import Description
from .._discovery.catalog import Catalog
from .._identifiers import DEFAULT
from .._state import DispatchState
from .matching import TypeMatch


class Standing(IntEnum):
    """How a backend takes part in calls; see the table of the module."""

    INACTIVE = 0
    INSTALLED = 1
    PLACED = 2
    PRIORITIZED = 3


class GoldenRule:
    """The golden rule for one catalog.

    It compares whole sets of names, because a thousand backends may know a type. Answers that
    depend on a function and a set alone are cached. `Matcher` makes each set once, so the caches
    have at most as many entries as there are combinations of functions and sets of type patterns.

    Parameters
    ----------
    catalog : Catalog
        The library's backends.
    implementers : callable
        Returns the names of the backends that implement a function, given its identifier.

    Attributes
    ----------
    placed : frozenset of str
        The backends that are placed; some may be inactive or not installed.
    unmet : dict of str to str
        Backends with an unmet requirement, and the reason; they are always inactive.
    absent : dict of str to mapping
        By backend: functions of which no variant is available here, and the reason.
    """

    def __init__(self, catalog: Catalog, implementers: Callable[[str], Sequence[str]]) -> None:
        self._implementers = implementers
        self.placed = placed_backends(catalog.descriptions, catalog.environment.set_order)
        self._opt_in = frozenset(
            name for name, each in catalog.descriptions.items() if each.requires_opt_in
        )
        self.absent = {
            name: each.absent for name, each in catalog.descriptions.items() if each.absent
        }
        self.unmet = {name: each.unmet for name, each in catalog.descriptions.items() if each.unmet}
        # Caches without locks: two threads may compute the same value. State is left out of the
        # keys, so that states do not fill them.
        self._implementing: dict[tuple[str, frozenset[str]], frozenset[str]] = {}

    def standing(self, name: str, state: DispatchState) -> Standing:
        """Return the standing of a backend other than the default."""
        if name in state.disabled or name in self.unmet:
            return Standing.INACTIVE
        if name in state.prioritized:
            return Standing.PRIORITIZED
        if name in self._opt_in:
            return Standing.INACTIVE
        return Standing.PLACED if name in self.placed else Standing.INSTALLED

    def active(
        self, names: frozenset[str], state: DispatchState, default_matches: bool
    ) -> frozenset[str]:
        """Return the backends among `names` whose standing lets them answer.

        This is `standing` for many names at once. Callers decide about the default themselves.
        """
        if default_matches:
            names = (names & self.placed).union(names.intersection(state.prioritized))
        inactive = (names & self._opt_in).difference(state.prioritized) | (names & state.disabled)
        if self.unmet:
            inactive |= names & self.unmet.keys()
        return names - inactive if inactive else names

    def counts(self, match: TypeMatch, function: str, state: DispatchState) -> bool:
        """Whether a dispatch type counts, at least in calls that the default does not match."""
        return DEFAULT in match.primary or self.has_say(match.known, function, state)

    def rides_along(self, match: TypeMatch, function: str, state: DispatchState) -> bool:
        """Whether a type does not count in calls that the default matches without it."""
        return DEFAULT not in match.primary and not self.has_say(match.specific, function, state)

    def has_say(
        self,
        names: frozenset[str],
        function: str,
        state: DispatchState,
        default_matches: bool = False,
    ) -> bool:
        """Whether a backend among `names` may answer calls of a function; see `active`."""
        found = self._implementing.get((function, names))
        if found is None:
            found = names.intersection(self._implementers(function)) - {DEFAULT}
            self._implementing[function, names] = found
        return bool(self.active(found, state, default_matches))


def placed_backends(
    descriptions: Mapping[str, Description], set_order: Sequence[tuple[str, str]]
) -> frozenset[str]:
    """Return the in-code backends, and those that ``SET_ORDER`` puts before one of them.

    Backends that it puts before the default count, too; the default itself is left out.

    Parameters
    ----------
    descriptions : mapping of str to Description
        By name.
    set_order : sequence of (str, str)
        Pairs of names; the first goes before the second.
    """
    placed = {name for name, description in descriptions.items() if description.in_code}
    placed.add(DEFAULT)
    # Repeated, because a backend may be placed by a pair with one that is placed by another pair.
    while True:
        found = {first for first, second in set_order if second in placed} - placed
        if not found:
            return frozenset(placed) - {DEFAULT}
        placed |= found
