"""Explanations: what would run for a call, and why. The reasons come from `reasons`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from .._errors import Published, published
from .._patterns import DEFAULT, shown, type_identifier


class Verdict(str, Enum):
    """The role of one backend in one call."""

    RUNS = "runs"
    LATER = "comes later"
    ASKED = "would be asked"
    DEFERS = "defers"
    INACTIVE = "inactive"
    SKIPPED = "is skipped"
    NO_MATCH = "does not match"
    CONVERTS = "would convert"
    CANNOT_CONVERT = "cannot convert"
    REFUSES = "would refuse"
    NO_IMPLEMENTATION = "has no implementation"

    def __str__(self) -> str:
        return self.value

    def __reduce_ex__(self, protocol: Any) -> Any:
        return published(self, self.value)


_ANSWERS = (Verdict.RUNS, Verdict.CONVERTS)


@dataclass(frozen=True, slots=True)
class ExplainedBackend(Published):
    """One line of an explanation.

    Parameters
    ----------
    backend : str
        Its name.
    verdict : Verdict
        Its role in the call.
    reason : str
        Why.
    default_name : str, optional
        The name of the library's own implementation in the text.
    """

    backend: str
    verdict: Verdict
    reason: str
    default_name: str = DEFAULT

    @property
    def shown(self) -> str:
        """The backend's name in the text."""
        return shown(self.backend, self.default_name)

    def __str__(self) -> str:
        return f"{self.shown} {self.verdict}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True, slots=True)
class Explanation(Published):
    """What would run for a call, and why; printed as a short text.

    Parameters
    ----------
    function : str
        Identifier of the library's function.
    types : tuple of type
        The dispatch types.
    selected : str or None
        The backend that would run (it may still return ``NotImplemented``); None if that
        depends on a ``should_run``, and the arguments for it were not given.
    backends : tuple of ExplainedBackend
        All backends, in the order in which a call considers them.
    hooks : tuple of str
        The hooks in force, innermost first, by their identifiers. They see the call before any
        backend, and may answer it or change its arguments; none of them was run.
    """

    function: str
    types: tuple[type, ...]
    selected: str | None
    backends: tuple[ExplainedBackend, ...]
    hooks: tuple[str, ...] = ()

    def __str__(self) -> str:
        types = ", ".join(map(type_identifier, self.types))
        lines = [f"{self.function}({types or 'no dispatch types'})"]
        if self.hooks:
            lines.append(f"  seen first by hooks: {', '.join(self.hooks)}")
        width = max(len(each.shown) for each in self.backends)
        for each in self.backends:
            mark = ">" if self._is_answer(each) else " "
            reason = f": {each.reason}" if each.reason else ""
            lines.append(f"{mark} {each.shown:<{width}}  {each.verdict}{reason}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def _is_answer(self, each: ExplainedBackend) -> bool:
        return each.backend == self.selected and each.verdict in _ANSWERS
