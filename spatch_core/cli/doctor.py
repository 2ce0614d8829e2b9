"""``spatch-core doctor``, ``verify`` and ``update``: faults of backends, and their files."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import click

from .._description import Finding, Severity
from .._errors import either
from .._patterns import shown
from ..examination.backend_file import FileReport, Project, verify_file
from ..examination.doctor import LibraryReport, examine_library
from ..examination.findings import Report, merged
from ..examination.findings import as_json as finding_as_json
from ..examination.libraries import State, find_libraries
from ..examination.update import FileUpdate, update_file
from .arguments import (
    NO_LIBRARY,
    chosen_libraries,
    complete_libraries,
    json_option,
    timeout_option,
)
from .output import (
    Column,
    Notes,
    Part,
    Table,
    by_backend,
    by_line,
    count_severities,
    counted,
    distribution,
    show,
    show_json,
    show_text,
)
from .show import STATE_STYLES

Json = dict[str, Any]

_FAULTY = "active, faulty"
_EXAMINED = (
    Column("backend"),
    Column("state", styles={**STATE_STYLES, _FAULTY: "red"}),
    Column("findings", styles={"no findings": "dim"}, is_prose=True),
    Column("distribution", is_hyphenated=True),
)
_NOT_SOURCES = {"build", "dist", "node_modules", "site-packages"}
"""Folders in a project that have no descriptions of its own."""
_USUAL = "backend.toml"
_PRIMARY_TYPES = re.compile(rb"^\s*primary_types\s*=", re.MULTILINE)


def _given(
    context: click.Context, _parameter: click.Parameter, files: tuple[str, ...]
) -> tuple[str, ...]:
    """Say what to give if no file is given; a click callback."""
    if not files and not context.resilient_parsing:
        raise click.UsageError(
            "FILE is missing: give the TOML file of the backend, for example "
            "src/mylib_gpu/backend.toml; `spatch-core doctor .` finds the files below this folder"
        )
    return files


files_argument = click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    callback=_given,
    type=click.Path(exists=True, dir_okay=False),
)


# doctor


@click.command(
    "doctor",
    help="""Examine every backend of LIBRARY, or of all libraries, and report all faults at once.

Everything that a backend names is imported, in a process of its own, so that it does not
affect the examination of other backends. Blocked backends are not touched. A FILE is checked
as by `verify`, and of a FOLDER each description in it; they need not be installed.""",
    epilog="""\b
Examples:
  spatch-core doctor
  spatch-core doctor scipy_dispatch --json
  spatch-core doctor src/mylib_gpu/backend.toml
  spatch-core doctor .

Errors never work: modules, types, and functions of the library that do not exist,
implementations and should_run that cannot take the library's calls, imports that fail, hang
or crash, types that can never match. Warnings work badly, or not in this environment:
dependencies that are not installed, backends whose name is taken, unknown names in environment
variables. Notes are not faults: for example, a type whose package is not installed is not
checked.

Exit code 1 if there are errors or warnings.""",
)
@click.argument(
    "subject",
    metavar="[LIBRARY | FILE | FOLDER]",
    required=False,
    shell_complete=complete_libraries,
)
@timeout_option
@json_option
@click.pass_context
def doctor_command(
    context: click.Context, subject: str | None, timeout: float, as_json: bool
) -> None:
    """Run ``spatch-core doctor``."""
    if subject is not None and subject not in {each.name for each in find_libraries()}:
        path = Path(subject)
        if path.exists():
            reports = [verify_file(each, timeout=timeout) for each in _descriptions(path)]
            _show_files(context, reports, {"libraries": []} if as_json else None)
        if path.suffix == ".toml" or path.name != subject:
            raise click.UsageError(f"there is no file or folder {subject}")
    examined = [examine_library(each, timeout=timeout) for each in chosen_libraries(subject)]
    if as_json:
        show_json({"libraries": [examined_as_json(each) for each in examined], "files": []})
    else:
        show([*(part for each in examined for part in _parts(each)), _summary(examined)])
    context.exit(0 if all(each.ok for each in examined) else 1)


def _descriptions(path: Path) -> list[str]:
    """Return the files of backends in a folder, by their field ``primary_types``; or a file."""
    if path.is_file():
        return [str(path)]
    found = []
    for file in sorted(filter(Path.is_file, path.rglob("*.toml"))):
        folders = file.relative_to(path).parts[:-1]
        is_hidden = any(each.startswith(".") or each in _NOT_SOURCES for each in folders)
        # Not parsed: what is no TOML is to be reported.
        if not is_hidden and (file.name == _USUAL or _PRIMARY_TYPES.search(file.read_bytes())):
            found.append(str(file))
    if not found:
        named = sorted({each for each in _entry_points(path) if each.endswith(".toml")})
        raise click.UsageError(
            f"no file in {path} describes a backend: none is named backend.toml or has a field "
            "primary_types"
            + f", but an entry point names {either(named)}: add the file, and pack it"
            * bool(named)
        )
    return found


def _entry_points(folder: Path) -> Iterator[str]:
    """Yield the values of entry points, also those of an unpacked wheel."""
    yield from (value for _, _, value in Project(folder.absolute() / "any").entry_points())
    for file in folder.rglob("entry_points.txt"):
        yield from (each.value for each in PathDistribution(file.parent).entry_points)


def _parts(examined: LibraryReport) -> Iterator[Part]:
    yield f"{examined.subject}  {distribution(examined.library.source)}".rstrip()
    rows = [_row(each, examined) for each in examined_as_json(examined)["backends"]]
    if rows:
        yield Table(_EXAMINED, rows)
    found = _findings(examined)
    if found:
        yield "Findings"
        yield from found


def _findings(examined: LibraryReport) -> list[Notes]:
    def owner(finding: Finding) -> tuple[str, str]:
        return finding.backend or "", (finding.source and finding.source.distribution) or ""

    found = sorted(examined.findings, key=owner)
    return by_backend(found, examined.subject, examined.default_name, severities=True)


def _row(backend: Json, examined: LibraryReport) -> tuple[str, ...]:
    found = [each.value for each in Severity for _ in range(backend[f"{each}s"])]
    is_faulty = backend["state"] == State.ACTIVE and backend[f"{Severity.ERROR}s"]
    return (
        shown(backend["name"], examined.default_name),
        _FAULTY if is_faulty else backend["state"],
        "not examined" if backend["state"] == State.BLOCKED else count_severities(found),
        " ".join(filter(None, (backend["distribution"], backend["version"]))),
    )


def _summary(examined: list[LibraryReport]) -> str:
    if not examined:
        return NO_LIBRARY
    severities = count_severities(one.severity.value for each in examined for one in each.findings)
    return f"{counted(sum(len(each.backends) for each in examined), 'backend')}: {severities}"


def examined_as_json(examined: LibraryReport) -> Json:
    """Return a library as ``doctor --json`` prints it."""
    backends = []
    for backend in examined.backends:
        # Several backends may have one name.
        found = Counter(
            each.severity
            for each in examined.findings
            if each.backend == backend["name"]
            and all(getattr(each.source, k) == backend[k] for k in ("entry_point", "distribution"))
        )
        backends.append({**backend, **{f"{each}s": found[each] for each in Severity}})
    return {
        "name": examined.subject,
        "backends": backends,
        "findings": [finding_as_json(each) for each in examined.findings],
    }


# verify


@click.command(
    "verify",
    help="""Check the TOML files of backends, and import everything that they name.

The short form of `doctor FILE`, for several files and for CI. All faults are shown at once,
each with its line and key. The package around a file need not be installed: it is imported
from its folder.""",
    epilog="""\b
Examples:
  spatch-core verify src/mylib_gpu/backend.toml
  spatch-core verify --no-imports --json src/*/*.toml""",
)
@files_argument
@click.option("--no-imports", is_flag=True, help="Import nothing: check only the file.")
@timeout_option
@json_option
@click.pass_context
def verify_command(
    context: click.Context, files: tuple[str, ...], no_imports: bool, timeout: float, as_json: bool
) -> None:
    """Run ``spatch-core verify``."""
    reports = [verify_file(path, imports=not no_imports, timeout=timeout) for path in files]
    _show_files(context, reports, {} if as_json else None)


def _show_files(context: click.Context, reports: list[FileReport], record: Json | None) -> None:
    """Print reports about files, in a record as JSON or as text, and end the command."""
    if record is not None:
        show_json({**record, "files": [_report_as_json(each) for each in reports]})
    else:
        show(_reported(reports))
    context.exit(0 if all(each.ok for each in reports) else 1)


def _reported(reports: list[FileReport]) -> Iterator[Part]:
    findings = merged(found for each in reports for found in each.findings)
    yield by_line(findings)
    fine = [each for each in reports if each.ok]
    yield Notes("", [f"{each.subject}: fine{_meaning(each)}" for each in fine], {": fine": "green"})
    elsewhere = {each.folder for each in reports if each.folder and each.folder not in sys.path}
    yield Notes("Imported from where the files are", sorted(elsewhere))
    severities = count_severities(each.severity.value for each in findings)
    yield f"{counted(len(reports), 'file')}: {severities}"


def _meaning(report: FileReport) -> str:
    if not report.backend:
        return ""
    count = counted(len(report.functions or ()), "function")
    if report.every_function:
        count = f"{count}, and every other one" if report.functions else "every function"
    return f" (backend {report.backend}, {count}{', conversions' * report.converts})"


def _report_as_json(report: FileReport) -> Json:
    names = ("every_function", "converts", "imported", "folder")
    return {
        "file": report.subject,
        "backend": report.backend,
        "functions": None if report.functions is None else len(report.functions),
        **{key: getattr(report, key) for key in names},
        **_of_file(report, "faults", "notes", "unchecked"),
    }


def _of_file(report: Report, *kinds: str) -> Json:
    """Return the findings of these kinds about a file."""
    names = ("severity", "line", "key", "message", "remedy")
    return {
        kind: [{name: getattr(each, name) for name in names} for each in getattr(report, kind)]
        for kind in kinds
    }


# update


@click.command(
    "update",
    help="""Write the functions that backends implement into their TOML files.

Import the modules in the table functions.auto-generation with all their submodules, and
write the functions that its BackendImplementation has registered. Comments, order and
formatting of everything else are kept, and a file with a fault is not changed.

A function in the file that the code does not register stays, and is named. With --prune it is
removed; then every submodule must be importable.

The exit code is 1 if a file has a fault. With --check, it is also 1 if a file is not up to
date: if the same command without --check would change it.""",
    epilog="""\b
Examples:
  spatch-core update src/mylib_gpu/backend.toml
  spatch-core update --check src/*/*.toml
  spatch-core update --check --prune src/mylib_gpu/backend.toml""",
)
@files_argument
@click.option("--check", is_flag=True, help="Write nothing; show what would change.")
@click.option("--prune", is_flag=True, help="Remove functions that the code does not register.")
@timeout_option
@json_option
@click.pass_context
def update_command(
    context: click.Context,
    files: tuple[str, ...],
    check: bool,
    prune: bool,
    timeout: float,
    as_json: bool,
) -> None:
    """Run ``spatch-core update``."""
    updates = [update_file(path, check, prune, timeout=timeout) for path in files]
    if as_json:
        show_json({"files": [_update_as_json(each) for each in updates]})
    else:
        if check:
            show_text("".join(f"{each.diff}\n" for each in updates if each.diff))
        show(_updated(updates))
    failed = any(each.faults or (check and not each.is_current) for each in updates)
    context.exit(1 if failed else 0)


def _updated(updates: list[FileUpdate]) -> Iterator[Part]:
    yield by_line(merged(found for each in updates for found in each.findings))
    verdicts = [_verdict(each) for each in updates]
    lines = [
        f"{each.subject}: {verdict}{_changes(each)}"
        for each, verdict in zip(updates, verdicts, strict=True)
    ]
    yield Notes("", lines, {": updated": "bold green", ": up to date": "green"})
    in_words = ", ".join(f"{number} {verdict}" for verdict, number in Counter(verdicts).items())
    yield f"{counted(len(updates), 'file')}: {in_words}"


def _verdict(update: FileUpdate) -> str:
    if update.faults:
        return "left as it was"
    if update.is_current:
        return "up to date"
    return "updated" if update.written else "not up to date"


def _changes(update: FileUpdate) -> str:
    numbers = [(len(getattr(update, name)), name) for name in ("added", "changed", "removed")]
    counts = ", ".join(f"{number} {name}" for number, name in numbers if number)
    return f" ({counts})" if counts else ""


def _update_as_json(update: FileUpdate) -> Json:
    names = ("is_current", "written", "added", "changed", "removed", "unregistered", "diff")
    return {
        "file": update.subject,
        **{name: getattr(update, name) for name in names},
        **_of_file(update, "faults", "unchecked"),
    }
