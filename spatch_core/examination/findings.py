"""Findings: the faults and remarks of an examination, each with its severity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias

from .._description import EVERY, NO_FUNCTIONS, Finding, Severity, Source

KeyPath: TypeAlias = "tuple[str | int, ...]"
"""The keys and indices that lead to a value in a description."""
_QUOTED = ("attributes", "functions")
_BARE = {*NO_FUNCTIONS} - {EVERY}
"""Tables below ``functions`` whose names are written without quotes."""


@dataclass(frozen=True, slots=True)
class Report:
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
    return Finding(message, remedy, severity=Severity.ERROR, is_absent=is_absent)


def warning(message: str, remedy: str, *, is_absent: bool = False) -> Finding:
    """Return a warning."""
    return Finding(message, remedy, severity=Severity.WARNING, is_absent=is_absent)


def note(message: str, remedy: str) -> Finding:
    """Return a note."""
    return Finding(message, remedy, severity=Severity.NOTE)


def unchecked(why: str, remedy: str = "Check where it is installed") -> Finding:
    """Return a note that something could not be checked."""
    return note(f"{why}, so this is not checked", remedy)._replace(is_unchecked=True)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings that differ only in their keys and lines; the first line remains."""
    alike: dict[Any, list[Finding]] = {}
    for each in findings:
        place = tuple(source_as_json(each.source).values())
        same = each.severity, each.backend, each.message, each.remedy, *place
        alike.setdefault(same, []).append(each)
    found = []
    for each, *others in alike.values():
        keys = tuple(dict.fromkeys(key for one in (each, *others) for key in one.keys))
        found.append(each._replace(key=keys[0] if keys else None, more_keys=keys[1:]))
    return found


def as_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as ``doctor --json`` prints it."""
    return {
        "severity": finding.severity.value,
        "backend": finding.backend,
        "keys": list(finding.keys),
        "message": finding.message,
        "remedy": finding.remedy,
        **source_as_json(finding.source),
    }


def to_record(finding: Finding) -> dict[str, Any]:
    """Return a finding as values that JSON can represent, for another process."""
    source = None if finding.source is None else source_as_json(finding.source)
    return {**finding._asdict(), "source": source}


def from_record(record: Mapping[str, Any]) -> Finding:
    """Return the finding that another process gave to `to_record`."""
    source = None if record["source"] is None else source_from_json(record["source"])
    more_keys, severity = tuple(record["more_keys"]), Severity(record["severity"])
    fields = {**record, "source": source, "more_keys": more_keys, "severity": severity}
    return Finding(**fields)


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
    name, known = fields["distribution"], None
    if name:
        known = SimpleNamespace(metadata={"Name": name, "Version": fields["version"]})
    return Source(fields["entry_point"], fields["file"], known)


def key_path(path: KeyPath) -> str:
    """Write a path as the validator writes it: ``functions."lib:fn".function``."""
    written = str(path[0])
    for position, part in enumerate(path[1:], 1):
        if isinstance(part, int):
            written += f"[{part}]"
        elif position == 1 and path[0] in _QUOTED and part not in _BARE:
            written += f'."{part}"'
        else:
            written += f".{part}"
    return written
