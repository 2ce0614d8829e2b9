"""``spatch-core update``: write the functions that a backend's code registers into its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import click

from ..examination.update import FileUpdate, update_file
from .arguments import files_argument, json_option
from .findings import by_line, counted, finding_as_json
from .output import Notes, Part, show, show_json
from .streams import show_text

_EPILOG = """\b
Examples:
  spatch-core update src/mylib_gpu/backend.toml
  spatch-core update --check src/*/*.toml
  spatch-core update --check --prune src/mylib_gpu/backend.toml"""


@click.command("update", epilog=_EPILOG)
@files_argument
@click.option("--check", is_flag=True, help="Write nothing; show what would change.")
@click.option("--prune", is_flag=True, help="Remove functions that the code does not register.")
@json_option
@click.pass_context
def update_command(
    context: click.Context, files: tuple[str, ...], check: bool, prune: bool, as_json: bool
) -> None:
    """Write the functions that backends implement into their TOML files.

    Import the modules in the table functions.auto-generation with all their submodules, and
    write the functions that its BackendImplementation has registered. Comments, order and
    formatting of everything else are kept, and a file with a fault is not changed.

    A function in the file that the code does not register stays, and is named. With --prune it is
    removed; then every submodule must be importable.

    The exit code is 1 if a file has a fault. With --check, it is also 1 if a file is not up to
    date: if the same command without --check would change it.
    """
    try:
        updates = [update_file(path, check, prune) for path in files]
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
        if check:
            show_text("".join(f"{each.diff}\n" for each in updates if each.diff))
        show(_parts(updates))
    failed = any(each.faults or (check and not each.is_current) for each in updates)
    context.exit(1 if failed else 0)


def _parts(updates: list[FileUpdate]) -> Iterator[Part]:
    yield by_line(found for each in updates for found in each.findings)
    verdicts = [(each, _verdict(each)) for each in updates]
    lines = [f"{each.subject}: {verdict}{_counts(each)}" for each, verdict in verdicts]
    yield Notes("", lines, {": updated": "bold green", ": up to date": "green"})
    counts = Counter(verdict for _, verdict in verdicts).items()
    in_words = ", ".join(f"{number} {verdict}" for verdict, number in counts)
    yield f"{counted(len(updates), 'file')}: {in_words}"


def _verdict(update: FileUpdate) -> str:
    if update.faults:
        return "left as it was"
    if update.is_current:
        return "up to date"
    return "updated" if update.written else "not up to date"


def _counts(update: FileUpdate) -> str:
    names = ("added", "changed", "removed")
    numbers = [(len(getattr(update, name)), name) for name in names]
    counts = ", ".join(f"{number} {name}" for number, name in numbers if number)
    return f" ({counts})" if counts else ""


def _as_json(update: FileUpdate) -> dict[str, Any]:
    names = ("is_current", "written", "added", "changed", "removed", "unregistered", "diff")
    return {
        "file": update.subject,
        **{name: getattr(update, name) for name in names},
        "faults": [finding_as_json(each) for each in update.faults],
        "unchecked": [finding_as_json(each) for each in update.unchecked],
    }
