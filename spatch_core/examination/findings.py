"""The class for everything that an examination finds wrong, with its severity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import SimpleNamespace
from typing import Any

from .._reporting.problems import Problem, Source, place_text
from .._reporting.published import Published, published


class Severity(str, Enum):
    """How bad a finding is.

    Errors are about what cannot work, warnings about what works badly or not here.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def __str__(self) -> str:
        return self.value

    def __reduce_ex__(self, protocol: Any) -> Any:
        return published(self, self.value)


@dataclass(frozen=True, slots=True)
class Finding(Problem):
    """One fault, or a remark, found by an examination.

    Parameters
    ----------
    message, remedy : str
        What is wrong, and what to do about it; both without a full stop at the end.
    backend : str or None
        The backend it is about; ``"default"`` is the library itself. None for an environment
        variable, for the library's entry point, and for a file.
    key : str or None
        Key path in the description, or the environment variable.
    source : Source or None
        Where the description comes from.
    skips, warns : bool
        As in `Problem`: whether the backend is not used because of it, and whether a warning is
        shown when backends are loaded.
    severity : Severity
        How bad it is. Notes are no faults.
    more_keys : tuple of str
        Further places with the same fault.
    line : int or None
        Line of the key in the file of the source; None for a finding about a file as a whole,
        and where no file was examined.
    is_unchecked : bool
        Whether this says only that something could not be checked here.
    is_absent : bool
        Whether a module is not installed.

    Examples
    --------
    >>> finding = Finding("there is no module 'gpu'", "Correct the name", "oil", "functions")
    >>> str(finding)
    "backend 'oil', key functions: there is no module 'gpu'. Correct the name"
    """

    severity: Severity = Severity.ERROR
    more_keys: tuple[str, ...] = ()
    line: int | None = None
    is_unchecked: bool = False
    is_absent: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """All places with this fault."""
        return () if self.key is None else (self.key, *self.more_keys)

    @property
    def place(self) -> str:
        """The file, and the line if there is one; empty for a finding about no file."""
        file = (self.source and self.source.file) or ""
        return file if self.line is None else f"{file}:{self.line}"

    def at(self, backend: str | None, source: Source) -> Finding:
        """Return the same finding about a backend."""
        return replace(self, backend=backend, source=source)

    def as_json(self) -> dict[str, Any]:
        """Return the finding as ``doctor --json`` has it."""
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
        What was examined: the name of a library, or the path of a file as it was given.
    findings : tuple of Finding
        Everything that was found. Errors and warnings are faults, notes are not.
    """

    subject: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there is neither an error nor a warning."""
        return not self.faults

    @property
    def faults(self) -> list[Finding]:
        """Errors and warnings."""
        return [each for each in self.findings if each.severity is not Severity.NOTE]

    @property
    def notes(self) -> list[Finding]:
        """Remarks, which are no faults."""
        notes = [each for each in self.findings if each.severity is Severity.NOTE]
        return [each for each in notes if not each.is_unchecked]

    @property
    def unchecked(self) -> list[Finding]:
        """Remarks about what could not be checked here."""
        return [each for each in self.findings if each.is_unchecked]


def error(message: str, remedy: str, *, is_absent: bool = False) -> Finding:
    """Return a finding about what cannot work."""
    return Finding(message, remedy, is_absent=is_absent)


def warning(message: str, remedy: str, *, is_absent: bool = False) -> Finding:
    """Return a finding about what works badly, or not here."""
    return Finding(message, remedy, severity=Severity.WARNING, is_absent=is_absent)


def note(message: str, remedy: str) -> Finding:
    """Return a remark."""
    return Finding(message, remedy, severity=Severity.NOTE)


def unchecked(why: str, remedy: str = "Check where it is installed") -> Finding:
    """Return a remark that something could not be checked."""
    return replace(note(f"{why}, so that this is not checked", remedy), is_unchecked=True)


def incomplete() -> Finding:
    """Return the remark that an examination was given up."""
    message = "the rest is not examined: too many modules ended the interpreter"
    return replace(note(message, "Repair what ends the interpreter"), is_unchecked=True)


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
    """Return everything about a finding in a form that JSON can hold."""
    flags = {"is_unchecked": finding.is_unchecked, "is_absent": finding.is_absent}
    return {**finding.as_json(), **flags}


def from_record(record: Mapping[str, Any]) -> Finding:
    """Return the finding that `to_record` has written down in another process."""
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
    """Return where a description comes from: entry point, file, distribution, version."""
    source = source or Source()
    return {
        "entry_point": source.entry_point,
        "file": source.file,
        "distribution": source.distribution,
        "version": source.version,
    }


def source_from_json(fields: Mapping[str, Any]) -> Source:
    """Return the source that `source_as_json` has written."""
    known = {"Name": fields["distribution"], "Version": fields["version"]}
    return Source(fields["entry_point"], fields["file"], SimpleNamespace(metadata=known))
