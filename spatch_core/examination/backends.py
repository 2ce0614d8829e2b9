"""Lists the backends of a library, usable or not, each with its state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from .._discovery.catalog import CYCLE
from .._identifiers import DEFAULT
from .._problems import Source

if TYPE_CHECKING:
    from .._description.description import Description
    from ..backend_system import BackendSystem
    from .libraries import LoadedLibrary


class State(str, Enum):
    """Whether a backend takes part in calls, and if not, why."""

    ACTIVE = "active"
    NEEDS_OPT_IN = "needs opt-in"
    BLOCKED = "blocked"
    BROKEN = "broken"
    SHADOWED = "shadowed"


@dataclass(frozen=True, slots=True)
class ListedBackend:
    """One backend of a library."""

    name: str  # "default" is the library itself
    state: State
    reason: str  # why, where it does not
    source: Source  # where its description comes from
    functions: int | None = None  # their number; None where it was not read
    prioritized: bool = False  # by the environment
    description: Description | None = None  # None where it was not read, or is at fault


def list_backends(loaded: LoadedLibrary) -> list[ListedBackend]:
    """Return the backends of a library: by priority, then those that are not usable."""
    system = loaded.system
    if system is None:
        return []
    return [*_usable(system, loaded), *_blocked(system, loaded), *_skipped(system, loaded)]


def unusable_backends(loaded: LoadedLibrary) -> list[ListedBackend]:
    """Return the backends of a library that no call can reach, whatever its options."""
    reachable = (State.ACTIVE, State.NEEDS_OPT_IN)
    return [each for each in list_backends(loaded) if each.state not in reachable]


def _usable(system: BackendSystem, loaded: LoadedLibrary) -> Iterator[ListedBackend]:
    options = system.backend_opts()
    active = frozenset(options.backends)
    prioritized = options.prioritized
    variable = f"{system.environ_prefix}_PRIORITIZE"
    descriptions = system.backends
    for name in dict.fromkeys([*prioritized, *descriptions]):
        description = descriptions[name]
        hint = f"prioritize={name!r}, or set the environment variable {variable}={name}"
        yield ListedBackend(
            name,
            State.ACTIVE if name in active else State.NEEDS_OPT_IN,
            "" if name in active else hint,
            loaded.library.home(description.source),
            len(system.functions if name == DEFAULT else description.functions),
            name in prioritized,
            description,
        )


def _blocked(system: BackendSystem, loaded: LoadedLibrary) -> Iterator[ListedBackend]:
    variable = f"{system.environ_prefix}_BLOCK"
    reason = f"the environment variable {variable} says so; nothing of it was read"
    for name, source in sorted(system.resolver().catalog.blocked.items()):
        yield ListedBackend(name, State.BLOCKED, reason, loaded.library.home(source))


def _skipped(system: BackendSystem, loaded: LoadedLibrary) -> Iterator[ListedBackend]:
    """Yield each entry point with problems, once."""
    usable = system.backends
    seen = set()
    for problem in sorted(loaded.problems, key=lambda each: each.backend or ""):
        # Backends on a cycle are usable: only calls that several of them match skip them.
        if problem.backend is None or problem.message.startswith(CYCLE):
            continue
        source = loaded.library.home(problem.source)
        key = (problem.backend, source.distribution, source.entry_point)
        if key not in seen:
            seen.add(key)
            state = State.SHADOWED if problem.backend in usable else State.BROKEN
            reason = f"{problem.key}: {problem.message}" if problem.key else problem.message
            yield ListedBackend(problem.backend, state, reason, source)
