"""``spatch-core verify``: what is wrong with the file of a backend, before users find out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import click

from ._arguments import files_argument
from ._child import ask
from ._output import Column, Notes, Part, Table, show, show_json
from ._sources import BackendFile, Fault, Mention, Role, count_faults, fault_parts, read_file

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
    unchecked: list of            types of packages that are not installed
      line, key, message, remedy  as above"""

_REPAIR = "Repair the module, or what it imports"


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
    unchecked : list of Fault
        What could not be imported, which is no fault.
    """

    file: BackendFile
    imported: bool = False
    folder: str | None = None
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
    if not with_imports:
        return Verdict(file)
    folder = file.folder()
    verdict = Verdict(file, True, folder)
    mentions = list(file.mentions())
    # The same thing under several keys is imported once.
    wanted = list(dict.fromkeys((each.role, each.text) for each in mentions))
    tasks = [
        {"role": role.value, "text": text, "name": file.fields.get("name")} for role, text in wanted
    ]
    folders = [] if folder is None else [folder]
    found = ask(f"{__package__}._probe", tasks, folders, f"importing what {path} names")
    answers = dict(zip(wanted, found, strict=True))
    for each in mentions:
        answer = answers[each.role, each.text]
        if "ended" in answer:
            file.fault(each.key, f"importing {each.text!r} failed: {answer['ended']}", _REPAIR)
        elif answer.get("absent") and each.role is Role.TYPE:
            verdict.unchecked.append(
                Fault(answer["message"], answer["remedy"], each.key, file.layout.line(each.key))
            )
        elif answer:
            file.fault(each.key, answer["message"], _remedy(each, answer, folder))
    file.faults.sort(key=lambda fault: fault.line)
    return verdict


def _remedy(mention: Mention, answer: dict[str, Any], folder: str | None) -> str:
    """Add what could not be done about a package that is not installed."""
    own = mention.text.partition(":")[0].partition(".")[0]
    if folder is None and answer["absent"] == own:
        return (
            f"Install it: no folder around the file is called {own!r} that it could be "
            "imported from; or leave imports out with --no-imports"
        )
    return str(answer["remedy"])


def _parts(verdicts: list[Verdict]) -> Iterator[Part]:
    yield Table(_COLUMNS, [_row(each) for each in verdicts])
    yield from fault_parts(each.file for each in verdicts)
    yield Notes(
        "Not checked",
        [
            f"{each.file.path}:{fault.line}: {fault.key}: {fault.message}"
            for each in verdicts
            for fault in each.unchecked
        ],
    )
    elsewhere = {each.folder for each in verdicts if each.folder and each.folder not in sys.path}
    yield Notes("Imported from where the files are", sorted(elsewhere))


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
        "unchecked": [each.as_json() for each in verdict.unchecked],
    }
