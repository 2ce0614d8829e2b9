"""The backends of a library: which may answer a call, which match its types, and their order.

**The golden rule**: installing a backend, and nothing else, never changes the result of a call that
the library answers for its own types. A backend takes part in a call in one of four ways, see
`Backends.active` and `Backends.chosen`:

============  ==================================================  ===========================
standing      reason                                              answers a call it matches
============  ==================================================  ===========================
prioritized   the user: ``prioritize=``, ``<PREFIX>_PRIORITIZE``  always
              or the current backend
placed        the library (a backend passed in code), or          always
              ``<PREFIX>_SET_ORDER`` (before one of these, or
              before the default)
installed     the distribution is installed                       unless the default matches
inactive      ``disable=``, a requirement that is not met, or     never
              it requires opt-in and is not prioritized
============  ==================================================  ===========================

A backend *matches*, see `Match.fits`, if it knows every dispatch type that counts, and if one of
these is a primary type of it. A type counts if it is a primary type of the default, or if an active
backend that implements the function knows it. So no backend gets a type that it does not know while
another backend knows it.

One exception keeps ``add(array, 1.5)`` with the library when a backend is installed that happens to
know ``float``. Types *ride along*, and do not count, in calls that the default matches without
them. Such a type is no primary type of the default, nor, by a specific pattern, of an active
backend that implements the function (see `TypeMatch.specific`).

**The order** of the candidates, see `Match.order`, is computed among these alone: prioritized
backends first, in the user's order, then rank by rank, with the edges inside each rank:

1. the library's own backends, and those that ``SET_ORDER`` puts before one of them;
2. installed backends that know a dispatch type by a specific pattern, or that ``SET_ORDER`` puts
   before any other;
3. other installed backends: they know the types by general patterns alone.

So a merely installed backend changes nothing among the library's own, and a backend that takes
every object changes nothing among the backends that know the types.

Everything that depends on the backends or on one function alone is computed once, so that the cost
of a new state or of new types does not grow with the number of backends. The caches have no locks:
two threads may compute the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._description import GivenCallable
from ._environment import BLOCK, SET_ORDER
from ._errors import is_first, warn_caller
from ._matching import Matcher, TypeMatch, overrides
from ._order import Cycle, order_backends
from ._patterns import (
    ABSTRACT,
    DEFAULT,
    import_identifier,
    loaded_object,
    mro_of,
    split_identifier,
    type_identifier,
)
from .exceptions import ImplementationImportError

if TYPE_CHECKING:
    from types import TracebackType

    from ._description import Description
    from ._discovery import Catalog
    from ._function import Function
    from ._state import DispatchState, StateKeeper

    Nearness = tuple[tuple[frozenset[str], ...], ...]

_MOST_ORDERS = 1000  # a program may make classes without end


class Backends:
    """The backends of a catalog.

    `keeper` holds the tables, which are dropped when answers change, and `told` what users were
    warned of. `fallback` is the library's policy, and `defer_on` are the classes of exceptions by
    which implementations defer. `notify` is that of `BackendSystem`. `protocol` is the library's
    own, by whose method classes override.
    """

    def __init__(
        self,
        catalog: Catalog,
        keeper: StateKeeper,
        told: dict[Hashable, None],
        fallback: str = "default",
        defer_on: tuple[type[Exception], ...] = (),
        notify: Callable[[str, str], object] | type[Warning] | None = None,
        protocol: str | None = None,
    ) -> None:
        descriptions, set_order = catalog.descriptions, catalog.environment.set_order
        self.catalog = catalog
        self.keeper = keeper
        self.told = told
        self.fallback = fallback
        self.defer_on = defer_on
        self.notify = notify
        self.protocol = protocol
        self.matcher = Matcher(descriptions)
        # What has been imported, by identifier.
        self.objects: dict[str, Any] = {}
        self.block = catalog.environment.variable(BLOCK)
        self.set_order_variable = catalog.environment.variable(SET_ORDER)
        self.placed = placed_backends(descriptions, set_order)
        self.stated_first = frozenset(first for first, _ in set_order)
        self._opt_in = frozenset(n for n, each in descriptions.items() if each.requires_opt_in)
        self._unmet = frozenset(n for n, each in descriptions.items() if each.unmet)
        self.converters = frozenset(
            n for n, each in descriptions.items() if each.conversions and not each.unmet
        )
        self._implementing: dict[str, frozenset[str]] = {}
        self._orders: dict[Any, tuple[tuple[str, ...], Mapping[str, Cycle]]] = {}
        # Identifiers of functions whose default may run for want of a backend: its exceptions may
        # get a note. See `Decision.has_end`.
        self.with_end: set[str] = set()
        own = descriptions[DEFAULT].known_types if DEFAULT in descriptions else ()
        self._own_patterns = [each for each in own if each.prefix != ABSTRACT]

    # Which backends may answer.

    def active(self, names: frozenset[str], state: DispatchState) -> frozenset[str]:
        """Return the active backends among `names`."""
        inactive = (names & self._opt_in).difference(state.prioritized) | (names & state.disabled)
        inactive |= names & self._unmet
        # Mostly none is, and the same set is cheaper than an equal one.
        return names - inactive if inactive else names

    def chosen(self, names: frozenset[str], state: DispatchState) -> frozenset[str]:
        """Return the prioritized and the placed backends among `names`.

        The golden rule: where the default matches, no other backend answers.
        """
        return (names & self.placed).union(names.intersection(state.prioritized))

    def why_inactive(self, name: str, state: DispatchState) -> str:
        """Say why a backend is inactive; empty if it is active."""
        description = self.catalog.descriptions[name]
        if description.unmet:
            return description.unmet
        if name in state.disabled:
            return "it is disabled"
        if description.requires_opt_in and name not in state.prioritized:
            return f"it requires opt-in: prioritize={name!r}"
        return ""

    def implementing(self, identifier: str) -> frozenset[str]:
        """Return the backends that implement a function, without the default."""
        found = self._implementing.get(identifier)
        if found is None:
            found = self._implementing[identifier] = frozenset(
                name
                for name, each in self.catalog.descriptions.items()
                if name != DEFAULT and each.implementation(identifier) and not each.unmet
            )
        return found

    def implementers(self, identifier: str) -> tuple[str, ...]:
        """Return the same backends by priority, and the default."""
        found = self.implementing(identifier) | {DEFAULT}
        return tuple([name for name in self.catalog.descriptions if name in found])

    def is_own(self, cls: type) -> bool:
        """Whether the library names a class itself, and not only a base class of it."""
        return any(pattern.distance(cls) == 0 for pattern in self._own_patterns)

    def check_type(self, cls: object) -> None:
        """Raise unless a class overrides, or is a primary type of any backend."""
        if not isinstance(cls, type):
            raise TypeError(f"type= takes a class, not {cls!r}")
        if self.matcher.match(cls).primary:
            return
        if self.protocol is not None and overrides(cls, self.protocol):
            return
        descriptions = self.catalog.descriptions.values()
        patterns = [str(pattern) for each in descriptions for pattern in each.primary_types]
        from .exceptions import UnknownTypeError

        raise UnknownTypeError(cls, dict.fromkeys(patterns))

    # Their order.

    def ordered(
        self, names: frozenset[str], nearness: Nearness
    ) -> tuple[tuple[str, ...], Mapping[str, Cycle]]:
        """Order the candidates of one rank; return them, and the skipped ones with their cycles."""
        if len(names) < 2:
            return tuple(names), {}
        # Keys hold names alone, so that the cache keeps no class alive. Calls of many functions and
        # types have the same candidates.
        key = names, nearness
        ordered = self._orders.get(key)
        if ordered is None:
            if len(self._orders) >= _MOST_ORDERS:
                self._orders.clear()
            ordered = self._orders[key] = self._order(names, nearness)
        return ordered

    def _order(
        self, names: frozenset[str], nearness: Nearness
    ) -> tuple[tuple[str, ...], Mapping[str, Cycle]]:
        descriptions, set_order = self.catalog.descriptions, self.catalog.environment.set_order
        skipped: dict[str, Cycle] = {}
        left = [name for name in self.catalog.base_order if name in names]
        while True:
            found = [descriptions[name] for name in left]
            order = order_backends(found, set_order, nearness)
            on_cycles = {name: cycle for cycle in order.cycles for name in cycle.members}
            if not on_cycles:
                return order.names, skipped
            # Merely installed backends are skipped first. Then the library's own may be on no cycle
            # any more, so the rest is ordered again.
            installed = {n: each for n, each in on_cycles.items() if not descriptions[n].in_code}
            skipped |= installed or on_cycles
            left = [name for name in left if name not in skipped]

    # What they name, imported on first use.

    def load(self, function: Function, backend: str, identifier: str) -> Callable[..., Any]:
        """Import what a backend names for a function, or raise `ImplementationImportError`."""
        if isinstance(identifier, GivenCallable):
            return identifier.given
        loaded: Callable[..., Any] | None = self.objects.get(identifier)
        if loaded is None:
            # No lock is needed: if two threads import it, both get the same object.
            try:
                found = import_identifier(identifier)
                if not callable(found):
                    raise ImportError(f"{identifier!r} is not callable: {found!r}")
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  # whatever the module raises
                cause = error.with_traceback(_of_backend(error.__traceback__))
                raise ImplementationImportError(
                    backend, function.identifier, identifier, self.block
                ) from cause
            loaded = self.objects[identifier] = found
        return loaded

    def is_loaded(self, identifier: str, called: object) -> bool:
        """Whether `called` is what a backend names; imports nothing."""
        if isinstance(identifier, GivenCallable):
            return identifier.given is called
        loaded: object = self.objects.get(identifier)
        if loaded is None:
            loaded = loaded_object(*split_identifier(identifier), hooks=False)
        return loaded is called

    def announce(self, function: str, backend: str) -> None:
        """Tell the library's ``notify=`` that a backend is about to run a function, once."""
        # Told first: a filter may turn the warning into an exception.
        if self.notify is None or not is_first(self.told, ("notify", function, backend)):
            return
        if isinstance(self.notify, type):
            warn_caller(self.notify(f"{function} is run by the backend {backend!r}"))
        else:
            self.notify(function, backend)


class Match:
    """Which backends match the types of one call, among those that implement its function."""

    __slots__ = (
        *("_active", "_all", "_backends", "_order", "counting", "current", "cycles"),
        *("default_matches", "foreign", "implementing", "riding", "state", "types"),
    )

    def __init__(
        self,
        backends: Backends,
        state: DispatchState,
        types: tuple[type, ...],
        implementing: frozenset[str],
        counts: Callable[[type], bool] | None = None,
    ) -> None:
        self._backends, self.state, self.implementing = backends, state, implementing
        self.types = types
        self._active = backends.active(implementing, state)
        self._order: list[str] | None = None
        self.cycles: dict[str, Cycle] = {}  # of the backends that `order` has skipped
        self._all = [backends.matcher.match(cls) for cls in types]
        known: list[tuple[type, TypeMatch]] = []
        # The types that count, and those that only ride along.
        self.counting: list[tuple[type, TypeMatch]] = []
        self.riding: list[tuple[type, TypeMatch]] = []
        foreign = []
        for cls, match in zip(types, self._all, strict=True):
            if DEFAULT not in match.known and not match.is_builtin:
                foreign.append(cls)
            # The type that the user names always counts.
            always = cls is state.type or (counts is not None and counts(cls))
            always = always or DEFAULT in match.primary
            if always or not self._active.isdisjoint(match.known):
                known.append((cls, match))
                stays = always or not self._active.isdisjoint(match.specific)
                (self.counting if stays else self.riding).append((cls, match))
        # Neither Python's own classes nor known to the default.
        self.foreign = tuple(foreign)
        says = any(DEFAULT in each.known or not each.is_builtin for each in self._all)
        # The current backend, which matches if the types say nothing.
        self.current = state.backend if state.type is None and not says else None
        # Then no merely installed backend answers.
        self.default_matches = DEFAULT not in state.disabled and self.fits(DEFAULT)
        # Types ride along only in calls that the default matches without them.
        if not self.default_matches:
            self.counting, self.riding = known, []

    def fits(self, name: str) -> bool:
        """Whether a backend knows every type that counts, one as a primary type."""
        if name == self.current:
            return True
        has_primary = False
        for _, match in self.counting:
            if name in match.primary:
                has_primary = True
            elif name not in match.known:
                return False
        return has_primary

    def _unknown(self, cls: type, name: str) -> str:
        """Name a class that a backend does not know, and its base class that it does know."""
        for base in mro_of(cls)[1:-1]:
            if name in self._backends.matcher.match(base).known:
                known = type_identifier(base)
                return f"{type_identifier(cls)} (it knows {known}; '~{known}' has the subclasses)"
        return type_identifier(cls)

    def why_not(self, name: str) -> str:
        """Say why a backend does not match."""
        if not self.types:
            return "no argument has a type to dispatch on"
        # Where no type counts, the backend knows none of them.
        counting = self.counting or zip(self.types, self._all, strict=True)
        unknown = [self._unknown(cls, name) for cls, each in counting if name not in each.known]
        if unknown:
            return f"it does not know {', '.join(unknown)}"
        riding = [type_identifier(cls) for cls, each in self.riding if name in each.primary]
        if riding:
            names = ", ".join(riding)
            return f"the default matches without {names}, which therefore does not count"
        return "none of the types is a primary type of it"

    def prioritized(self) -> list[str]:
        """Return the prioritized candidates in order."""
        state = self.state
        return [
            name
            for name in state.prioritized
            if (name in self.implementing or name == DEFAULT) and name not in state.disabled
            if self.fits(name)
        ]

    @property
    def order(self) -> list[str]:
        """The candidates in order; the default, if it matches, ends them."""
        if self._order is None:
            backends, found = self._backends, self.prioritized()
            names = self._others().difference(found)
            chosen = names & (backends.placed | {DEFAULT})
            installed = names - chosen
            specific = frozenset[str]().union(*[match.specific for _, match in self.counting])
            known = installed & (specific | backends.stated_first)
            nearness = tuple([match.nearness for _, match in self.counting])
            for rank in (chosen, known, installed - known):
                ordered, cycles = backends.ordered(rank, nearness)
                found += ordered
                self.cycles.update(cycles)
            self._order = found
        return self._order

    def _others(self) -> frozenset[str]:
        """Return the candidates, but for those that match as the current backend alone."""
        # Whole sets are compared, because a thousand backends may know a type.
        names = self._active
        if self.default_matches:
            names = self._backends.chosen(names, self.state)
        found = frozenset[str]().union(*[names & match.primary for _, match in self.counting])
        for _, match in self.counting:
            found &= match.known
        return found | {DEFAULT} if self.default_matches else found

    # What may change the candidates later.

    @property
    def awaited(self) -> list[str]:
        """Modules not imported yet whose import may change the candidates."""
        backends_of = self._backends.matcher.backends_of
        return [
            pattern.module
            for match in self._all
            for pattern in match.awaited
            if self._can_change(backends_of(pattern))
        ]

    @property
    def depends_on_registration(self) -> bool:
        """Whether ``register`` of an abstract base class may change the candidates."""
        return self._can_change(self._backends.matcher.abstract)

    def _can_change(self, names: frozenset[str]) -> bool:
        """Whether the candidates may change if a backend among `names` knows one more type."""
        # If all are primary types of the default, it always matches, and only a chosen backend
        # precedes it.
        settled = self.default_matches and all(DEFAULT in each.primary for each in self._all)
        if DEFAULT in names and not settled:
            return True
        able = self._backends.chosen(self._active, self.state) if settled else self._active
        return not able.isdisjoint(names)


def placed_backends(
    descriptions: Mapping[str, Description], set_order: Sequence[tuple[str, str]]
) -> frozenset[str]:
    """Return the in-code backends, and those that ``SET_ORDER`` puts before one or the default."""
    placed = {name for name, description in descriptions.items() if description.in_code}
    placed.add(DEFAULT)
    # Repeated, because a backend may be placed by a pair with one that is placed by another pair.
    while True:
        found = {first for first, second in set_order if second in placed} - placed
        if not found:
            return frozenset(placed) - {DEFAULT}
        placed |= found


def _of_backend(traceback: TracebackType | None) -> TracebackType | None:
    """Leave out the first frames of a failed import, which are those of the import system."""
    found = traceback
    while found is not None:
        name = str(found.tb_frame.f_globals.get("__name__"))
        if name.partition(".")[0] not in ("importlib", "_frozen_importlib", __package__):
            return found
        found = found.tb_next
    return None
