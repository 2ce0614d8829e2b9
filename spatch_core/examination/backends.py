"""The backends of a library, usable or not: their states, and the edges of their order."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from .._discovery import REQUIRES
from .._errors import Finding, Source, replace
from .._order import BY_TYPES, DECLARED
from .._patterns import ABSTRACT, DEFAULT, EXACT, TypePattern
from .findings import note

if TYPE_CHECKING:
    from .._description import Description
    from .._discovery import Catalog
    from .._order import Order
    from ..backend_system import BackendSystem
    from .libraries import LoadedLibrary


class State(str, Enum):
    """Whether a backend takes part in calls, and the kind of reason why not."""

    ACTIVE = "active"
    WAITS = "waits for prioritize"  # the library itself goes first in all calls that it matches
    NEEDS_OPT_IN = "needs opt-in"
    INACTIVE = "inactive"
    BLOCKED = "blocked"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class ListedBackend:
    """One backend of a library."""

    name: str  # "default" is the library itself
    state: State
    reason: str  # why the backend is not active; empty for an active one
    source: Source  # where its description comes from
    functions: int | None = None  # how many it implements; None if the description was not read
    prioritized: bool = False  # by the environment
    description: Description | None = None  # None if it was not read, or has faults


def list_backends(loaded: LoadedLibrary) -> list[ListedBackend]:
    """Return the backends of a library: usable ones by priority, then blocked, then skipped."""
    system = loaded.system
    if system is None:
        return []
    return [*_usable(system, loaded), *_blocked(system, loaded), *_skipped(system, loaded)]


def current_backend(loaded: LoadedLibrary) -> str | None:
    """Return the current backend that the environment sets, or None."""
    return None if loaded.system is None else loaded.system.backend_opts().backend


def unusable_backends(loaded: LoadedLibrary) -> list[ListedBackend]:
    """Return the backends that explanations of calls leave out."""
    return [each for each in list_backends(loaded) if each.state in (State.BLOCKED, State.BROKEN)]


def _usable(system: BackendSystem, loaded: LoadedLibrary) -> Iterator[ListedBackend]:
    options = system.backend_opts()
    active = frozenset(options.backends)
    prioritized = options.prioritized
    variable = f"{system.environ_prefix}_PRIORITIZE"
    descriptions = system.backends
    for name in dict.fromkeys([*prioritized, *descriptions]):
        description = descriptions[name]
        state, reason = State.ACTIVE, ""
        if description.unmet:
            state, reason = State.INACTIVE, description.unmet
        elif name not in active:
            state = State.NEEDS_OPT_IN
        elif name not in prioritized and waits_for_prioritize(description, system):
            state = State.WAITS
        if state in (State.WAITS, State.NEEDS_OPT_IN):
            reason = f"prioritize={name!r}, or set the environment variable {variable}={name}"
        yield ListedBackend(
            name,
            state,
            reason,
            loaded.library.home(description.source),
            len(system.functions if name == DEFAULT else description.functions)
            + len(functions_of_every(description, system)),
            name in prioritized,
            description,
        )


def functions_of_every(description: Description, system: BackendSystem) -> list[str]:
    """Return the library's functions that a backend implements by ``functions."*"``."""
    if description.every is None:
        return []
    return [each for each in system.functions if each not in description.functions]


def _blocked(system: BackendSystem, loaded: LoadedLibrary) -> Iterator[ListedBackend]:
    variable = f"{system.environ_prefix}_BLOCK"
    reason = f"by the environment variable {variable}; its description was not read"
    for name, source in sorted(system._catalog().blocked.items()):
        yield ListedBackend(name, State.BLOCKED, reason, loaded.library.home(source))


def _skipped(system: BackendSystem, loaded: LoadedLibrary) -> Iterator[ListedBackend]:
    """Yield each entry point that was skipped, once."""
    seen = set()
    for problem in sorted(loaded.problems, key=lambda each: each.backend or ""):
        known = system.backends.get(str(problem.backend))
        # An unreadable requirement: such a backend is listed as inactive.
        is_listed = problem.key == REQUIRES and known is not None and known.unmet != ""
        if problem.backend is None or not problem.skips or is_listed:
            continue
        source = loaded.library.home(problem.source)
        key = (problem.backend, source.distribution, source.entry_point)
        if key not in seen:
            seen.add(key)
            reason = f"{problem.key}: {problem.message}" if problem.key else problem.message
            yield ListedBackend(problem.backend, State.BROKEN, reason, source)


# --- Backends that the golden rule keeps from running ---------------------------------------------


def waits_for_prioritize(description: Description, system: BackendSystem) -> bool:
    """Whether a backend does not require opt-in, and yet runs only where it is prioritized.

    The library works with all its types itself, and goes before backends that are merely installed.
    """
    if description.name == DEFAULT or description.requires_opt_in:
        return False
    order = [*system._catalog().descriptions]
    goes_first = order.index(description.name) < order.index(DEFAULT)
    if goes_first and description.name in system._dispatcher.ensure_loaded().decider.placed:
        return False
    return are_covered(description.known_types, own_types(system))


def own_types(system: BackendSystem) -> list[TypePattern]:
    """Return the library's own primary types; no backend is discovered."""
    return [TypePattern(each) for each in system._default_types]


def are_covered(types: Iterable[TypePattern], own: Collection[TypePattern]) -> bool:
    """Whether the library works with all these types itself, and goes first in calls with them."""
    return bool(own) and all(any(_covers(each, other) for each in own) for other in types)


def check_calls(
    description: Description, own: Collection[TypePattern], waits: bool
) -> Iterator[Finding]:
    """Yield notes about the calls that a backend takes beside the library's own types."""
    if waits:
        found = note(
            "it waits for prioritize: the library works with all of its types itself and goes "
            "first, so it never runs unasked",
            "Say so with requires_opt_in = true",
        )
        yield replace(found, key="requires_opt_in")
    if own and "builtins" not in [each.module for each in own]:
        for position, each in enumerate(description.primary_types):
            if each.module == "builtins" and not description.in_code:
                called = f"f({each.qualname})"
                found = note(
                    f"the library lists none of Python's own classes: the backend takes calls "
                    f"like {called}, and none that has an object of the library beside it",
                    f"Remove {str(each)!r}, unless calls like {called} are meant",
                )
                yield replace(found, key=f"primary_types[{position}]")


def _covers(own: TypePattern, other: TypePattern) -> bool:
    """Whether `own` is known to match every class that `other` matches."""
    if own.identifier == other.identifier and own.prefix == other.prefix:
        return True
    if own.prefix == EXACT or (own.prefix != ABSTRACT and other.prefix not in (EXACT, own.prefix)):
        return False
    cls: Any = sys.modules.get(other.module)
    base: Any = sys.modules.get(own.module)
    with suppress(Exception):
        for part in other.qualname.split("."):
            cls = getattr(cls, part)
        for part in own.qualname.split("."):
            base = getattr(base, part)
        return issubclass(cls, base) if own.prefix == ABSTRACT else base in type.mro(cls)
    return False


# --- The order ------------------------------------------------------------------------------------

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


def steps(catalog: Catalog) -> list[Step]:
    """Return every edge in force, the strongest first."""
    found = []
    for edge in catalog.order.edges(catalog.default_name):
        declared_by = None
        if edge.origin == DECLARED:
            declared_by = edge.after if edge.moves_down else edge.before
        found.append(Step(edge.before, edge.after, edge.origin, declared_by, edge.reason))
    return found


def mending(order: Order) -> str | None:
    """Return a value of ``SET_ORDER`` that breaks every cycle; None without cycles."""
    pieces = [piece for cycle in order.cycles for piece in cycle.set_order.split(",")]
    return ",".join(dict.fromkeys(pieces)) or None
