"""``spatch-core verify``: what is wrong with the file of a backend."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from ..examination.findings import Finding
from ..examination.verify import FileReport, verify_file
from .arguments import files_argument, json_option
from .json_shape import JsonCommand
from .output import Column, Notes, Part, Table, show, show_json

_COLUMNS = (
    Column("file"),
    Column("backend"),
    Column("functions", is_number=True),
    Column("verdict", styles={"fine": "bold green"}),
)
_FAULTS = (Column("where"), Column("key"), Column("what was found"), Column("what to do"))

_EPILOG = """\b
Examples:
  spatch-core verify src/mylib_gpu/backend.toml
  spatch-core verify --no-imports --json src/*/*.toml"""


@click.command("verify", cls=JsonCommand, epilog=_EPILOG)
@files_argument
@click.option("--no-imports", is_flag=True, help="Import nothing: check the file alone.")
@json_option
@click.pass_context
def verify_command(
    context: click.Context, files: tuple[str, ...], no_imports: bool, as_json: bool
) -> None:
    """Check the TOML files of backends, and import everything that they name.

    All faults are shown at once, each with its line, its key, what was found and what was
    expected. The package around a file need not be installed: it is imported from where it
    stands.
    """
    reports = [verify_file(path, imports=not no_imports) for path in files]
    if as_json:
        show_json({"files": [_as_json(each) for each in reports]})
    else:
        show(_parts(reports))
    context.exit(0 if all(each.ok for each in reports) else 1)


def _parts(reports: list[FileReport]) -> Iterator[Part]:
    yield Table(_COLUMNS, [_row(each) for each in reports])
    yield from fault_parts(each.faults for each in reports)
    yield Notes("Notes", _lines(reports, lambda each: each.notes, remedies=True))
    yield Notes("Not checked", _lines(reports, lambda each: each.unchecked, remedies=False))
    elsewhere = {each.folder for each in reports if each.folder and each.folder not in sys.path}
    yield Notes("Imported from where the files are", sorted(elsewhere))


def _lines(
    reports: list[FileReport], chosen: Callable[[FileReport], list[Finding]], remedies: bool
) -> list[str]:
    return [
        f"{found.place}: {key and f'{key}: '}{found.message}"
        + (f". {found.remedy}" if remedies else "")
        for each in reports
        for key, found in _merged(chosen(each))
    ]


def fault_parts(files: Iterable[Iterable[Finding]]) -> Iterator[Part]:
    """Yield a table of the faults of files; nothing without any."""
    rows = [
        (fault.place, key, fault.message, fault.remedy)
        for faults in files
        for key, fault in _merged(faults)
    ]
    if rows:
        yield "Faults"
        yield Table(_FAULTS, rows)


def _merged(findings: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    """Yield one finding of each message, with its key and the number of others."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for each in findings:
        found.setdefault((each.message, each.remedy), []).append(each)
    for first, *others in found.values():
        more = f" and {len(others)} more" if others else ""
        yield f"{first.key or ''}{more}".lstrip(), first


def count_faults(faults: list[Finding]) -> str:
    """Return the number of faults in words."""
    return f"{len(faults)} fault{'s' if len(faults) > 1 else ''}"


def finding_as_json(finding: Finding) -> dict[str, Any]:
    """Return a finding about a file as JSON has it."""
    return {name: getattr(finding, name) for name in ("line", "key", "message", "remedy")}


def _row(report: FileReport) -> tuple[str, str, str, str]:
    functions = "" if report.functions is None else str(len(report.functions))
    word = "fine" if report.ok else count_faults(report.faults)
    return (report.subject, report.backend or "", functions, word)


def _as_json(report: FileReport) -> dict[str, Any]:
    return {
        "file": report.subject,
        "backend": report.backend,
        "functions": None if report.functions is None else len(report.functions),
        "imported": report.imported,
        "folder": report.folder,
        "faults": [finding_as_json(each) for each in report.faults],
        "notes": [finding_as_json(each) for each in report.notes],
        "unchecked": [finding_as_json(each) for each in report.unchecked],
    }
