"""Examines a library's backends, each in a process of its own, and gathers what is found."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .._description.fields import FIELDS
from .._discovery.environment import BLOCK, PRIORITIZE, SET_ORDER, read_environment
from .._identifiers import DEFAULT, nearest
from ._backends import State
from ._child import Report, run
from ._findings import REST, Finding, Severity
from ._json import source_as_json
from ._libraries import Library
from ._sources import read_file

_SUFFIXES = (PRIORITIZE, BLOCK, SET_ORDER)
_MISSPELLED = 0.8


@dataclass
class Examined:
    """What is known about the backends of a library in the end.

    Parameters
    ----------
    library : Library
        The library.
    backends : list of dict
        Each with ``name``, ``state``, ``distribution`` and ``version``.
    findings : list of Finding
        Errors first.
    """

    library: Library
    backends: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class Examiner:
    """Examines one library.

    Parameters
    ----------
    library : Library
        The library; not imported in this process.
    timeout : float
        Seconds that one process may take.
    """

    def __init__(self, library: Library, timeout: float) -> None:
        self.library = library
        self.timeout = timeout

    def examine(self) -> Examined:
        """Examine all backends that are not blocked."""
        examined = Examined(self.library)
        examined.findings = merged([*self._findings(examined)])
        return examined

    def _findings(self, examined: Examined) -> Iterator[Finding]:
        if self.library.owner is not None:
            finding = Finding(
                Severity.WARNING,
                f"distribution {self.library.owner} registers a library of the same name, "
                "which is used instead",
                "Uninstall one of the two, or rename its entry point",
            )
            yield finding.at(self.library.source)
            return
        home = source_as_json(self.library.source)
        report = self._run("census")
        yield from self._reported(report, None, home)
        prefix, backends = report.last("prefix"), report.last("backends")
        if backends is None:
            return
        environment = read_environment(prefix, os.environ)
        fatal = []
        for name in backends:
            if environment.blocks(name):
                continue
            variables = {f"{prefix}_BLOCK": ",".join(each for each in backends if each != name)}
            report = self._run("examine", {"backend": name}, variables)
            yield from self._reported(report, name, report.last("place", backends[name]))
            if not (report.is_complete or report.endings[-1].module):
                fatal.append(name)
        blocked = [*environment.block, *fatal]
        variables = {} if environment.block_all else {f"{prefix}_BLOCK": ",".join(blocked)}
        report = self._run("discover", variables=variables if fatal else {})
        yield from self._reported(report, report.last("place") and DEFAULT, home)
        examined.backends = report.last("states", [])
        for each in examined.backends:
            if each["name"] in fatal:
                each["state"] = State.BROKEN.value
        yield from check_variables(prefix, [DEFAULT, *backends], environment.names)

    def _run(
        self,
        task: str,
        request: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> Report:
        request = {"library": self.library.name, **(request or {})}
        return run(
            f"{__package__}._probe_installed:{task}",
            request,
            f"examining {' '.join(request.values())}",
            variables=variables,
            limit=self.timeout,
        )

    def _reported(
        self, report: Report, backend: str | None, place: dict[str, Any]
    ) -> Iterator[Finding]:
        for each in report.endings:
            yield Finding(
                Severity.ERROR,
                f"{each.what} {each.how}",
                "Whoever uses the library meets the same; repair or uninstall the distribution"
                if backend is None
                else "Repair the module, or block the backend",
                backend,
                tuple(each.keys),
                **place,
            )
        yield from map(Finding.from_json, report.values.get("finding", ()))
        if report.endings and report.endings[-1].module and not report.is_complete:
            yield Finding(Severity.NOTE, REST, "Repair what ends the interpreter", backend, **place)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings as people read them.

    Errors first; then by backend, and in the order of its description. Those that differ in
    their keys alone become one.
    """
    keys: dict[Finding, dict[str, None]] = {}
    for each in findings:
        keys.setdefault(replace(each, keys=()), {}).update(dict.fromkeys(each.keys))
    layouts = {each.file: read_file(each.file).layout for each in keys if each.file}
    severities = list(Severity)

    def position(finding: Finding, key: str) -> tuple[int, int]:
        if finding.file:
            return 0, layouts[finding.file].position(key)
        # An object has no lines; its functions are examined in their order.
        name, _, number = key.partition("[")
        place = FIELDS.index(name) if name in FIELDS else len(FIELDS)
        return place, int(number.rstrip("]")) if number else 0

    found = [
        replace(each, keys=tuple(sorted(places, key=lambda key: position(each, key))))
        for each, places in keys.items()
    ]
    return sorted(
        found,
        key=lambda each: (
            severities.index(each.severity),
            each.backend or "",
            each.file or "",
            position(each, each.keys[0]) if each.keys else (-1, -1),
        ),
    )


def check_variables(
    prefix: str, backends: list[str], mentioned: tuple[tuple[str, str], ...]
) -> Iterator[Finding]:
    """Yield the names in environment variables, and of them, that name nothing.

    Near misses of backends are among the problems that discovery has.

    Parameters
    ----------
    prefix : str
        What the library's variables begin with.
    backends : list of str
        The names that are installed, blocked or not.
    mentioned : tuple of (str, str)
        Names of backends, each with the variable that has it.
    """
    for name, variable in mentioned:
        if name not in backends and not nearest(name, backends):
            yield Finding(
                Severity.WARNING,
                f"no backend is named {name!r}; the name is ignored",
                f"Remove it; installed are: {', '.join(backends)}",
                keys=(variable,),
            )
    for variable in sorted(os.environ):
        suffix = variable[len(prefix) + 1 :]
        if variable.startswith(f"{prefix}_") and suffix not in _SUFFIXES:
            meant = nearest(suffix, _SUFFIXES, _MISSPELLED)
            if meant:
                yield Finding(
                    Severity.WARNING,
                    "the library reads no variable of this name",
                    f"Did you mean {prefix}_{meant[0]}?",
                    keys=(variable,),
                )
