"""Examines libraries, backends and their files: the engine behind doctor, verify and update.

Libraries and files come in; findings go out. Child processes import everything that a description
names. Needs no click; `update_file` needs tomlkit to write.
"""

from .._description import Finding, Severity, Source
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
