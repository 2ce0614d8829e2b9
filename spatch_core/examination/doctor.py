"""Examines a library's backends, each in a child process, and gathers the findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .._description.fields import FIELDS
from .._discovery.environment import BLOCK, PRIORITIZE, SET_ORDER, read_environment
from .._identifiers import DEFAULT, nearest
from .backend_file import read_file
from .backends import State
from .child import Report, run
from .findings import (
    Finding,
    Severity,
    error,
    from_record,
    incomplete,
    source_as_json,
    source_from_json,
    warning,
)
from .libraries import Library, find_library

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

_SUFFIXES = (PRIORITIZE, BLOCK, SET_ORDER)
_MISSPELLED = 0.8
_IN_USE = "Every user of the library meets the same; repair or uninstall the distribution"


@dataclass(slots=True)
class LibraryReport:
    """The result of examining a library.

    Parameters
    ----------
    library : Library
        The library.
    backends : list of dict
        Each with ``name``, ``state``, ``entry_point``, ``file``, ``distribution``, ``version``.
    findings : list of Finding
        Errors first.
    """

    library: Library
    backends: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def examine_library(
    library: str | BackendSystem | Library, *, timeout: float = 60.0
) -> LibraryReport:
    """Examine all backends of a library that are not blocked.

    Everything that they name is imported in child processes; this process imports nothing.

    Parameters
    ----------
    library : str, BackendSystem or Library
        The name under which the library is registered, or its system, which must be an
        attribute of an importable module, not of ``__main__`` alone.
    timeout : float, optional
        Seconds that one child process may take.

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
    report = LibraryReport(library)
    report.findings = merged([*_examine(report, timeout)])
    return report


def _examine(result: LibraryReport, timeout: float) -> Iterator[Finding]:
    library = result.library
    if library.owner is not None:
        message, remedy = library.shadowed()
        yield warning(message, remedy).at(None, library.source)
        return

    def child(task: str, variables: Mapping[str, str], backend: str | None = None) -> Report:
        request = {"name": library.name, "identifier": library.identifier, "backend": backend}
        return run(
            f"{__package__}.library_tasks:{task}",
            request,
            f"examining {library.name} {backend or ''}".rstrip(),
            variables=variables,
            limit=timeout,
        )

    home = source_as_json(library.source)
    report = child("census", {})
    yield from _reported(report, None, home)
    prefix, backends = report.last("prefix"), report.last("backends")
    if backends is None:
        return
    environment = read_environment(prefix, os.environ)
    fatal = []
    for name in backends:
        if environment.blocks(name):
            continue
        blocked_elsewhere = (each for each in environment.block if each.startswith(f"{name}@"))
        others = ",".join([*(each for each in backends if each != name), *blocked_elsewhere])
        report = child("examine", {f"{prefix}_BLOCK": others}, name)
        yield from _reported(report, name, report.last("place", backends[name]))
        if not (report.is_complete or report.endings[-1].module):
            fatal.append(name)
    blocked = ",".join([*environment.block, *fatal])
    is_needed = fatal and not environment.block_all
    report = child("discover", {f"{prefix}_BLOCK": blocked} if is_needed else {})
    yield from _reported(report, report.last("place") and DEFAULT, home)
    result.backends = report.last("states", [])
    for each in result.backends:
        if each["name"] in fatal:
            each["state"] = State.BROKEN.value
    yield from check_variables(prefix, [DEFAULT, *backends], environment.names)


def _reported(report: Report, backend: str | None, place: dict[str, Any]) -> Iterator[Finding]:
    """Yield a child's findings, and one for each child that ended early."""
    source = source_from_json(place)
    remedy = _IN_USE if backend is None else "Repair the module, or block the backend"
    for each in report.endings:
        key, *more = each.keys or (None,)
        finding = error(f"{each.what} {each.how}", remedy).at(backend, source)
        yield replace(finding, key=key, more_keys=tuple(more))
    yield from map(from_record, report.values.get("finding", ()))
    if report.endings and report.endings[-1].module and not report.is_complete:
        yield incomplete().at(backend, source)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings as people read them: errors first, then by backend and description.

    Findings that differ in their keys alone become one.
    """
    keys: dict[Any, dict[str, None]] = {}
    first: dict[Any, Finding] = {}
    for each in findings:
        # Equality of sources leaves the distribution out.
        place = tuple(source_as_json(each.source).values())
        same = (replace(each, key=None, more_keys=()), place)
        first.setdefault(same, each)
        keys.setdefault(same, {}).update(dict.fromkeys(each.keys))
    files = {each.source.file for each in first.values() if each.source and each.source.file}
    layouts = {file: read_file(file).layout for file in files}
    severities = list(Severity)

    def position(finding: Finding, key: str) -> tuple[int, int]:
        if finding.source is not None and finding.source.file:
            return 0, layouts[finding.source.file].position(key)
        # An object has no lines; its functions are examined in their order.
        name, _, number = key.partition("[")
        place = FIELDS.index(name) if name in FIELDS else len(FIELDS)
        return place, int(number.rstrip("]")) if number else 0

    def rank(finding: Finding) -> tuple[Any, ...]:
        return (
            severities.index(finding.severity),
            finding.backend or "",
            (finding.source and finding.source.file) or "",
            (-1, -1) if finding.key is None else position(finding, finding.key),
        )

    found = []
    for same, each in first.items():
        key, *more = sorted(keys[same], key=lambda key: position(each, key)) or (None,)
        found.append(replace(each, key=key, more_keys=tuple(more)))
    return sorted(found, key=rank)


def check_variables(
    prefix: str, backends: list[str], mentioned: Iterable[tuple[str, str]]
) -> Iterator[Finding]:
    """Yield unknown names of backends in environment variables, and misspelled variables.

    Near misses of backends are among the problems of discovery.
    """
    for name, variable in mentioned:
        if name not in backends and not nearest(name, backends):
            message = f"no backend is named {name!r}; the name is ignored"
            remedy = f"Remove it; installed are: {', '.join(backends)}"
            yield replace(warning(message, remedy), key=variable)
    for variable in sorted(os.environ):
        suffix = variable[len(prefix) + 1 :]
        if variable.startswith(f"{prefix}_") and suffix not in _SUFFIXES:
            meant = nearest(suffix, _SUFFIXES, _MISSPELLED)
            if meant:
                message = "the library reads no variable of this name"
                remedy = f"Did you mean {prefix}_{meant[0]}?"
                yield replace(warning(message, remedy), key=variable)
