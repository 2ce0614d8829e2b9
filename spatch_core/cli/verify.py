"""``spatch-core verify``: check the TOML files of backends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from ..examination.backend_file import FileReport, verify_file
from .arguments import files_argument, json_option
from .findings import by_line, count_severities, counted, finding_as_json, together
from .output import Notes, Part, show, show_json

_EPILOG = """\b
Examples:
  spatch-core verify src/mylib_gpu/backend.toml
  spatch-core verify --no-imports --json src/*/*.toml"""


@click.command("verify", epilog=_EPILOG)
@files_argument
@click.option("--no-imports", is_flag=True, help="Import nothing: check only the file.")
@json_option
@click.pass_context
def verify_command(
    context: click.Context, files: tuple[str, ...], no_imports: bool, as_json: bool
) -> None:
    """Check the TOML files of backends, and import everything that they name.

    All faults are shown at once, each with its line and key. The package around a file need
    not be installed: it is imported from its folder.
    """
    reports = [verify_file(path, imports=not no_imports) for path in files]
    if as_json:
        show_json({"files": [_as_json(each) for each in reports]})
    else:
        show(_parts(reports))
    context.exit(0 if all(each.ok for each in reports) else 1)


def _parts(reports: list[FileReport]) -> Iterator[Part]:
    findings = [found for each in reports for found in each.findings]
    yield by_line(findings)
    fine = [each for each in reports if each.ok]
    yield Notes("", [f"{each.subject}: fine{_meaning(each)}" for each in fine], {": fine": "green"})
    elsewhere = {each.folder for each in reports if each.folder and each.folder not in sys.path}
    yield Notes("Imported from where the files are", sorted(elsewhere))
    severities = count_severities(same[0].severity.value for same in together(findings))
    yield f"{counted(len(reports), 'file')}: {severities}"


def _meaning(report: FileReport) -> str:
    if not report.backend:
        return ""
    count = counted(len(report.functions or ()), "function")
    if report.every_function:
        count = f"{count}, and every other one" if report.functions else "every function"
    return f" (backend {report.backend}, {count}{', conversions' * report.converts})"


def _as_json(report: FileReport) -> dict[str, Any]:
    return {
        "file": report.subject,
        "backend": report.backend,
        "functions": None if report.functions is None else len(report.functions),
        "every_function": report.every_function,
        "converts": report.converts,
        "imported": report.imported,
        "folder": report.folder,
        "faults": [finding_as_json(each) for each in report.faults],
        "notes": [finding_as_json(each) for each in report.notes],
        "unchecked": [finding_as_json(each) for each in report.unchecked],
    }
