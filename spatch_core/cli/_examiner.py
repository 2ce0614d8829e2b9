"""Examines a library's backends, each in a process of its own, and gathers what is found."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .._environment import read_environment
from .._identifiers import DEFAULT, nearest
from ._findings import Finding, Severity, merged
from ._libraries import Library
from ._output import progress

_RESTARTS = 5
"""How many modules of one backend may end the process until the rest is given up."""
_SUFFIXES = ("PRIORITIZE", "BLOCK", "SET_ORDER")
_MISSPELLED = 0.8


@dataclass
class Report:
    """What a child process has written down, and how it has ended.

    Parameters
    ----------
    end : str
        Why it could not finish; empty if it could.
    """

    end: str = ""
    step: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)


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
        found = [*self._findings(examined)]
        severities = list(Severity)
        examined.findings = sorted(
            merged(found), key=lambda each: (severities.index(each.severity), each.backend or "")
        )
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
        report = self._run({"task": "census"})
        yield from report.findings
        census = report.values.get("census")
        if report.end:
            yield self._ended(report, None, self._library_fields())
        if census is None:
            return
        prefix, backends = census["prefix"], census["backends"]
        environment = read_environment(prefix, os.environ)
        chosen = [each for each in backends if each == DEFAULT or not environment.blocks(each)]
        fatal = []
        for name in chosen:
            others = [each for each in backends if each not in (name, DEFAULT)]
            variables = {f"{prefix}_BLOCK": ",".join(others)}
            skip: list[str] = []
            while True:
                request = {"task": "backend", "backend": name, "skip": skip}
                report = self._run(request, variables)
                if report.end:
                    yield self._ended(report, name, backends[name])
                module = report.step.get("module")
                if not report.end or len(skip) == _RESTARTS or not module or module in skip:
                    break
                skip.append(module)
            yield from report.findings
            if report.end and not module:
                fatal.append(name)
        blocked = [*environment.block, *fatal]
        variables = {} if environment.block_all else {f"{prefix}_BLOCK": ",".join(blocked)}
        report = self._run({"task": "discovery"}, variables if fatal else {})
        yield from report.findings
        if report.end:
            yield self._ended(report, None, self._library_fields())
        examined.backends = report.values.get("backends", [])
        for each in examined.backends:
            if each["name"] in fatal:
                each["state"] = "broken"
        yield from check_variables(prefix, list(backends), environment.names)

    def _run(self, request: dict[str, Any], variables: dict[str, str] | None = None) -> Report:
        about = request.get("backend", "")
        with TemporaryDirectory() as folder, progress(f"examining {self.library.name} {about}"):
            file = Path(folder, "report")
            file.touch()
            asked = {"library": self.library.name, "report": str(file), **request}
            end = self._call(json.dumps(asked), variables or {})
            report = Report()
            for line in file.read_text("utf-8").splitlines():
                ((kind, value),) = json.loads(line).items()
                if kind == "finding":
                    report.findings.append(Finding.from_json(value))
                elif kind == "step":
                    report.step = value
                else:
                    report.values[kind] = value
        if "done" not in report.values:
            report.end = end
        return report

    def _call(self, request: str, variables: dict[str, str]) -> str:
        """Run a child; return how it ended. What it prints goes where messages go."""
        code = (
            f"import sys; sys.path[:] = {sys.path!r}\n"
            f"from {__package__}._examination import main; main({request!r})"
        )
        errors = sys.__stderr__
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            # Kept descriptions are those of all backends.
            env={**os.environ, **variables, "SPATCH_CORE_CACHE": "off"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if errors is None else errors.fileno(),
            start_new_session=True,
        )
        try:
            return _ending(process.wait(self.timeout))
        except subprocess.TimeoutExpired:
            return f"took longer than {self.timeout:g} s and was ended"
        finally:
            _end(process)

    def _ended(self, report: Report, backend: str | None, source: dict[str, Any]) -> Finding:
        what = report.step.get("what") or "starting"
        return Finding(
            Severity.ERROR,
            f"{what} {report.end}",
            "Whoever uses the library meets the same; repair or uninstall the distribution"
            if backend is None
            else "Repair the module, or block the backend; what else this module has was not "
            "checked",
            backend,
            tuple(report.step.get("keys", ())),
            **source,
        )

    def _library_fields(self) -> dict[str, Any]:
        source = self.library.source
        return {
            "entry_point": source.entry_point,
            "distribution": source.distribution,
            "version": source.version,
        }


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


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended the interpreter with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"crashed the interpreter ({name})"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a child that still runs, and what it has started."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:  # pragma: no cover  # Windows
        process.kill()
    process.wait()
