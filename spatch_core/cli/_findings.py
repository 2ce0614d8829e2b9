"""What `doctor` finds: how bad it is, where it stands, what is wrong and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from .._problems import place_text

if TYPE_CHECKING:
    from .._problems import Problem, Source


class Severity(str, Enum):
    """How bad a finding is. Notes are no faults."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


REST = "the rest is not examined: too many modules ended the interpreter"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault, or a remark.

    Parameters
    ----------
    severity : Severity
        How bad it is.
    message, remedy : str
        What is wrong, and what to do about it; both without a full stop at the end.
    backend : str or None
        The backend it is about; ``"default"`` is the library itself, None a variable.
    keys : tuple of str
        Where it stands in the description, or the environment variable; may be several
        places with the same fault, or none.
    entry_point, file, distribution, version : str or None
        Where the description comes from.
    """

    severity: Severity
    message: str
    remedy: str
    backend: str | None = None
    keys: tuple[str, ...] = ()
    entry_point: str | None = None
    file: str | None = None
    distribution: str | None = None
    version: str | None = None

    @classmethod
    def of_problem(cls, problem: Problem, severity: Severity) -> Finding:
        """Return what discovery has found as a finding."""
        keys = () if problem.key is None else (problem.key,)
        finding = cls(severity, problem.message, problem.remedy, problem.backend, keys)
        return finding if problem.source is None else finding.at(problem.source)

    def at(self, source: Source) -> Finding:
        """Return the same finding about a description from elsewhere."""
        return replace(
            self,
            entry_point=source.entry_point,
            file=source.file,
            distribution=source.distribution,
            version=source.version,
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it; `from_json` reads it back."""
        return {**asdict(self), "severity": self.severity.value, "keys": list(self.keys)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Finding:
        """Return what `as_json` has written."""
        severity = Severity(fields["severity"])
        return cls(**{**fields, "severity": severity, "keys": tuple(fields["keys"])})

    def __str__(self) -> str:
        place = place_text(self.distribution, self.version, self.entry_point, self.file)
        where = f" ({place})" if place else ""
        more = f" and {len(self.keys) - 1} more" if len(self.keys) > 1 else ""
        key = f"{self.keys[0]}{more}" if self.keys else ""
        if self.backend is None:
            subject = f"environment variable {key}" if key else f"library{where}"
        else:
            subject = f"backend {self.backend!r}{where}" + (f", key {key}" if key else "")
        return f"{subject}: {self.message}. {self.remedy}"
