"""The tasks of child processes for `doctor`: each backend is examined in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from .._environment import leftovers
from .._errors import Finding, Severity, Source, replace
from .._patterns import DEFAULT, import_identifier, split_identifier
from .backends import is_broken, list_backends
from .description_check import DescriptionCheck
from .findings import note, source_as_json, to_record, warning
from .foreign_code import foreign_code
from .importing import Importer
from .libraries import (
    Library,
    LoadedLibrary,
    find_libraries,
    import_public_names,
    is_system,
    load_library,
)
from .mentions import fields_of, find_mentions
from .packages import Requirements, package_of, packages_of_sources
from .requirement_check import check_requirements, check_variants, chosen_variants
from .type_check import check_reach

if TYPE_CHECKING:
    from .._description import Description
    from ..backend_system import BackendSystem
    from .child import Journal

# The request of each task has the ``name`` and the ``identifier`` of the library.


def find_backends(request: dict[str, Any], journal: Journal) -> None:
    """Add ``prefix``, ``default_name`` and the sources of the ``backends``, of which none is read.

    If the library cannot be used, add a ``finding`` instead.
    """
    library = _library(request, journal)
    system = _import(library)
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
    library = _library(request, journal)
    system = _import(library)
    journal.begins(f"reading the description of {request['backend']!r}")
    loaded = _load(library, system)
    _discovered(loaded, journal, request["backend"])
    if loaded.system is not None and request["backend"] in loaded.system.backends:
        _examine(loaded, loaded.system, request["backend"], journal)


def discover(request: dict[str, Any], journal: Journal) -> None:
    """Add each ``finding`` of discovery and of the library itself, and the ``states``."""
    library = _library(request, journal)
    system = _import(library)
    journal.begins("reading the descriptions of all backends")
    loaded = _load(library, system)
    _discovered(loaded, journal)
    if loaded.system is not None:
        for finding in _check_leftovers(loaded.system.group):
            journal.add("finding", to_record(finding))
        _examine(loaded, loaded.system, DEFAULT, journal)


def _check_leftovers(group: str | None) -> Iterator[Finding]:
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


def _discovered(loaded: LoadedLibrary, journal: Journal, backend: str | None = None) -> None:
    """Add the findings of discovery, all or those about one backend, and the states."""
    for problem in loaded.problems:
        if backend in (None, problem.backend):
            # Minor: another backend of the name is used, or a variable is wrong.
            is_variable = problem.backend is None and problem.key is not None
            is_minor = is_variable or not is_broken(loaded, problem)
            severity = Severity.WARNING if is_minor else Severity.ERROR
            journal.add("finding", to_record(replace(problem, severity=severity)))
    states = [
        {"name": each.name, "state": each.state.value, **source_as_json(each.source)}
        for each in list_backends(loaded)
    ]
    journal.add("states", states)


def _library(request: dict[str, Any], journal: Journal) -> Library:
    name, identifier = request["name"], request["identifier"]
    registered = (e for e in find_libraries() if (e.name, e.identifier) == (name, identifier))
    journal.begins(f"importing the library {name}")
    return next(registered, Library(name, identifier, Source()))


def _import(library: Library) -> Any:
    """Import the system in a step of its own, before backends are discovered."""
    with foreign_code(), suppress(BaseException):  # `load_library` reports failures
        return import_identifier(library.identifier)


def _load(library: Library, system: object) -> LoadedLibrary:
    """Discover the backends; end the process if that fails, because an import has broken it."""
    loaded = load_library(library, tries=False)
    if loaded.fault is not None and is_system(system):
        raise SystemExit(loaded.fault.message)
    return loaded


def _examine(loaded: LoadedLibrary, system: BackendSystem, name: str, journal: Journal) -> None:
    import_public_names(loaded.library)
    description = system.backends[name]
    home = loaded.library.home(description.source)
    journal.add("place", source_as_json(home))
    library = split_identifier(loaded.library.identifier)[0]
    blocked = system._catalog().blocked.values()
    own = {package_of(library), *packages_of_sources([description.source])}
    check = DescriptionCheck(
        find_mentions(fields_of(description)),
        Importer(own, _requirements(home), packages_of_sources(blocked)),
        journal,
        library=library,
        system=system,
    )
    # A requirement that cannot be read is among the problems of discovery.
    requires = chain(check_requirements(description.requires), check_variants(description))
    unmet = (each for each in requires if each.severity is Severity.NOTE)
    order = _check_order(system, description, loaded.shown(DEFAULT))
    for finding in chain(check.findings(), order, unmet, chosen_variants(description)):
        journal.add("finding", to_record(replace(finding, backend=name, source=home)))


def _check_order(
    system: BackendSystem, description: Description, own_name: str
) -> Iterator[Finding]:
    """Yield findings about a backend's place in the priority order.

    The name that people see instead of ``"default"``, `own_name`, is wrong in a description.
    """
    if description.name == DEFAULT:
        return
    for each in check_reach(description, system):
        yield replace(each, key="requires_opt_in")
    if own_name == DEFAULT:
        return
    for field in ("higher_priority_than", "lower_priority_than"):
        for position, name in enumerate(getattr(description, field)):
            if name == own_name:
                message = f"descriptions call the library itself {DEFAULT!r}, not {name!r}"
                finding = warning(message, f"Write {DEFAULT!r}")
                yield replace(finding, key=f"{field}[{position}]")


def _requirements(source: Source) -> Requirements:
    try:
        return Requirements(source.distribution or "", source.metadata.requires or ())
    except Exception:  # noqa: BLE001  # a third party's metadata, or none
        return Requirements()
