"""``spatch-core update``: write the functions of a backend into its file, from its code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from ..examination.update import FileUpdate, update_file
from .arguments import files_argument, json_option
from .json_shape import JsonCommand
from .output import Column, Part, Table, show, show_json
from .streams import show_text
from .verify import count_faults, fault_parts, finding_as_json

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
  spatch-core update --check src/*/*.toml"""


@click.command("update", cls=JsonCommand, epilog=_EPILOG)
@files_argument
@click.option("--check", is_flag=True, help="Write nothing; show what would change.")
@json_option
@click.pass_context
def update_command(
    context: click.Context, files: tuple[str, ...], check: bool, as_json: bool
) -> None:
    """Write into the TOML files of backends which functions they implement.

    Imports the modules that the table functions.auto-generation lists, and takes what its
    BackendImplementation has registered. Comments, order and formatting of everything else
    survive, and a file with any fault stays as it is. With --check, the exit code is 1
    if a file is not up to date.
    """
    try:
        updates = [update_file(path, check) for path in files]
    except ModuleNotFoundError as error:
        if error.name != "tomlkit":
            raise
        click.echo(
            "spatch-core needs tomlkit to write functions into a file: "
            "pip install 'spatch-core[cli]'",
            err=True,
        )
        context.exit(2)
    if as_json:
        show_json({"files": [_as_json(each) for each in updates]})
    else:
        show(_parts(updates))
        if check:
            show_text("".join(f"\n{each.diff}" for each in updates if each.diff))
    failed = any(each.findings or (check and not each.is_current) for each in updates)
    context.exit(1 if failed else 0)


def _parts(updates: list[FileUpdate]) -> Iterator[Part]:
    yield Table(_COLUMNS, [_row(each) for each in updates])
    yield from fault_parts(each.findings for each in updates)


def _row(update: FileUpdate) -> tuple[str, str, str, str, str]:
    faults = [*update.findings]
    if faults:
        word = f"{count_faults(faults)}, left as it was"
    elif update.is_current:
        word = "up to date"
    else:
        word = "updated" if update.written else "not up to date"
    numbers = [len(each) for each in (update.added, update.changed, update.removed)]
    added, changed, removed = ["" if faults else str(each) for each in numbers]
    return (update.subject, added, changed, removed, word)


def _as_json(update: FileUpdate) -> dict[str, Any]:
    names = ("is_current", "written", "added", "changed", "removed", "diff")
    return {
        "file": update.subject,
        **{name: getattr(update, name) for name in names},
        "faults": [finding_as_json(each) for each in update.findings],
    }
