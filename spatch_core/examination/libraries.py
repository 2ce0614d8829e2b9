"""The registered libraries: their systems, their functions, and their backends, usable or not."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from .._description import Finding, Implementation, Severity, Source
from .._discovery import REQUIRES, name_of
from .._environment import (
    SET_ORDER,
    find_entry_points,
    installed_distributions,
    read_environment,
)
from .._errors import either, ended, in_words, nearest
from .._order import DECLARED
from .._patterns import (
    ABSTRACT,
    DEFAULT,
    EXACT,
    TypePattern,
    import_identifier,
    loaded_object,
    shown,
)
from .child import attempted, foreign_code, progress
from .importing import check_group, package_like, package_of, place_of

if TYPE_CHECKING:
    from .._description import Description
    from ..backend_system import BackendSystem

GROUP = "spatch_core.libraries"


@dataclass(frozen=True, slots=True)
class Library:
    """A registered library, not yet imported.

    Parameters
    ----------
    name : str
        The name of its entry point, or of its module if it has none.
    identifier : str
        The identifier of its `BackendSystem`.
    source : Source
        Its entry point and distribution.
    owner : str or None
        Another distribution that registers the same name, and whose library is used instead.
    """

    name: str
    identifier: str
    source: Source
    owner: str | None = None

    def home(self, source: Source | None) -> Source:
        """Return the source of a backend; for one in the library's code, that of the library."""
        return self.source if source is None or source.entry_point is None else source


@dataclass(frozen=True, slots=True)
class LoadedLibrary:
    """An imported library, or the fault that kept it from being imported."""

    library: Library
    # Backends have been discovered. The class may be that of a vendored copy of this package.
    system: BackendSystem | None
    problems: tuple[Finding, ...]  # of the system, or only the fault

    @property
    def usable(self) -> BackendSystem:
        """The system of a library without a fault."""
        assert self.system is not None
        return self.system

    @property
    def functions(self) -> Mapping[str, Any]:
        """The library's functions by identifier, also those that it imports lazily."""
        if self.system is None:
            return {}
        import_public_names(self.library)
        return self.system.functions

    @property
    def types(self) -> set[str]:
        """The identifiers of the types that its backends name."""
        descriptions = [] if self.system is None else self.system.backends.values()
        return {each.identifier for one in descriptions for each in one.known_types}

    def shown(self, backend: str) -> str:
        """Return the name of a backend as people see it."""
        return shown(backend, DEFAULT if self.system is None else self.system.default_name)

    @property
    def failure(self) -> str:
        """The fault as text; empty without one."""
        if self.system is not None:
            return ""
        (fault,) = self.problems
        return (
            f"library {self.library.name!r} cannot be used ({self.library.source}): "
            f"{ended(fault.message)} {fault.remedy}"
        )


# --- Finding them ---------------------------------------------------------------------------------


def find_libraries() -> list[Library]:
    """Return the registered libraries, sorted by name; imports none of them."""
    found: list[Library] = []
    for item in find_entry_points(GROUP)[0]:
        # Entry points may have extras in brackets, which mean nothing here.
        identifier = str(item.value).partition("[")[0].strip()
        source = Source(f"{item.name} = {item.value}", metadata=item.dist)
        found.append(Library(item.name, identifier, source))
    found.sort(key=lambda each: (each.name, each.source.distribution or "", each.identifier))
    used: dict[str, Library] = {}
    for each in found:
        used.setdefault(each.name, each)
    owners = {name: each.source.distribution or each.identifier for name, each in used.items()}
    return [e if used[e.name] is e else replace(e, owner=owners[e.name]) for e in found]


def find_library(name: str) -> Library:
    """Return the registered library of this name; raise a `LookupError` if there is none."""
    libraries = find_libraries()
    for each in libraries:
        if each.name == name:
            return each
    raise unknown_library(name, libraries)


def unknown_library(name: str, libraries: Iterable[Library]) -> LookupError:
    """Return the error about a library that is not registered."""
    names = dict.fromkeys(each.name for each in libraries)
    meant = nearest(name, names)
    hint = f"registered are: {', '.join(names) or 'none'}; a library"
    if meant:
        hint = f"did you mean {either(meant)}? If not, it"
    return LookupError(
        f"no library is named {name!r}; {hint} registers itself in its entry points: {name} = "
        f"'{name}:system' in [project.entry-points.\"{GROUP}\"] of pyproject.toml"
    )


def is_kind_of_system(cls: type) -> bool:
    """Whether it is `BackendSystem` or a subclass, of this package or of a vendored copy."""
    return any(each.__name__ == "BackendSystem" for each in type.mro(cls))


def every_class() -> Iterator[type]:
    """Yield all classes, without calling the ``__subclasses__`` of a metaclass."""
    seen: set[int] = set()
    waiting: list[type] = [object]
    while waiting:
        subclasses: list[type] = type.__subclasses__(waiting.pop())
        for each in subclasses:
            if id(each) not in seen:
                seen.add(id(each))
                waiting.append(each)
                yield each


def live_systems() -> list[Any]:
    """Return the `BackendSystem` of every imported library, wherever it keeps it."""
    classes = {id(each) for each in every_class() if is_kind_of_system(each)}
    return [each for each in gc.get_objects() if id(type(each)) in classes]


# --- Loading them ---------------------------------------------------------------------------------


def load_library(
    library: Library, imported: Callable[[BackendSystem], object] = lambda _: None
) -> LoadedLibrary:
    """Import a library's system and let it discover its backends.

    If anything fails, the result has a fault instead of a system. `imported` is called with the
    system before it discovers.
    """
    if library.owner is not None:
        message = f"distribution {library.owner} registers a library of the same name"
        remedy = "Uninstall one of the two, or rename its entry point"
        return _faulty(library, f"{message}, which is used instead", remedy)
    try:
        with foreign_code(), progress(f"loading {library.name}"):
            system: Any = import_identifier(library.identifier)
        if not is_kind_of_system(type(system)):
            return _faulty(
                library,
                f"{library.identifier!r} is not a BackendSystem but of type "
                f"{type(system).__qualname__!r}",
                "Name the library's BackendSystem in the entry point",
            )
        imported(system)
        with foreign_code(system), progress(f"loading {library.name}"):
            # Several faults of an entry point may have the same advice.
            problems = [*dict.fromkeys(map(_with_advice, system.problems)), *_alike(system)]
        variables = read_environment(system.environ_prefix, os.environ)
        problems += [each for each in variables.problems if each not in problems]
        return LoadedLibrary(library, system, tuple(problems))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a third party's import
        return _faulty(
            library,
            f"loading {library.identifier!r} failed with {in_words(error)}{place_of(error)}",
            "Repair or uninstall the distribution",
        )


def _with_advice(problem: Finding) -> Finding:
    """Return a problem of an entry point; if it misspells a package, with what to write."""
    source = problem.source
    if source is None or source.file or not source.entry_point or not problem.skips:
        return problem
    advice = package_like(source.entry_point.partition("=")[2])
    if advice is None:
        return problem
    message, remedy = advice
    return problem._replace(message=message, remedy=remedy, key=None)


def _alike(system: BackendSystem) -> Iterator[Finding]:
    """Yield an error for each entry point group that resembles that of the library."""
    known = [] if system.group is None else [system.group]
    found: list[tuple[str, Finding]] = []
    for distribution in installed_distributions():
        with suppress(Exception):  # its file of entry points may be damaged
            for name in {each.group for each in distribution.entry_points}:
                source = Source(metadata=distribution)
                found += [(name, e._replace(source=source)) for e in check_group(name, known)]
    others = {str(each.group) for each in live_systems()} if found else ()
    yield from (each for name, each in found if name not in others)


def _faulty(library: Library, message: str, remedy: str) -> LoadedLibrary:
    fault = Finding(message, remedy, source=library.source, severity=Severity.ERROR)
    return LoadedLibrary(library, None, (fault,))


def import_public_names(library: Library) -> None:
    """Import the modules that a library imports lazily, so that all its functions exist.

    Failures are ignored: the functions of such a module do not exist in this environment.
    """
    package: Any = sys.modules[package_of(library.identifier)]
    with progress(f"importing what {library.name} offers"):
        for name in getattr(package, "__all__", None) or dir(package):
            attempted(partial(getattr, package, name))


# --- Adopted functions: a library dispatches them, and another package defines them ---------------


def is_adopted(system: BackendSystem, identifier: str) -> bool:
    """Whether the library has adopted this function, such as one of NumPy's."""
    return any(each.find(identifier) is not None for each in system._dispatcher.adoptions)


def adopted_name(system: BackendSystem, function: object) -> str | None:
    """Return the identity of an adopted function, which may have several names."""
    if not callable(function) or isinstance(function, type):
        return None
    for adoption in system._dispatcher.adoptions:
        for identifier, known in adoption.functions.items():
            if known is function:
                return str(identifier)
        for namespace in adoption.namespaces:
            with suppress(TypeError):  # the function cannot be hashed
                found = namespace.find(function, adoption)
                # A namespace accepts any function; only those of its package have a name in it.
                identifier = None if found is None else found[1].identifier
                if identifier and namespace.find(identifier, adoption) is not None:
                    return str(identifier)
    return None


# --- The backends of a library, usable or not -----------------------------------------------------


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
    system, home = loaded.system, loaded.library.home
    if system is None:
        return []
    variable = f"{system.environ_prefix}_BLOCK"
    reason = f"by the environment variable {variable}; its description was not read"
    blocked = [
        ListedBackend(name, State.BLOCKED, reason, home(source))
        for name, source in sorted(system._catalog().blocked.items())
    ]
    skipped: dict[Any, ListedBackend] = {}  # an entry point may have several faults
    for problem in sorted(loaded.problems, key=lambda each: each.backend or ""):
        known = system.backends.get(str(problem.backend))
        # An unreadable requirement: such a backend is listed as inactive.
        is_listed = problem.key == REQUIRES and known is not None and known.unmet != ""
        if problem.backend is not None and problem.skips and not is_listed:
            source = home(problem.source)
            key = problem.backend, source.distribution, source.entry_point
            reason = f"{problem.key}: {problem.message}" if problem.key else problem.message
            broken = ListedBackend(problem.backend, State.BROKEN, reason, source)
            skipped.setdefault(key, broken)
    return [*_usable(system, loaded), *blocked, *skipped.values()]


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
        if name == DEFAULT:
            description = description._replace(functions=_own_implementations(system))
        state, reason = State.ACTIVE, ""
        if description.unmet:
            state, reason = State.INACTIVE, description.unmet
        elif name not in active:
            state = State.NEEDS_OPT_IN
        elif name not in prioritized and waits_for_prioritize(description, system):
            state = State.WAITS
        if state in (State.WAITS, State.NEEDS_OPT_IN):
            reason = (
                f"it runs with backend_opts(prioritize={name!r}), or with {variable}={name} in "
                "the environment"
            )
        yield ListedBackend(
            name,
            state,
            reason,
            loaded.library.home(description.source),
            len(description.functions) + len(functions_of_every(description, system)),
            name in prioritized,
            description,
        )


def _own_implementations(system: BackendSystem) -> dict[str, Implementation]:
    """Return the library's own implementations of its functions."""
    found = {}
    for identifier, function in system.functions.items():
        names = (getattr(function.__wrapped__, f"__{key}__", "?") for key in ("module", "qualname"))
        found[identifier] = Implementation(":".join(names))
    return found


def functions_of_every(description: Description, system: BackendSystem) -> list[str]:
    """Return the library's functions that a backend implements by ``functions."*"``."""
    if description.every is None:
        return []
    return [each for each in system.functions if each not in description.functions]


# --- Backends that the golden rule keeps from running ---------------------------------------------


def waits_for_prioritize(description: Description, system: BackendSystem) -> bool:
    """Whether a backend does not require opt-in, and yet runs only where it is prioritized.

    The library works with all its types itself, and goes before backends that are merely installed.
    """
    if description.name == DEFAULT or description.requires_opt_in:
        return False
    order = [*system._catalog().descriptions]
    goes_first = order.index(description.name) < order.index(DEFAULT)
    if goes_first and description.name in system._dispatcher.ensure_loaded().placed:
        return False
    return are_covered(description.known_types, own_types(system))


def own_types(system: BackendSystem) -> list[TypePattern]:
    """Return the library's own primary types; no backend is discovered."""
    return [*system._default_types]


def are_covered(types: Iterable[TypePattern], own: Collection[TypePattern]) -> bool:
    """Whether the library works with all these types itself, and goes first in calls with them."""
    return bool(own) and all(any(_covers(each, other) for each in own) for other in types)


def names_of_backends(system: BackendSystem) -> set[str]:
    """Return the names of all backends, usable or not; none is discovered."""
    entry_points = find_entry_points(system.group)[0] if system.group else []
    in_code = filter(None, map(name_of, system._in_code))
    return {DEFAULT, system.default_name, *(each.name for each in entry_points), *in_code}


def _covers(own: TypePattern, other: TypePattern) -> bool:
    """Whether `own` is known to match every class that `other` matches."""
    if own.identifier == other.identifier and own.prefix == other.prefix:
        return True
    if own.prefix == EXACT or (own.prefix != ABSTRACT and other.prefix not in (EXACT, own.prefix)):
        return False
    cls: Any = loaded_object(other.module, other.qualname)
    base: Any = loaded_object(own.module, own.qualname)
    with suppress(Exception):  # a third party's class
        return issubclass(cls, base) if own.prefix == ABSTRACT else base in type.mro(cls)
    return False


# --- The order ------------------------------------------------------------------------------------

BY_TYPES = "type specificity"
"""The origin of the weakest edges."""


class Edge(NamedTuple):
    """One backend goes before another."""

    before: str
    after: str
    origin: str
    reason: str
    declared_by: str | None = None


def edges_of(system: BackendSystem) -> Iterator[Edge]:
    """Yield every edge in force, the strongest first."""
    catalog = system._catalog()
    told = set()
    for before, after, origin, moves_down in catalog.order.explicit:
        told.add((before, after))
        if origin != DECLARED:
            variable = catalog.environment.variable(SET_ORDER)
            yield Edge(before, after, origin, f"{variable} says {before}>{after}")
        elif moves_down:
            reason = f"{after} declares lower_priority_than = {before}"
            yield Edge(before, after, origin, reason, after)
        else:
            reason = f"{before} declares higher_priority_than = {after}"
            yield Edge(before, after, origin, reason, before)
    for narrow, wide in catalog.order.specificity:
        for first, second in product(narrow.members, wide.members):
            if (first.name, second.name) not in told:
                types = ", ".join(map(str, first.primary_types))
                name, other = (shown(e.name, catalog.default_name) for e in (first, second))
                reason = (
                    f"the primary types of {name} ({types}) are more specific than the types that "
                    f"{other} supports"
                )
                yield Edge(first.name, second.name, BY_TYPES, reason)


def edges_as_json(loaded: LoadedLibrary) -> list[dict[str, Any]]:
    """Return every edge in force, the strongest first, as ``show --json`` prints them.

    ``void`` is the reason why an edge takes part in no call, or empty.
    """
    waiting = {each.name for each in list_backends(loaded) if each.state is State.WAITS}
    found = []
    for edge in edges_of(loaded.usable):
        waits = [name for name in (edge.before, edge.after) if name in waiting]
        void = f"{waits[0]} waits for prioritize, and goes first there" if waits else ""
        found.append({**edge._asdict(), "void": void or _why_void(edge, loaded.usable)})
    return found


def _why_void(edge: Edge, system: BackendSystem) -> str:
    """Say why an edge takes part in no call; empty if it may."""
    descriptions = system._catalog().descriptions
    one, other = descriptions[edge.before], descriptions[edge.after]
    for each in (one, other):
        if each.requires_opt_in:
            return f"{each.name} is inactive, or prioritized and goes first"
    placed = system._dispatcher.ensure_loaded().placed | {DEFAULT}
    if (one.name in placed) != (other.name in placed):
        return "the library's own go before backends that are merely installed"
    if one.every or other.every:
        return ""
    shares = not set(one.functions).isdisjoint(other.functions)
    if DEFAULT in (one.name, other.name):  # it has an implementation of every function
        shares = bool(one.functions or other.functions)
    return "" if shares else "they implement no function in common"
