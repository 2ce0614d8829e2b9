"""The types that users receive and annotate with, each imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._decide import Verdict
    from ._description import AutoGeneration, Description, Implementation, Variant
    from ._errors import Finding, Severity, Source
    from ._explain import ExplainedBackend, Explanation
    from ._invoke import DispatchableFunction
    from ._observed import Call, Outcome, Trace, TraceEvent
    from ._options import BackendOptions
    from ._patterns import TypePattern
    from .examination import (
        FileReport,
        FileUpdate,
        Library,
        LibraryReport,
        Report,
    )

__all__ = [
    "AutoGeneration",
    "BackendOptions",
    "Call",
    "Description",
    "DispatchableFunction",
    "ExplainedBackend",
    "Explanation",
    "FileReport",
    "FileUpdate",
    "Finding",
    "Implementation",
    "Library",
    "LibraryReport",
    "Outcome",
    "Report",
    "Severity",
    "Source",
    "Trace",
    "TraceEvent",
    "TypePattern",
    "Variant",
    "Verdict",
]

_NAMES = {
    "_decide": ["Verdict"],
    "_description": ["AutoGeneration", "Description", "Implementation", "Variant"],
    "_errors": ["Finding", "Severity", "Source"],
    "_explain": ["ExplainedBackend", "Explanation"],
    "_invoke": ["DispatchableFunction"],
    "_observed": ["Call", "Outcome", "Trace", "TraceEvent"],
    "_options": ["BackendOptions"],
    "_patterns": ["TypePattern"],
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
"""Modules of the names; all others are in `examination`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOMES.get(name, 'examination')}", __package__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
