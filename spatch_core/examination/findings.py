"""Findings: the faults and remarks of an examination, each with its severity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import SimpleNamespace
from typing import Any

from .._errors import Problem, Published, Source, place_text


class Severity(str, Enum):
    """How bad a finding is.

    An error never works. A warning works badly, or does not work in this environment.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Finding(Problem):
    """A fault or a remark of an examination.

    Parameters
    ----------
    message, remedy : str
        What is wrong, and what to do about it; both without a final full stop.
    backend : str or None
        The backend; ``"default"`` is the library itself. None for an environment variable, for
        the library's entry point, and for a file.
    key : str or None
        The key path in the description, or the environment variable.
    source : Source or None
        Where the description comes from.
    skips, warns : bool
        As in `Problem`: whether the library skips the backend because of it, and whether loading
        backends shows a warning.
    severity : Severity
        How bad it is. Notes are not faults.
    more_keys : tuple of str
        Further keys with the same fault.
    line : int or None
        The line of the key in the file of the source; None for a finding about a whole file, and
        if no file was examined.
    is_unchecked : bool
        Whether the finding only says that something could not be checked here.
    is_absent : bool
        Whether the finding is about a module that is not installed.

    Examples
    --------
    >>> finding = Finding("there is no module 'gpu'", "Correct the name", "oil", "functions")
    >>> str(finding)
    "backend 'oil', key functions: there is no module 'gpu'. Correct the name"
    """

    message: str
    remedy: str
    backend: str | None = None
    key: str | None = None
    source: Source | None = None
    skips: bool = True
    warns: bool = True
    severity: Severity = Severity.ERROR
    more_keys: tuple[str, ...] = ()
    line: int | None = None
    is_unchecked: bool = False
    is_absent: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys with this fault."""
        return () if self.key is None else (self.key, *self.more_keys)

    @property
    def place(self) -> str:
        """The file and the line, as far as they are known; empty without a file."""
        file = (self.source and self.source.file) or ""
        return file if self.line is None else f"{file}:{self.line}"

    def at(self, backend: str | None, source: Source) -> Finding:
        """Return the same finding about a backend."""
        return replace(self, backend=backend, source=source)

    def as_json(self) -> dict[str, Any]:
        """Return the finding as ``doctor --json`` prints it."""
        return {
            "severity": self.severity.value,
            "backend": self.backend,
            "keys": list(self.keys),
            "message": self.message,
            "remedy": self.remedy,
            **source_as_json(self.source),
        }

    def __str__(self) -> str:
        more = f" and {len(self.more_keys)} more" if self.more_keys else ""
        key = f", key {self.key}{more}" if self.key else ""
        if self.backend is None and self.place:
            return f"{self.place}{key}: {self.message}. {self.remedy}"
        place = source_as_json(self.source)
        where = place_text(
            place["distribution"], place["version"], place["entry_point"], place["file"]
        )
        where = f" ({where})" if where else ""
        if self.backend is None:
            subject = f"environment variable {self.key}{more}" if self.key else f"library{where}"
        else:
            subject = f"backend {self.backend!r}{where}{key}"
        return f"{subject}: {self.message}. {self.remedy}"


@dataclass(frozen=True, slots=True)
class Report(Published):
    """The result of an examination.

    Parameters
    ----------
    subject : str
        The name of a library, or the path of a file as the user gave it.
    findings : tuple of Finding
        All findings. Errors and warnings are faults, notes are not.
    """

    subject: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no errors and no warnings."""
        return not self.faults

    @property
    def faults(self) -> list[Finding]:
        """Errors and warnings."""
        return [each for each in self.findings if each.severity is not Severity.NOTE]

    @property
    def notes(self) -> list[Finding]:
        """Remarks, without those about what could not be checked."""
        notes = [each for each in self.findings if each.severity is Severity.NOTE]
        return [each for each in notes if not each.is_unchecked]

    @property
    def unchecked(self) -> list[Finding]:
        """Remarks about what could not be checked in this environment."""
        return [each for each in self.findings if each.is_unchecked]


def error(message: str, remedy: str, *, is_absent: bool = False) -> Finding:
    """Return an error."""
    return Finding(message, remedy, is_absent=is_absent)


def warning(message: str, remedy: str, *, is_absent: bool = False) -> Finding:
    """Return a warning."""
    return Finding(message, remedy, severity=Severity.WARNING, is_absent=is_absent)


def note(message: str, remedy: str) -> Finding:
    """Return a note."""
    return Finding(message, remedy, severity=Severity.NOTE)


def unchecked(why: str, remedy: str = "Check where it is installed") -> Finding:
    """Return a note that something could not be checked."""
    return replace(note(f"{why}, so this is not checked", remedy), is_unchecked=True)


def incomplete() -> Finding:
    """Return a note that an examination was given up."""
    message = "the rest was not examined, because too many modules ended the interpreter"
    return replace(note(message, "Repair the modules that end the interpreter"), is_unchecked=True)


def of_problem(problem: Problem, severity: Severity) -> Finding:
    """Return a problem of discovery as a finding."""
    return Finding(
        problem.message,
        problem.remedy,
        problem.backend,
        problem.key,
        problem.source,
        severity=severity,
    )


def to_record(finding: Finding) -> dict[str, Any]:
    """Return a finding as values that JSON can represent, for another process."""
    flags = {"is_unchecked": finding.is_unchecked, "is_absent": finding.is_absent}
    return {**finding.as_json(), **flags}


def from_record(record: Mapping[str, Any]) -> Finding:
    """Return the finding that another process gave to `to_record`."""
    key, *more = record["keys"] or (None,)
    return Finding(
        record["message"],
        record["remedy"],
        record["backend"],
        key,
        source_from_json(record),
        severity=Severity(record["severity"]),
        more_keys=tuple(more),
        is_unchecked=record["is_unchecked"],
        is_absent=record["is_absent"],
    )


def source_as_json(source: Source | None) -> dict[str, str | None]:
    """Return the fields of a source: entry point, file, distribution, version."""
    source = source or Source()
    return {
        "entry_point": source.entry_point,
        "file": source.file,
        "distribution": source.distribution,
        "version": source.version,
    }


def source_from_json(fields: Mapping[str, Any]) -> Source:
    """Return a source with the fields of `source_as_json`."""
    known = {"Name": fields["distribution"], "Version": fields["version"]}
    return Source(fields["entry_point"], fields["file"], SimpleNamespace(metadata=known))
