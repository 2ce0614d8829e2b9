"""Verifies the TOML file of a backend: its fields, and everything that it names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .._errors import Finding, Severity, replace
from .backend_file import read_file
from .findings import Report, incomplete
from .project import check_entry_points
from .requirement_check import check_requirements, check_variants


@dataclass(frozen=True, slots=True)
class FileReport(Report):
    """The result of verifying a file.

    The findings are sorted by line, and within a line by key.

    Parameters
    ----------
    subject : str
        The path of the file as the user gave it.
    findings : tuple of Finding
        All findings. Errors and warnings are faults, notes are not.
    backend : str or None
        The name of the backend, if the file has one.
    functions : tuple of str or None
        The identifiers of the functions that it implements; None if the description has faults.
    every_function : bool
        Whether it has an implementation of every other function.
    converts : bool
        Whether it has conversions.
    imported : bool
        Whether the names were imported.
    folder : str or None
        The folder from which the package around the file was imported.
    """

    backend: str | None = None
    functions: tuple[str, ...] | None = None
    every_function: bool = False
    converts: bool = False
    imported: bool = False
    folder: str | None = None


def verify_file(path: str | os.PathLike[str], imports: bool = True) -> FileReport:
    """Verify the file of a backend.

    Parameters
    ----------
    path : str or os.PathLike
        An existing TOML file. Its package need not be installed.
    imports : bool, optional
        Whether a child process imports everything that the file names.

    Returns
    -------
    FileReport
        All findings.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = f"{folder}/backend.toml"
    ...     with open(file, "w") as stream:
    ...         _ = stream.write('name = "oil"')
    ...     [(each.line, each.key) for each in verify_file(file, imports=False).faults]
    [(1, 'primary_types')]
    """
    file = read_file(os.fspath(path))
    found: list[Finding] = []
    unreached = check_entry_points(
        Path(file.path).absolute(), file.folder(), file.fields.get("name")
    )
    if unreached is not None and file.fields:
        found.append(file.placed(unreached))
    if imports:
        if file.description is not None:
            found += map(file.placed, check_requirements(file.description.requires))
            found += map(file.placed, check_variants(file.description))
        report, imported = file.import_with("verify")
        for each in imported:
            if each.is_absent and each.severity is Severity.WARNING:
                remedy = f"{each.remedy}; or leave imports out with --no-imports"
                found.append(replace(each, remedy=remedy))
            else:
                found.append(each)
        if not report.is_complete:
            found.append(file.placed(incomplete()))
    found += file.faults
    found.sort(key=lambda each: (each.line or 0, file.layout.position(each.key or "")))
    backend, description = file.fields.get("name"), file.description
    return FileReport(
        file.path,
        tuple(found),
        backend=backend if isinstance(backend, str) else None,
        functions=None if description is None else tuple(description.functions),
        every_function=description is not None and description.every is not None,
        converts=description is not None and description.conversions is not None,
        imported=imports,
        folder=file.folder() if imports else None,
    )
