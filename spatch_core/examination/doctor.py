"""Examines a library's backends, each in a child process, and gathers the findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._description import FIELDS
from .._environment import BACKEND, BLOCK, near_misses, read_environment
from .._errors import Finding, Severity, replace
from .._patterns import DEFAULT, is_backend_name
from ..backend_system import BackendSystem
from .backend_file import read_file
from .backends import State
from .blocking import honoured, value_blocking
from .child import TaskResult, run
from .findings import (
    Report,
    error,
    from_record,
    incomplete,
    source_as_json,
    source_from_json,
    warning,
)
from .libraries import Library, find_library

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
    about = _About()
    findings = merged(_examine(library, timeout, about))
    return LibraryReport(
        library.name, tuple(findings), library, tuple(about.states), about.default_name
    )


@dataclass(slots=True)
class _About:
    """The results of an examination besides its findings."""

    states: list[dict[str, Any]] = field(default_factory=list)
    default_name: str = DEFAULT


def _examine(library: Library, timeout: float, about: _About) -> Iterator[Finding]:
    """Yield findings in any order, and fill `about`."""
    if library.owner is not None:
        message, remedy = library.shadowed()
        yield replace(warning(message, remedy), source=library.source)
        return

    def child(task: str, variables: Mapping[str, str], backend: str | None = None) -> TaskResult:
        request = {"name": library.name, "identifier": library.identifier, "backend": backend}
        return run(
            f"{__package__}.library_tasks:{task}",
            request,
            f"examining {library.name} {backend or ''}".rstrip(),
            variables=variables,
            limit=timeout,
        )

    home = source_as_json(library.source)
    report = child("find_backends", {})
    yield from _reported(report, None, home)
    prefix, backends = report.last("prefix"), report.last("backends")
    if backends is None:
        return
    about.default_name = report.last("default_name", DEFAULT)
    variable = f"{prefix}_{BLOCK}"
    environment = read_environment(prefix, honoured(prefix, os.environ, backends))
    # The states of backends whose descriptions end the process, and of those that were examined.
    # Backends of the first kind are blocked when all backends are discovered together.
    broken: dict[str, list[dict[str, Any]]] = {}
    examined: dict[str, list[dict[str, Any]]] = {}
    for name in backends:
        if environment.blocks(name):
            continue
        known = [each for each in backends if each != name and is_backend_name(each)]
        report = child("examine", {variable: value_blocking(environment, known)}, name)
        yield from _reported(report, name, report.last("place", backends[name]))
        if not (report.is_complete or report.endings[-1].module):
            broken[name] = [{"name": name, "state": State.BROKEN.value, **backends[name]}]
        else:
            examined[name] = [each for each in report.last("states", []) if each["name"] == name]
    report = child("discover", {variable: value_blocking(environment, broken)} if broken else {})
    if report.last("states") is None:
        # Together they end the process, and it is not known which one does. Fall back to the
        # states found for each backend alone.
        broken.update(examined)
        yield from _reported(report, None, home)
        report = child("discover", {variable: "*"})
    yield from _reported(report, report.last("place") and DEFAULT, home)
    for each in report.last("states", []):
        about.states += broken.pop(each["name"], []) or [each]
    # The values that the user has set: children got another value of BLOCK.
    stated = read_environment(prefix, os.environ)
    yield from stated.problems
    yield from check_variables([DEFAULT, *backends], stated.names, own_name=about.default_name)


def _reported(report: TaskResult, backend: str | None, place: dict[str, Any]) -> Iterator[Finding]:
    """Yield the findings of a task, and one for each child that ended early."""
    source = source_from_json(place)
    remedy = _IN_USE if backend is None else "Repair the module, or block the backend"
    for each in report.endings:
        key, *more = each.keys or (None,)
        finding = error(f"{each.what} {each.how}", remedy)
        about = {"backend": backend, "source": source}
        yield replace(finding, **about, key=key, more_keys=tuple(more))
    yield from map(from_record, report.values.get("finding", ()))
    if report.endings and report.endings[-1].module and not report.is_complete:
        yield replace(incomplete(), backend=backend, source=source)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings that differ only in their keys, and sort them.

    Errors come first; equally severe findings are sorted by backend, then by place in the
    description.
    """
    keys: dict[Any, dict[str, None]] = {}
    first: dict[Any, Finding] = {}
    for each in findings:
        # Sources compare equal without their distributions, which count here.
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
        # A description that is an object has no lines: sort by field. Its functions keep the order
        # in which they were examined.
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
