"""Examines a library's backends, each in a child process, and gathers the findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._description import Finding, Severity, Source
from .._environment import (
    BACKEND,
    BLOCK,
    PRIORITIZE,
    Environment,
    near_misses,
    read_environment,
)
from .._errors import nearest
from .._order import CYCLE
from .._patterns import (
    DEFAULT,
    is_backend_name,
    is_derived,
    loaded_object,
    split_identifier,
)
from .._wrapper import function_of
from ..backend_system import BackendSystem
from .checks import DescriptionCheck, check_calls
from .child import TaskResult, run
from .findings import (
    Report,
    merged,
    note,
    source_as_json,
    source_from_json,
    warning,
)
from .importing import (
    Importer,
    check_environment,
    fields_of,
    find_mentions,
    package_of,
)
from .libraries import (
    Library,
    LoadedLibrary,
    State,
    find_libraries,
    find_library,
    import_public_names,
    list_backends,
    load_library,
    waits_for_prioritize,
)

if TYPE_CHECKING:
    from .child import Journal

_SHOWN = 3
"""The number of functions that a note names."""
_IN_USE = "Every user of the library meets the same; repair or uninstall the distribution"


@dataclass(frozen=True, slots=True)
class LibraryReport(Report):
    """The result of examining a library.

    The findings are sorted: errors first, then by backend and place in its description.

    Parameters
    ----------
    subject : str
        The name of the library.
    findings : tuple of Finding
        All findings. Errors and warnings are faults, notes are not.
    library : Library
        The library.
    backends : tuple of dict
        Each with ``name``, ``state``, ``entry_point``, ``file``, ``distribution``, ``version``.
    default_name : str, optional
        The name that people see instead of ``"default"``, the library itself.
    """

    library: Library
    backends: tuple[dict[str, Any], ...] = ()
    default_name: str = DEFAULT


def examine_library(library: str | Library, *, timeout: float = 60.0) -> LibraryReport:
    """Examine all backends of a library that are not blocked.

    Child processes import everything that the backends name; this process imports nothing.

    Parameters
    ----------
    library : str or Library
        The name under which the library is registered. One that is not registered is given as a
        `Library` with the identifier of its system.
    timeout : float, optional
        Time limit of each child process in seconds.

    Raises
    ------
    LookupError
        If the library cannot be found.

    Examples
    --------
    >>> examine_library("no such library")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    LookupError: no library is named 'no such library'...
    """
    if not isinstance(library, Library):
        library = find_library(library)
    if library.owner is not None:  # the other library of this name is used
        (fault,) = load_library(library).problems  # which imports nothing
        return LibraryReport(library.name, (fault._replace(severity=Severity.WARNING),), library)

    def child(task: str, backend: str | None = None, **variables: str) -> TaskResult:
        request = {"name": library.name, "identifier": library.identifier, "backend": backend}
        about = f"examining {library.name} {backend or ''}".rstrip()
        return run(f"{__name__}:{task}", request, about, variables=variables, limit=timeout)

    def only(unblocked: list[str]) -> dict[str, str]:
        return {variable: ",".join(["*", *(f"!{each}" for each in unblocked)])}

    home = source_as_json(library.source)
    result = child("find_backends")
    found = [*_reported(result, None, home)]
    prefix, backends = result.last("prefix"), result.last("backends")
    if backends is None:
        return LibraryReport(library.name, _sorted(found), library)
    own_name = result.last("default_name", DEFAULT)
    environment = read_environment(prefix, os.environ)
    variable = environment.variable(BLOCK)
    # The backends whose descriptions end the process: blocked when all are discovered together.
    broken: dict[str, dict[str, Any]] = {}
    waiting = set()
    unblocked = [each for each in backends if not environment.blocks(each)]
    for name in unblocked:
        result = child("examine", name, **(only([name]) if is_backend_name(name) else {}))
        found += _reported(result, name, result.last("place", backends[name]))
        if not (result.is_complete or result.endings[-1].module):
            broken[name] = {"name": name, "state": State.BROKEN.value, **backends[name]}
        if result.last("waits"):
            waiting.add(name)
    unbroken = [each for each in unblocked if each not in broken and is_backend_name(each)]
    result = child("examine", **(only(unbroken) if broken else {}))
    found += _reported(result, result.last("place") and DEFAULT, home)
    listed: list[dict[str, Any]] = result.last("states", [])
    states = [broken.get(each["name"], each) for each in listed]
    for each in states:
        if each["state"] == State.ACTIVE.value and each["name"] in waiting:
            each["state"] = State.WAITS.value
    # The values that the user has set: children got another value of BLOCK.
    found += environment.problems
    found += check_variables([DEFAULT, *backends], environment.names)
    found += _check_chosen(environment, states)
    return LibraryReport(library.name, _sorted(found), library, tuple(states), own_name)


def _reported(result: TaskResult, backend: str | None, place: dict[str, Any]) -> Iterator[Finding]:
    """Yield the findings of a task, and those about children that ended early."""
    remedy = _IN_USE if backend is None else "Repair the module, or block the backend"
    for each in result.failures(remedy):
        yield each._replace(backend=backend, source=source_from_json(place))
    yield from result.findings


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Merge and sort findings.

    Errors come first; equally severe findings are sorted by backend, and then as they were found:
    the faults of fields, and then what the description names, in its order.
    """
    severities = list(Severity)
    found = merged(findings)
    found.sort(key=lambda each: (severities.index(each.severity), each.backend or ""))
    return tuple(found)


def check_variables(backends: list[str], mentioned: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """Yield a warning for each unknown backend in an environment variable.

    Misspelled names are left out, because discovery reports them.
    """
    for name, variable in mentioned:
        if name not in backends and not [*near_misses([(name, variable)], backends)]:
            message = f"no backend is named {name!r}; the name is ignored"
            remedy = f"Remove it; installed are: {', '.join(backends)}"
            yield warning(message, remedy)._replace(key=variable)


def _check_chosen(environment: Environment, states: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    """Yield a warning for each backend that a variable chooses, and that cannot be used."""
    # Of several with one name, the usable one goes first.
    state_of = {each["name"]: each["state"] for each in reversed([*states])}
    for name, variable in environment.names:
        is_choice = variable in map(environment.variable, (PRIORITIZE, BACKEND))
        state = state_of.get(name, "")
        if is_choice and state in (State.BROKEN, State.BLOCKED, State.INACTIVE):
            message = f"the backend {name!r} is {state}, so the name is ignored"
            remedy = "Remove the name, or make the backend usable: `spatch-core list` says why"
            yield warning(message, remedy)._replace(key=variable)


# --- The tasks of child processes -----------------------------------------------------------------

# The request of each task has the ``name`` and the ``identifier`` of the library.


def find_backends(request: dict[str, Any], journal: Journal) -> None:
    """Add ``prefix``, ``default_name`` and the sources of the ``backends``, of which none is read.

    If the library cannot be used, add a ``finding`` instead.
    """

    def block_all(system: BackendSystem) -> None:
        os.environ[f"{system.environ_prefix}_BLOCK"] = "*"

    library = _requested(request, journal)
    loaded = load_library(library, block_all)
    if loaded.system is None:
        journal.found(loaded.problems)
        return
    blocked = loaded.system._catalog().blocked
    journal.add("prefix", loaded.system.environ_prefix)
    journal.add("default_name", loaded.shown(DEFAULT))
    places = {name: source_as_json(library.home(blocked[name])) for name in sorted(blocked)}
    journal.add("backends", places)


def examine(request: dict[str, Any], journal: Journal) -> None:
    """Add the ``place`` of a ``backend``, the ``states`` and each ``finding``.

    All other backends are blocked. Without a backend, the library itself is examined, and the
    findings are those of the discovery of all backends.
    """
    library = _requested(request, journal)
    backend = request["backend"]
    which = "descriptions of all backends" if backend is None else f"description of {backend!r}"
    loaded = load_library(library, lambda _: journal.begins(f"reading the {which}"))
    _discovered(loaded, journal, backend)
    if loaded.system is not None and (backend or DEFAULT) in loaded.system.backends:
        _examine_backend(loaded, loaded.system, backend or DEFAULT, journal)


def _requested(request: dict[str, Any], journal: Journal) -> Library:
    """Return the library of a request, and begin to import it."""
    name, identifier = request["name"], request["identifier"]
    registered = (e for e in find_libraries() if (e.name, e.identifier) == (name, identifier))
    journal.begins(f"importing the library {name}")
    return next(registered, Library(name, identifier, Source()))


def _discovered(loaded: LoadedLibrary, journal: Journal, backend: str | None) -> None:
    """Add the findings of discovery, all or those about one backend, and the states."""
    problems = without_repeated_cycles(loaded.problems)
    journal.found(each for each in problems if backend in (None, each.backend))
    states = [
        {"name": each.name, "state": each.state.value, **source_as_json(each.source)}
        for each in list_backends(loaded)
    ]
    journal.add("states", states)


def without_repeated_cycles(problems: Iterable[Finding]) -> Iterator[Finding]:
    """Yield problems; a cycle, which is a problem of each backend on it, only once."""
    seen = set()
    for each in problems:
        if not each.message.startswith(CYCLE):
            yield each
        elif each.message not in seen:
            seen.add(each.message)
            yield each


def _examine_backend(
    loaded: LoadedLibrary, system: BackendSystem, name: str, journal: Journal
) -> None:
    import_public_names(loaded.library)
    description = system.backends[name]
    home = loaded.library.home(description.source)
    journal.add("place", source_as_json(home))
    library = split_identifier(loaded.library.identifier)[0]
    own = {package_of(library)}
    if description.source.entry_point:
        own.add(package_of(description.source.entry_point.partition("=")[2].strip()))
    mentions = find_mentions(fields_of(description))
    is_generated = description.auto_generation is not None
    check = DescriptionCheck(
        mentions, Importer(own), journal, system=system, is_generated=is_generated
    )

    def found(findings: Iterable[Finding]) -> None:
        journal.found(each._replace(backend=name, source=home) for each in findings)

    found(check.findings())
    # After the imports: only then is known which classes are subclasses of the library's.
    waits = waits_for_prioritize(description, system)
    journal.add("waits", waits)
    is_own = name == DEFAULT
    if is_own:
        found([*check_identities(system), *check_followed(system)])
    else:
        found(check_calls(description, system, waits))
    found(check_environment(description, system.problems))


def check_identities(system: BackendSystem) -> Iterator[Finding]:
    """Yield a note about functions that a public module offers under the name of a private one."""
    found: dict[tuple[str, str], list[str]] = {}
    for identifier, function in system.functions.items():
        # Not split by the form of identifiers: the library may give odd names.
        module, _, qualname = identifier.partition(":")
        public = module
        while "._" in f".{public}":
            public = public.rpartition(".")[0]
        if public != module and loaded_object(public, qualname) is function:
            found.setdefault((module, public), []).append(identifier)
    for (module, public), names in found.items():
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        yield note(
            f"backends must name the private module {module!r} for functions that users import "
            f"from {public!r}: {', '.join(names[:_SHOWN])}{more}",
            f"Write @system.dispatchable(..., module={public!r}) before backends name them",
        )


def check_followed(system: BackendSystem) -> Iterator[Finding]:
    """Yield a warning about methods that follow one for which no method of their class decides."""
    memories = {
        identifier: memory
        for identifier, wrapper in system.functions.items()
        if (memory := function_of(wrapper).memory) is not None
    }
    deciding = [(each.method, _class_of(name)) for name, each in memories.items() if each.decides]
    for identifier, memory in memories.items():
        if not memory.follows:
            continue
        cls = _class_of(identifier)
        decided = [method for method, other in deciding if _may_meet(cls, other)]
        if memory.method not in decided:
            near = nearest(memory.method, decided)
            yield warning(
                f"{identifier} follows {memory.method!r}, and no method of its class decides for "
                "it: no backend is remembered, and types decide each call",
                f"Write follows={near[0]!r}" if near else "Write decides=True on that method",
            )


def _class_of(identifier: str) -> object:
    """Return the class of a method; None if its identity does not name it."""
    module, _, qualname = identifier.partition(":")
    return loaded_object(module, qualname.rpartition(".")[0])


def _may_meet(one: object, other: object) -> bool:
    """Whether an instance may have methods of both classes."""
    if not (isinstance(one, type) and isinstance(other, type)):
        return True  # unknown
    subclasses: list[type] = type.__subclasses__(one)
    return is_derived(one, other) or any(_may_meet(each, other) for each in subclasses)
