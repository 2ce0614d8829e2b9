"""Examines a library's backends, each in a child process, and gathers the findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from .._discovery import CYCLE
from .._environment import (
    BACKEND,
    BLOCK,
    Environment,
    installed_distributions,
    leftovers,
    near_misses,
    read_environment,
)
from .._errors import Finding, Severity, Source, replace
from .._patterns import DEFAULT, import_identifier, is_backend_name, split_identifier
from ..backend_system import BackendSystem
from .backends import State, list_backends, waits_for_prioritize
from .checks import DescriptionCheck
from .child import TaskResult, foreign_code, run
from .description import check_requirements, check_variants, fields_of, find_mentions
from .findings import (
    Report,
    ending_as_finding,
    from_record,
    incomplete,
    note,
    source_as_json,
    source_from_json,
    to_record,
    warning,
)
from .importing import Importer, Requirements, package_of
from .libraries import (
    Library,
    LoadedLibrary,
    find_libraries,
    find_library,
    import_public_names,
    is_system,
    live_systems,
    load_library,
)
from .project import check_group, entry_point_advice

if TYPE_CHECKING:
    from .._description import Description
    from .child import Journal

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


def examine_library(
    library: str | BackendSystem | Library, *, timeout: float = 60.0
) -> LibraryReport:
    """Examine all backends of a library that are not blocked.

    Child processes import everything that the backends name; this process imports nothing.

    Parameters
    ----------
    library : str, BackendSystem or Library
        The name under which the library is registered, or its system, which must be an
        attribute of an importable module, not of ``__main__`` alone.
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
        fault = load_library(library).fault  # which imports nothing
        assert fault is not None
        return LibraryReport(library.name, (replace(fault, severity=Severity.WARNING),), library)

    def child(task: str, block: str | None = None, backend: str | None = None) -> TaskResult:
        request = {"name": library.name, "identifier": library.identifier, "backend": backend}
        return run(
            f"{__name__}:{task}",
            request,
            f"examining {library.name} {backend or ''}".rstrip(),
            variables={} if block is None else {variable: block},
            limit=timeout,
        )

    home = source_as_json(library.source)
    result = child("find_backends")
    found = [*_reported(result, None, home)]
    prefix, backends = result.last("prefix"), result.last("backends")
    if backends is None:
        return LibraryReport(library.name, tuple(merged(found)), library)
    own_name = result.last("default_name", DEFAULT)
    environment = read_environment(prefix, os.environ)
    variable = environment.variable(BLOCK)
    # The backends whose descriptions end the process: blocked when all are discovered together.
    broken: dict[str, dict[str, Any]] = {}
    for name in backends:
        if environment.blocks(name):
            continue
        known = [each for each in backends if each != name and is_backend_name(each)]
        result = child("examine", value_blocking(environment, known), name)
        found += _reported(result, name, result.last("place", backends[name]))
        if not (result.is_complete or result.endings[-1].module):
            broken[name] = {"name": name, "state": State.BROKEN.value, **backends[name]}
    result = child("discover", value_blocking(environment, broken) if broken else None)
    found += _reported(result, result.last("place") and DEFAULT, home)
    listed: list[dict[str, Any]] = result.last("states", [])
    states = [broken.get(each["name"], each) for each in listed]
    # The values that the user has set: children got another value of BLOCK.
    found += environment.problems
    found += check_variables([DEFAULT, *backends], environment.names, own_name)
    return LibraryReport(library.name, tuple(merged(found)), library, tuple(states), own_name)


def value_blocking(environment: Environment, names: Iterable[str]) -> str:
    """Return the value of ``BLOCK`` that blocks these backends, too.

    >>> from spatch_core._environment import read_environment
    >>> value_blocking(read_environment("LIB", {"LIB_BLOCK": "*,!a,!b"}), ["b"])
    '*,!a'
    """
    names = {*names}
    if not environment.block_all:
        return ",".join(sorted({*environment.block, *names}))
    allowed = sorted(environment.allowed - names)
    return ",".join(["*", *sorted(environment.block), *(f"!{each}" for each in allowed)])


def _reported(result: TaskResult, backend: str | None, place: dict[str, Any]) -> Iterator[Finding]:
    """Yield the findings of a task, and one for each child that ended early."""
    about = {"backend": backend, "source": source_from_json(place)}
    remedy = _IN_USE if backend is None else "Repair the module, or block the backend"
    for each in result.endings:
        yield replace(ending_as_finding(each, remedy), **about)
    yield from map(from_record, result.values.get("finding", ()))
    if result.endings and result.endings[-1].module and not result.is_complete:
        yield replace(incomplete(), **about)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings that differ only in their keys, and sort them.

    Errors come first; equally severe findings are sorted by backend, and then as they were found:
    the faults of fields, and then what the description names, in its order.
    """
    keys: dict[Any, dict[str, None]] = {}
    first: dict[Any, Finding] = {}
    for each in findings:
        # Sources compare equal without their distributions, which count here.
        place = tuple(source_as_json(each.source).values())
        same = (replace(each, key=None, more_keys=()), place)
        first.setdefault(same, each)
        keys.setdefault(same, {}).update(dict.fromkeys(each.keys))
    severities = list(Severity)
    found = []
    for same, each in first.items():
        key, *more = keys[same] or (None,)
        found.append(replace(each, key=key, more_keys=tuple(more)))
    return sorted(found, key=lambda each: (severities.index(each.severity), each.backend or ""))


def check_variables(
    backends: list[str],
    mentioned: Iterable[tuple[str, str]],
    own_name: str = DEFAULT,
) -> Iterator[Finding]:
    """Yield a warning for each unknown backend in an environment variable.

    Misspelled names are left out, because discovery reports them. The name that people see instead
    of ``"default"``, `own_name`, is valid only in the variable of the current backend.
    """
    for name, variable in mentioned:
        if name == own_name != DEFAULT:
            if not variable.endswith(f"_{BACKEND}"):
                message = f"variables call the library itself {DEFAULT!r}; {name!r} is ignored"
                yield replace(warning(message, f"Write {DEFAULT!r}"), key=variable)
        elif name not in backends and not [*near_misses([(name, variable)], backends)]:
            message = f"no backend is named {name!r}; the name is ignored"
            remedy = f"Remove it; installed are: {', '.join(backends)}"
            yield replace(warning(message, remedy), key=variable)


# --- The tasks of child processes -----------------------------------------------------------------

# The request of each task has the ``name`` and the ``identifier`` of the library.


def find_backends(request: dict[str, Any], journal: Journal) -> None:
    """Add ``prefix``, ``default_name`` and the sources of the ``backends``, of which none is read.

    If the library cannot be used, add a ``finding`` instead.
    """
    library, system = _import(request, journal)
    if is_system(system):  # otherwise `load_library` reports it
        os.environ[f"{system.environ_prefix}_BLOCK"] = "*"
    loaded = load_library(library, tries=False)
    if loaded.system is None:
        assert loaded.fault is not None  # a library has a system or a fault
        journal.add("finding", to_record(loaded.fault))
        return
    blocked = loaded.system._catalog().blocked
    journal.add("prefix", loaded.system.environ_prefix)
    journal.add("default_name", loaded.shown(DEFAULT))
    places = {name: source_as_json(library.home(blocked[name])) for name in sorted(blocked)}
    journal.add("backends", places)


def examine(request: dict[str, Any], journal: Journal) -> None:
    """Add the ``place`` of one ``backend``, the ``states`` and each ``finding``.

    All other backends are blocked.
    """
    library, system = _import(request, journal)
    journal.begins(f"reading the description of {request['backend']!r}")
    loaded = _load(library, system)
    _discovered(loaded, journal, request["backend"])
    if loaded.system is not None and request["backend"] in loaded.system.backends:
        _examine_backend(loaded, loaded.system, request["backend"], journal)


def discover(request: dict[str, Any], journal: Journal) -> None:
    """Add each ``finding`` of discovery and of the library itself, and the ``states``."""
    library, system = _import(request, journal)
    journal.begins("reading the descriptions of all backends")
    loaded = _load(library, system)
    _discovered(loaded, journal)
    if loaded.system is not None:
        for finding in chain(_leftovers(loaded.system.group), _alike(loaded.system.group)):
            journal.add("finding", to_record(finding))
        _examine_backend(loaded, loaded.system, DEFAULT, journal)


def _import(request: dict[str, Any], journal: Journal) -> tuple[Library, Any]:
    """Import the system in a step of its own, before backends are discovered."""
    name, identifier = request["name"], request["identifier"]
    registered = (e for e in find_libraries() if (e.name, e.identifier) == (name, identifier))
    library = next(registered, Library(name, identifier, Source()))
    journal.begins(f"importing the library {name}")
    system = None
    with foreign_code(), suppress(BaseException):  # `load_library` reports failures
        system = import_identifier(identifier)
    return library, system


def _load(library: Library, system: object) -> LoadedLibrary:
    """Discover the backends; end the process if that fails, because an import has broken it."""
    loaded = load_library(library, tries=False)
    if loaded.fault is not None and is_system(system):
        raise SystemExit(loaded.fault.message)
    return loaded


def _discovered(loaded: LoadedLibrary, journal: Journal, backend: str | None = None) -> None:
    """Add the findings of discovery, all or those about one backend, and the states."""
    for problem in without_repeated_cycles(loaded.problems):
        if backend in (None, problem.backend):
            # Minor: another backend of the name is used, or a variable is wrong.
            is_variable = problem.backend is None and problem.key is not None
            is_usable = problem.backend in (loaded.system.backends if loaded.system else ())
            is_minor = is_variable or (is_usable and not problem.skips)
            severity = Severity.WARNING if is_minor else Severity.ERROR
            found = replace(_with_advice(problem), severity=severity)
            journal.add("finding", to_record(found))
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


def _with_advice(problem: Finding) -> Finding:
    """Return a problem of an entry point with what the entry point names, and what to write."""
    source = problem.source
    if source is None or source.file or not source.entry_point or not problem.skips:
        return problem
    advice = entry_point_advice(source.entry_point.partition("=")[2])
    if advice is None:
        return problem
    message, remedy = advice
    return replace(problem, message=message, remedy=remedy, key=None)


def _alike(group: str | None) -> Iterator[Finding]:
    """Yield an error for each entry point group that resembles that of the library."""
    others = {str(each.group) for each in live_systems()}
    for distribution in installed_distributions():
        with suppress(Exception):  # its file of entry points may be damaged
            for name in {each.group for each in distribution.entry_points} - others:
                for each in check_group(name, [] if group is None else [group]):
                    yield replace(each, source=Source(metadata=distribution))


def _leftovers(group: str | None) -> Iterator[Finding]:
    """Yield a finding for each distribution that an uninstallation has left behind.

    It is a warning if the distribution offered a backend in the library's group, else a note.
    """
    for each in leftovers():
        offered: list[str] = []
        with suppress(Exception):  # its file of entry points may be damaged, too
            offered = [entry.name for entry in each.entry_points if entry.group == group]
        offers = f"; it offered {', '.join(map(repr, offered))}" if offered else ""
        finding = (warning if offered else note)(
            f"this folder does not count: it is left over from an uninstallation{offers}",
            "Remove the folder; if the distribution should be installed, install it again",
        )
        yield replace(finding, source=Source(file=str(each._path)))


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
    importer = Importer(own, _requirements(home))
    mentions = find_mentions(fields_of(description))
    check = DescriptionCheck(mentions, importer, journal, system=system)
    # A requirement that cannot be read is among the problems of discovery.
    requires = chain(check_requirements(description.requires), check_variants(description))
    unmet = (each for each in requires if each.severity is Severity.NOTE)
    place = check_place(system, description, loaded.shown(DEFAULT))
    for finding in chain(check.findings(), place, unmet):
        journal.add("finding", to_record(replace(finding, backend=name, source=home)))


def _requirements(source: Source) -> Requirements:
    try:
        return Requirements(source.distribution or "", source.metadata.requires or ())
    except Exception:  # noqa: BLE001  # a third party's metadata, or none
        return Requirements()


def check_place(
    system: BackendSystem, description: Description, own_name: str
) -> Iterator[Finding]:
    """Yield findings about the calls that a backend takes, and about its place in the order.

    The name that people see instead of ``"default"``, `own_name`, is wrong in a description.
    """
    default = system.backends[DEFAULT]
    if description.name == DEFAULT:
        return
    if waits_for_prioritize(description, system):
        found = note(
            "it waits for prioritize: the library works with all of its types itself and goes "
            "first, so it never runs unasked",
            "Say so with requires_opt_in = true",
        )
        yield replace(found, key="requires_opt_in")
    own = [each.module for each in default.known_types]
    if own and "builtins" not in own:
        for position, each in enumerate(description.primary_types):
            if each.module == "builtins" and not description.in_code:
                called = f"f({each.qualname})"
                found = note(
                    f"the library lists none of Python's own classes: the backend takes calls "
                    f"like {called}, and none that has an object of the library beside it",
                    f"Remove {str(each)!r}, unless calls like {called} are meant",
                )
                yield replace(found, key=f"primary_types[{position}]")
    if own_name == DEFAULT:
        return
    for key in ("higher_priority_than", "lower_priority_than"):
        for position, name in enumerate(getattr(description, key)):
            if name == own_name:
                message = f"descriptions call the library itself {DEFAULT!r}, not {name!r}"
                finding = warning(message, f"Write {DEFAULT!r}")
                yield replace(finding, key=f"{key}[{position}]")
