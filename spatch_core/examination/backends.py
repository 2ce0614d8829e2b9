"""Lists the backends of a library, usable or not, each with its state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from .._discovery.catalog import CYCLE, REQUIRES
from .._discovery.distribution_names import of_distribution
from .._discovery.environment import PRIORITIZE
from .._identifiers import DEFAULT
from .._reporting.problems import Problem, Source

if TYPE_CHECKING:
    from .._description.description import Description
    from ..backend_system import BackendSystem
    from .libraries import LoadedLibrary


class State(str, Enum):
    """Whether a backend takes part in calls, and if not, why."""

    ACTIVE = "active"
    NEEDS_OPT_IN = "needs opt-in"
    INACTIVE = "inactive"
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
    meaning: str = ""  # which one of several distributions the name means; empty without others


def list_backends(loaded: LoadedLibrary) -> list[ListedBackend]:
    """Return the backends of a library: by priority, then those that are not usable."""
    system = loaded.system
    if system is None:
        return []
    return [*_usable(system, loaded), *_blocked(system, loaded), *_skipped(loaded)]


def current_backend(loaded: LoadedLibrary) -> str | None:
    """Return the backend that the environment makes the current one, or None."""
    system = loaded.system
    # A vendored copy of this package may be an earlier one, which knows none.
    return None if system is None else getattr(system.backend_opts(), "backend", None)


def unusable_backends(loaded: LoadedLibrary) -> list[ListedBackend]:
    """Return the backends of a library that no explanation of a call names."""
    reachable = (State.ACTIVE, State.NEEDS_OPT_IN, State.INACTIVE)
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
        # A vendored copy of this package may be an earlier one, which knows no requirements.
        unmet = getattr(description, "unmet", "")
        if unmet:
            state, reason = State.INACTIVE, unmet
        elif name not in active:
            state = State.NEEDS_OPT_IN
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
            _meaning(system, name),
        )


def functions_of_every(description: Description, system: BackendSystem) -> list[str]:
    """Return the library's functions that a backend implements by ``functions."*"``."""
    # A vendored copy of this package may be an earlier one, without it.
    if getattr(description, "every", None) is None:
        return []
    return [each for each in system.functions if each not in description.functions]


def _meaning(system: BackendSystem, name: str) -> str:
    """Say which backend of several distributions a name means, and how another is chosen."""
    catalog = system._catalog()
    # A vendored copy of this package may be an earlier one.
    found = getattr(catalog, "shadowed", {}).get(name, ())
    # One whose requirements are not met cannot be chosen.
    unmet = [each.source for each in catalog.problems if each.key == REQUIRES]
    others = [each for each in found if all(each is not source for source in unmet)]
    named = [of_distribution(name, each.distribution) for each in others if each.distribution]
    owner = catalog.descriptions[name].source.distribution
    if not named or owner is None:
        return ""
    variable = catalog.environment.variable(PRIORITIZE)
    return f"{name} means that of {owner}; {variable}={named[0]} chooses another"


def _blocked(system: BackendSystem, loaded: LoadedLibrary) -> Iterator[ListedBackend]:
    variable = f"{system.environ_prefix}_BLOCK"
    reason = f"the environment variable {variable} says so; nothing of it was read"
    for name, source in sorted(system._catalog().blocked.items()):
        yield ListedBackend(name, State.BLOCKED, reason, loaded.library.home(source))


def skips(problem: Problem) -> bool:
    """Whether a backend is skipped for a problem; an unknown key is only ignored."""
    # A vendored copy of this package may be an earlier one, where every problem is a fault.
    return getattr(problem, "skips", True)


def is_broken(loaded: LoadedLibrary, problem: Problem) -> bool:
    """Whether a problem is a fault: neither a cycle nor that another one of the name is used."""
    system = loaded.system
    if system is None or problem.backend not in system.backends:
        return True
    if problem.message.startswith(CYCLE) or not skips(problem):
        return False
    # A vendored copy of this package may be an earlier one, which reads only the first.
    is_shadowed = getattr(system._catalog(), "is_shadowed", None)
    return is_shadowed is not None and not is_shadowed(problem)


def _is_inactive(loaded: LoadedLibrary, problem: Problem) -> bool:
    """Whether a problem is a requirement that cannot be read: the backend is listed anyway."""
    known = None if loaded.system is None else loaded.system.backends.get(str(problem.backend))
    return problem.key == "requires" and getattr(known, "unmet", "") != ""


def _skipped(loaded: LoadedLibrary) -> Iterator[ListedBackend]:
    """Yield each entry point with problems, once."""
    seen = set()
    for problem in sorted(loaded.problems, key=lambda each: each.backend or ""):
        # Backends on a cycle are usable: only calls that several of them match skip them.
        is_usable = problem.message.startswith(CYCLE) or not skips(problem)
        if problem.backend is None or is_usable or _is_inactive(loaded, problem):
            continue
        source = loaded.library.home(problem.source)
        key = (problem.backend, source.distribution, source.entry_point)
        if key not in seen:
            seen.add(key)
            state = State.BROKEN if is_broken(loaded, problem) else State.SHADOWED
            reason = f"{problem.key}: {problem.message}" if problem.key else problem.message
            yield ListedBackend(problem.backend, state, reason, source)
