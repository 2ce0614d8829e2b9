"""``spatch-core stubs``: write stubs of a library for type checkers."""

from __future__ import annotations

from pathlib import Path

import click

from ..examination.stubs import ForeignFileError, make_stubs, write_stubs
from .arguments import complete_libraries, usable_library
from .findings import counted
from .output import Notes, Part, show

_EPILOG = """\b
Examples:
  spatch-core stubs scipy_dispatch
  spatch-core stubs scipy_dispatch -o build/typings

Pyright reads the folder typings by itself; mypy with mypy_path = "typings"."""


@click.command("stubs", epilog=_EPILOG)
@click.argument("library", shell_complete=complete_libraries)
@click.option(
    "-o",
    "--output",
    default="typings",
    show_default=True,
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    help="The folder to write to; only stubs of this command are overwritten.",
)
def stubs_command(library: str, output: str) -> None:
    """Write stubs of LIBRARY and its installed backends for type checkers.

    Each function has an overload for each primary type of each backend that implements it, and
    the library's own signature last. No backend is imported.
    """
    stubs = make_stubs(usable_library(library))
    try:
        write_stubs(stubs.texts, Path(output))
    except ForeignFileError as error:
        raise click.ClickException(str(error)) from None
    parts: list[Part] = [Notes("Left out", stubs.left_out)]
    files = counted(len(stubs.texts), "file")
    parts.append(f"{output}: {files}, {counted(stubs.functions, 'function')}")
    show(parts)
