"""Examines libraries, backends and their files: the engine behind doctor, verify and update.

Libraries and files come in; findings go out. Child processes import everything that a description
names. Needs no click; `update_file` needs tomlkit to write.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._errors import Finding, Severity, Source
    from .backend_file import FileReport, verify_file
    from .doctor import LibraryReport, examine_library
    from .findings import Report
    from .libraries import Library
    from .update import FileUpdate, update_file

__all__ = [
    "FileReport",
    "FileUpdate",
    "Finding",
    "Library",
    "LibraryReport",
    "Report",
    "Severity",
    "Source",
    "examine_library",
    "update_file",
    "verify_file",
]

_MODULES = {
    "FileReport": "backend_file",
    "FileUpdate": "update",
    "Finding": "._errors",
    "Library": "libraries",
    "LibraryReport": "doctor",
    "Report": "findings",
    "Severity": "._errors",
    "Source": "._errors",
    "examine_library": "doctor",
    "update_file": "update",
    "verify_file": "backend_file",
}


def __getattr__(name: str) -> Any:
    # Lazy, because a child process should import only the modules that its task needs.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
