"""``spatch-core verify``: what is wrong with the file of a backend, before users find out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import click

from .._identifiers import DEFAULT
from ._arguments import files_argument
from ._child import run
from ._findings import REST, Severity
from ._misspelled import meant_backend
from ._output import Column, Notes, Part, Table, show, show_json
from ._sources import BackendFile, Fault, count_faults, fault_parts, merged, read_file

_COLUMNS = (
    Column("file"),
    Column("backend"),
    Column("functions", is_number=True),
    Column("verdict", styles={"fine": "bold green"}),
)

_EPILOG = """\b
Examples:
  spatch-core verify src/mylib_gpu/backend.toml
  spatch-core verify --no-imports --json src/*/*.toml

\b
With --json, one object (keys may be added, none goes away):
  files: list of
    file                          as on the command line
    backend                       its name; null if it has none
    functions                     how many it implements; null if faulty
    imported                      whether imports were tried
    folder                        put on sys.path first, to import the package
                                    around the file; null if there is none
    faults: list of
      line                        of the key, or of what should hold it
      key                         the key path; null for the file as a whole
      message, remedy             what was found, and what was expected
    notes: list of                remarks, which are no faults
    unchecked: list of            what could not be checked here
      line, key, message, remedy  as above, in both"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said of a file.

    Parameters
    ----------
    file : BackendFile
        The file, with its faults.
    imported : bool
        Whether imports were tried.
    folder : str or None
        Where its own package was imported from.
    notes : list of Fault
        What might be better, which is no fault.
    unchecked : list of Fault
        What could not be imported, which is no fault either.
    """

    file: BackendFile
    imported: bool = False
    folder: str | None = None
    notes: list[Fault] = field(default_factory=list)
    unchecked: list[Fault] = field(default_factory=list)


@click.command("verify", epilog=_EPILOG)
@files_argument
@click.option("--no-imports", is_flag=True, help="Import nothing: check the file alone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its shape is below.")
@click.pass_context
def verify_command(
    context: click.Context, files: tuple[str, ...], no_imports: bool, as_json: bool
) -> None:
    """Check the TOML files of backends, and import everything that they name.

    All faults are shown at once, each with its line, its key, what was found and what was
    expected. The package around a file need not be installed: it is imported from where it
    stands.
    """
    verdicts = [_verify(path, not no_imports) for path in files]
    if as_json:
        show_json({"files": [_as_json(each) for each in verdicts]})
    else:
        show(_parts(verdicts))
    context.exit(1 if any(each.file.faults for each in verdicts) else 0)


def _verify(path: str, with_imports: bool) -> Verdict:
    file = read_file(path)
    for key, name in _declared_names(file):
        if meant_backend(name, [DEFAULT]):
            message = f"{name!r} is hardly a backend, but a misspelling of {DEFAULT!r}"
            file.fault(key, message, f"Did you mean {DEFAULT!r}?")
    file.faults.sort(key=lambda fault: fault.line)
    if not with_imports:
        return Verdict(file)
    folder = file.folder()
    verdict = Verdict(file, True, folder)
    report = run(
        f"{__package__}._probe_files:verify",
        {"file": path},
        f"importing what {path} names",
        folders=[] if folder is None else [folder],
    )
    for found, fault in file.import_faults(report):
        if found.is_absent and found.severity is Severity.WARNING:
            fault = replace(fault, remedy=f"{fault.remedy}; or leave imports out with --no-imports")
        if found.is_unchecked:
            verdict.unchecked.append(fault)
        else:
            (verdict.notes if found.severity is Severity.NOTE else file.faults).append(fault)
    if not report.is_complete:
        verdict.unchecked.append(file.fault_at(None, REST, "Repair what ends the interpreter"))
    for faults in (file.faults, verdict.notes, verdict.unchecked):
        faults.sort(key=lambda fault: fault.line)
    return verdict


def _declared_names(file: BackendFile) -> Iterator[tuple[str, str]]:
    """Yield the names of other backends, each with its key, where they are well-formed."""
    for key in ("higher_priority_than", "lower_priority_than"):
        names = file.fields.get(key)
        for position, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str):
                yield f"{key}[{position}]", name


def _parts(verdicts: list[Verdict]) -> Iterator[Part]:
    yield Table(_COLUMNS, [_row(each) for each in verdicts])
    yield from fault_parts(each.file for each in verdicts)
    yield Notes(
        "Notes",
        [
            f"{_place(each, key, fault)}{fault.message}. {fault.remedy}"
            for each in verdicts
            for key, fault in merged(each.notes)
        ],
    )
    yield Notes(
        "Not checked",
        [
            f"{_place(each, key, fault)}{fault.message}"
            for each in verdicts
            for key, fault in merged(each.unchecked)
        ],
    )
    elsewhere = {each.folder for each in verdicts if each.folder and each.folder not in sys.path}
    yield Notes("Imported from where the files are", sorted(elsewhere))


def _place(verdict: Verdict, key: str, fault: Fault) -> str:
    return f"{verdict.file.path}:{fault.line}: {key and f'{key}: '}"


def _row(verdict: Verdict) -> tuple[str, str, str, str]:
    file = verdict.file
    word = count_faults(file) if file.faults else "fine"
    functions = "" if file.description is None else str(len(file.description.functions))
    return (file.path, _name(file) or "", functions, word)


def _name(file: BackendFile) -> str | None:
    name = file.fields.get("name")
    return name if isinstance(name, str) else None


def _as_json(verdict: Verdict) -> dict[str, Any]:
    file = verdict.file
    return {
        "file": file.path,
        "backend": _name(file),
        "functions": None if file.description is None else len(file.description.functions),
        "imported": verdict.imported,
        "folder": verdict.folder,
        "faults": [each.as_json() for each in file.faults],
        "notes": [each.as_json() for each in verdict.notes],
        "unchecked": [each.as_json() for each in verdict.unchecked],
    }
