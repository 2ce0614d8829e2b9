"""Lists the backends of a library, usable or not, each with its state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from .._discovery import REQUIRES
from .._errors import Finding, Source
from .._patterns import DEFAULT
from .type_check import waits_for_prioritize

if TYPE_CHECKING:
    from .._description import Description
    from ..backend_system import BackendSystem
    from .libraries import LoadedLibrary


class State(str, Enum):
    """Whether a backend takes part in calls, and the kind of reason why not."""

    ACTIVE = "active"
    WAITS = "waits for prioritize"  # the library goes first for all of its types
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
    return [*_usable(system, loaded), *_blocked(system, loaded), *_skipped(loaded)]


def current_backend(loaded: LoadedLibrary) -> str | None:
    """Return the current backend that the environment sets, or None."""
    return None if loaded.system is None else loaded.system.backend_opts().backend


def unusable_backends(loaded: LoadedLibrary) -> list[ListedBackend]:
    """Return the backends that explanations of calls leave out."""
    reachable = (State.ACTIVE, State.WAITS, State.NEEDS_OPT_IN, State.INACTIVE)
    return [each for each in list_backends(loaded) if each.state not in reachable]


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


def is_broken(loaded: LoadedLibrary, problem: Finding) -> bool:
    """Whether a problem makes a backend unusable; a cycle does not."""
    system = loaded.system
    if system is None or problem.backend not in system.backends:
        return True
    return problem.skips


def _is_inactive(loaded: LoadedLibrary, problem: Finding) -> bool:
    """Whether a problem is an unreadable requirement: such a backend is listed as inactive."""
    known = None if loaded.system is None else loaded.system.backends.get(str(problem.backend))
    return problem.key == REQUIRES and known is not None and known.unmet != ""


def _skipped(loaded: LoadedLibrary) -> Iterator[ListedBackend]:
    """Yield each entry point that was skipped, once."""
    seen = set()
    for problem in sorted(loaded.problems, key=lambda each: each.backend or ""):
        # Backends on a cycle are usable: only calls that match several of them skip them.
        is_usable = not problem.skips
        if problem.backend is None or is_usable or _is_inactive(loaded, problem):
            continue
        source = loaded.library.home(problem.source)
        key = (problem.backend, source.distribution, source.entry_point)
        if key not in seen:
            seen.add(key)
            reason = f"{problem.key}: {problem.message}" if problem.key else problem.message
            yield ListedBackend(problem.backend, State.BROKEN, reason, source)
