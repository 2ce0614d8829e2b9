"""``spatch-core update``: write the functions of a backend into its file, from its code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import unified_diff
from errno import EACCES, EPERM, EROFS
from pathlib import Path
from stat import S_IMODE
from tempfile import mkstemp
from typing import Any

import click

from .._description.fields import FUNCTION_FIELDS, NO_FUNCTIONS
from .._description.files import parse_toml
from ._arguments import files_argument
from ._child import run
from ._edit import CannotEdit, edit_functions
from ._output import Column, Part, Table, show, show_json, show_text
from ._sources import BackendFile, count_faults, fault_parts, read_file, validate

_TABLE = "functions.auto-generation"
_COLUMNS = (
    Column("file"),
    Column("added", is_number=True),
    Column("changed", is_number=True),
    Column("removed", is_number=True),
    Column("verdict", styles={"up to date": "green", "updated": "bold green"}),
)

_EPILOG = """\b
Examples:
  spatch-core update src/mylib_gpu/backend.toml
  spatch-core update --check src/*/*.toml

\b
With --json, one object (keys may be added, none goes away):
  files: list of
    file                          as on the command line
    is_current                    whether it already said what it should
    written                       whether it was rewritten
    added, changed, removed       lists of functions
    diff                          unified; empty if it is current
    faults: list of               why it could not be updated
      line, key                   where; key is null for the file as a whole
      message, remedy             what is wrong, and what to do"""


@dataclass(slots=True)
class Outcome:
    """What became of a file, or would become of it.

    Parameters
    ----------
    file : BackendFile
        The file before, with the faults that keep it from being updated.
    text : str
        What it is to say.
    added, changed, removed : list of str
        Functions.
    written : bool
        Whether it was rewritten.
    """

    file: BackendFile
    text: str
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    written: bool = False

    @property
    def is_current(self) -> bool:
        """Whether the file already said what it should."""
        return not self.file.faults and self.text == self.file.text

    @property
    def diff(self) -> str:
        """What the difference is."""
        path = self.file.path
        before, after = self.file.text.splitlines(), self.text.splitlines()
        lines = unified_diff(before, after, path, path, lineterm="")
        return "".join(f"{line}\n" for line in lines)


@click.command("update", epilog=_EPILOG)
@files_argument
@click.option("--check", is_flag=True, help="Write nothing; show what would change.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; its shape is below.")
@click.pass_context
def update_command(
    context: click.Context, files: tuple[str, ...], check: bool, as_json: bool
) -> None:
    """Write into the TOML files of backends which functions they implement.

    Imports the modules that stand in the table functions.auto-generation, and takes what
    its BackendImplementation has registered. Comments, order and formatting of everything
    else survive, and a file with any fault stays as it is. With --check, the exit code is 1
    if a file is not up to date.
    """
    outcomes = [_update(path, check) for path in files]
    if as_json:
        show_json({"files": [_as_json(each) for each in outcomes]})
    else:
        show(_parts(outcomes))
        if check:
            show_text("".join(f"\n{each.diff}" for each in outcomes if each.diff))
    failed = any(each.file.faults or (check and not each.is_current) for each in outcomes)
    context.exit(1 if failed else 0)


def _update(path: str, check: bool) -> Outcome:
    file = read_file(path)
    outcome = Outcome(file, file.text)
    registered = _registered(file)
    if registered is None:
        return outcome
    table = {key: value for key, value in _functions(file).items() if key not in NO_FUNCTIONS}
    defaults = _functions(file).get("defaults", {})
    wanted = {
        name: _fields(fields, table.get(name), defaults) for name, fields in registered.items()
    }
    try:
        outcome.text = edit_functions(file.text, table, wanted)
    except CannotEdit:
        file.fault("functions", "it is written on one line", "Write it as [functions]")
        return outcome
    outcome.added = sorted(wanted.keys() - table)
    outcome.removed = sorted(table.keys() - wanted)
    after = _parsed(path, outcome.text)
    if not _is_as_wanted(after, _functions(file), wanted):
        file.fault("functions", "its text cannot be changed safely", "Write it more plainly")
        outcome.text = file.text
        return outcome
    outcome.changed = sorted(each for each in table if each in after and after[each] != table[each])
    _check(outcome)
    if file.faults:
        outcome.text = file.text
    elif not check and not outcome.is_current:
        target = Path(path).resolve()
        try:
            _write(target, outcome.text)
            outcome.written = True
        except OSError as error:
            file.fault(None, f"it cannot be written: {error}", _writing_remedy(error, target))
    return outcome


def _writing_remedy(error: OSError, target: Path) -> str:
    if error.errno not in (EACCES, EPERM, EROFS):
        return "Make room for it in its folder"
    return f"Make {'the file' if error.filename == str(target) else 'its folder'} writable"


def _functions(file: BackendFile) -> Mapping[str, Any]:
    functions = file.fields.get("functions", {})
    return functions if isinstance(functions, dict) else {}


def _parsed(path: str, text: str) -> Mapping[str, Any]:
    """Return the functions of what was written; empty if it is no TOML any more."""
    try:
        return _functions(BackendFile(path, fields=parse_toml(text.encode())))
    except ValueError:
        return {}


def _is_as_wanted(
    after: Mapping[str, Any], before: Mapping[str, Any], wanted: Mapping[str, Any]
) -> bool:
    """Whether the new text says what it should, and all that it said besides."""
    exact = [key for key in FUNCTION_FIELDS if key != "additional_docs"]
    return (
        all(after.get(name) == before.get(name) for name in NO_FUNCTIONS)
        and after.keys() - set(NO_FUNCTIONS) == wanted.keys()
        and all(
            after[name].get(key) == fields.get(key)
            for name, fields in wanted.items()
            for key in exact
        )
    )


def _registered(file: BackendFile) -> dict[str, dict[str, Any]] | None:
    """Import what the file names; None, and faults, if that cannot be done."""
    table = _functions(file).get("auto-generation")
    # What is wrong with the functions may be mended by the update.
    serious = [
        each
        for each in file.faults
        if each.key is None or each.key in ("name", "functions") or each.key.startswith(_TABLE)
    ]
    if serious:
        file.faults[:] = serious
        return None
    file.faults.clear()
    if not table:
        file.fault(
            _TABLE,
            "there is no such table, or it is empty",
            "Name the BackendImplementation in it: backend = 'module:qualname'",
        )
        return None
    folder = file.folder()
    report = run(
        f"{__package__}._probe_files:update",
        {"file": file.path},
        f"importing what {file.path} names",
        folders=[] if folder is None else [folder],
    )
    file.faults += [fault for _, fault in file.import_faults(report)]
    functions: dict[str, dict[str, Any]] | None = report.last("functions")
    if not file.faults and not functions and _functions(file).keys() - NO_FUNCTIONS:
        file.fault(
            _TABLE,
            "importing what it names registered no function, but the file has some",
            "Name the modules that register them: modules = ['package.module']; or remove the "
            "functions by hand",
        )
    return None if file.faults else functions


def _fields(
    registered: Mapping[str, Any], present: Any, defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a file is to say of a function."""
    present = present if isinstance(present, dict) else {}
    fields = dict(registered)
    docs = present.get("additional_docs")
    if "additional_docs" not in fields or _same(docs, fields["additional_docs"]):
        fields["additional_docs"] = docs
    if not fields["uses_context"] and not defaults.get("uses_context"):
        said = present.get("uses_context") is False
        fields["uses_context"] = False if said else None
    return {
        key: value
        for key, value in fields.items()
        if value is not None and not (key in defaults and _same(value, defaults[key]))
    }


def _same(one: Any, other: Any) -> bool:
    """Whether two values mean the same: where lines of a text are broken means nothing."""
    if isinstance(one, str) and isinstance(other, str):
        return one.split() == other.split()
    return bool(one == other)


def _check(outcome: Outcome) -> None:
    """Report what the validator says of the new text."""
    file = outcome.file
    after = BackendFile(file.path, outcome.text, parse_toml(outcome.text.encode()))
    validate(after)
    for each in after.faults:
        file.fault(each.key, each.message, each.remedy)


def _write(path: Path, text: str) -> None:
    """Exchange the content of a file for another one, at once or not at all."""
    with open(path, "r+b") as old:  # its folder may be writable when the file is not
        mode = S_IMODE(os.fstat(old.fileno()).st_mode)
    handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "wb") as new:
            new.write(text.encode())
            new.flush()
            os.fsync(handle)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _parts(outcomes: list[Outcome]) -> Iterator[Part]:
    yield Table(_COLUMNS, [_row(each) for each in outcomes])
    yield from fault_parts(each.file for each in outcomes)


def _row(outcome: Outcome) -> tuple[str, str, str, str, str]:
    faults = outcome.file.faults
    if faults:
        word = f"{count_faults(outcome.file)}, left as it was"
    elif outcome.is_current:
        word = "up to date"
    else:
        word = "updated" if outcome.written else "not up to date"
    numbers = [len(each) for each in (outcome.added, outcome.changed, outcome.removed)]
    added, changed, removed = ["" if faults else str(each) for each in numbers]
    return (outcome.file.path, added, changed, removed, word)


def _as_json(outcome: Outcome) -> dict[str, Any]:
    return {
        "file": outcome.file.path,
        "is_current": outcome.is_current,
        "written": outcome.written,
        "added": outcome.added,
        "changed": outcome.changed,
        "removed": outcome.removed,
        "diff": outcome.diff,
        "faults": [each.as_json() for each in outcome.file.faults],
    }
