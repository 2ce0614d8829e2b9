"""What the child processes do for `doctor`: one for each backend, so that none spoils others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from re import match
from typing import TYPE_CHECKING, Any

from .._identifiers import DEFAULT, import_identifier, split_identifier
from .._problems import Source
from ._backends import list_backends
from ._examination import Examination
from ._examined_imports import Fault, Importer
from ._examined_types import check_reach
from ._findings import Finding, Severity
from ._json import source_as_json
from ._libraries import (
    Library,
    LoadedLibrary,
    find_libraries,
    foreign_code,
    import_public_names,
    load_library,
)
from ._mentions import fields_of, find_mentions
from ._misspelled import meant_backend
from ._requirements import Requirements

if TYPE_CHECKING:
    from .._description.description import Description
    from ..backend_system import BackendSystem
    from ._child import Journal


def census(request: dict[str, Any], journal: Journal) -> None:
    """Report which backends there are; all are blocked, so that nothing of them is read.

    Parameters
    ----------
    request : dict
        ``library``, the name of its entry point.
    journal : Journal
        Gets ``prefix``, ``backends`` (where each comes from), or a ``finding``.
    """
    library = _library(request, journal)
    system = _import(library)
    if system is not None:
        os.environ[f"{system.environ_prefix}_BLOCK"] = "*"
    loaded = load_library(library, tries=False)
    if loaded.system is None:
        assert loaded.fault is not None  # one of the two is there
        journal.add("finding", Finding.of_problem(loaded.fault, Severity.ERROR).as_json())
        return
    blocked = loaded.system.resolver().catalog.blocked
    journal.add("prefix", loaded.system.environ_prefix)
    journal.add("backends", {name: _place(blocked[name], library) for name in sorted(blocked)})


def examine(request: dict[str, Any], journal: Journal) -> None:
    """Report what is wrong with one backend; all others are blocked.

    Parameters
    ----------
    request : dict
        ``library``, and ``backend``, its name.
    journal : Journal
        Gets each ``finding``, and ``place``, where the description comes from.
    """
    library = _library(request, journal)
    _import(library)
    journal.begins(f"reading the description of {request['backend']!r}")
    loaded = load_library(library, tries=False)
    if loaded.system is not None and request["backend"] in loaded.system.backends:
        _examine(loaded, loaded.system, request["backend"], journal)


def discover(request: dict[str, Any], journal: Journal) -> None:
    """Report what discovery says about all backends, and examine the library itself.

    Parameters
    ----------
    request : dict
        ``library``.
    journal : Journal
        Gets each ``finding``, and ``states``, those of all backends.
    """
    library = _library(request, journal)
    loaded = load_library(library, tries=False)
    usable = {} if loaded.system is None else loaded.system.backends
    for problem in loaded.problems:
        # Skipped, while another one of its name is used; or about a variable.
        minor = problem.backend in usable or (problem.backend is None and problem.key is not None)
        finding = Finding.of_problem(problem, Severity.WARNING if minor else Severity.ERROR)
        journal.add("finding", finding.as_json())
    states = [
        {"name": each.name, "state": each.state.value, **_place(each.source, library)}
        for each in list_backends(loaded)
    ]
    journal.add("states", states)
    if loaded.system is not None:
        _examine(loaded, loaded.system, DEFAULT, journal)


def _library(request: dict[str, Any], journal: Journal) -> Library:
    library = next(each for each in find_libraries() if each.name == request["library"])
    journal.begins(f"importing the library {library.name}")
    return library


def _import(library: Library) -> Any:
    """Import the system before any backend is discovered: that one may end the process."""
    with foreign_code(), suppress(BaseException):  # `load_library` will say what is wrong
        return import_identifier(library.identifier)


def _home(source: Source, library: Library) -> Source:
    """Return where a description comes from: from the library, if it has no entry point."""
    return library.source if source.entry_point is None else source


def _place(source: Source, library: Library) -> dict[str, str | None]:
    return source_as_json(_home(source, library))


def _examine(loaded: LoadedLibrary, system: BackendSystem, name: str, journal: Journal) -> None:
    import_public_names(loaded.library)
    description = system.backends[name]
    home = _home(description.source, loaded.library)
    journal.add("place", source_as_json(home))
    library = split_identifier(loaded.library.identifier)[0]
    blocked = system.resolver().catalog.blocked.values()
    own = {library.partition(".")[0], *_packages([description.source])}
    examination = Examination(
        find_mentions(fields_of(description)),
        Importer(own, _requirements(home), _packages(blocked)),
        journal,
        library=library,
        system=system,
    )
    for key, fault in chain(examination.faults(), _faults_of_order(system, description)):
        finding = Finding(fault.severity, fault.message, fault.remedy, name, (key,))
        journal.add("finding", finding.at(home).as_json())


def _faults_of_order(
    system: BackendSystem, description: Description
) -> Iterator[tuple[str, Fault]]:
    catalog = system.resolver().catalog
    default = catalog.descriptions[DEFAULT]
    if description is default:
        return
    order = list(catalog.descriptions)
    first = order.index(description.name) < order.index(DEFAULT)
    for fault in check_reach(description, default, first):
        yield "requires_opt_in", fault
    names = {*order, *catalog.blocked}
    for field in ("higher_priority_than", "lower_priority_than"):
        for position, name in enumerate(getattr(description, field)):
            meant = meant_backend(name, names - {description.name})
            if meant is not None:
                yield (
                    f"{field}[{position}]",
                    Fault(
                        Severity.WARNING,
                        f"no backend is named {name!r}; the name is ignored",
                        f"Did you mean {meant!r}?",
                    ),
                )


def _packages(sources: Any) -> set[str]:
    """Return the top-level packages that entry points name."""
    found = set()
    for source in sources:
        named = match(r"\s*[^=]*=\s*(\w+)", source.entry_point or "")
        if named:
            found.add(named[1])
    return found


def _requirements(source: Source) -> Requirements:
    try:
        return Requirements(source.distribution or "", source.metadata.requires or ())
    except Exception:  # noqa: BLE001  # a third party's metadata, or none
        return Requirements()
