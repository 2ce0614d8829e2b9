"""``spatch-core libraries``: the registered libraries."""

from __future__ import annotations

from typing import Any

import click

from .._patterns import DEFAULT
from ..examination.backends import State, list_backends
from ..examination.libraries import GROUP, LoadedLibrary
from .arguments import NO_LIBRARY, json_option, loaded_libraries
from .findings import by_backend, closing, counted
from .output import Column, Table, show, show_json
from .records import distribution_text, library_as_json, problem_as_json

_COLUMNS = (
    Column("library"),
    Column("distribution"),
    Column("functions", is_number=True),
    Column("backends", is_number=True),
    Column("problems", is_number=True, styles={"0": "dim"}),
)

_EPILOG = f"""\b
Examples:
  spatch-core libraries
  spatch-core libraries --json

A library registers by an entry point in the group {GROUP}.
Exit code 1 if there are problems."""


@click.command("libraries", epilog=_EPILOG)
@json_option
@click.pass_context
def libraries_command(context: click.Context, as_json: bool) -> None:
    """Show the registered libraries.

    Each has its version, the number of its functions, the number of its usable backends, and
    its problems.
    """
    loaded = loaded_libraries(None)
    if as_json:
        show_json({"libraries": [_as_json(each) for each in loaded]})
    elif loaded:
        problems = ((each.library.name, each.problems) for each in loaded)
        end = closing(counted(len(loaded), "library"), *problems)
        show([Table(_COLUMNS, [_row(each) for each in loaded]), *end])
    else:
        show([NO_LIBRARY])
    context.exit(1 if any(each.problems for each in loaded) else 0)


def _counts(loaded: LoadedLibrary) -> tuple[int, int] | None:
    if loaded.system is None:
        return None
    usable = [
        each
        for each in list_backends(loaded)
        if each.state in (State.ACTIVE, State.WAITS, State.NEEDS_OPT_IN) and each.name != DEFAULT
    ]
    return len(loaded.system.functions), len(usable)


def _row(loaded: LoadedLibrary) -> tuple[str, ...]:
    counts = _counts(loaded)
    return (
        loaded.library.name,
        distribution_text(loaded.library.source),
        *(("", "") if counts is None else map(str, counts)),
        str(sum(len(each.lines) for each in by_backend(loaded.problems, loaded.library.name))),
    )


def _as_json(loaded: LoadedLibrary) -> dict[str, Any]:
    functions, backends = _counts(loaded) or (None, None)
    return {
        **library_as_json(loaded),
        "functions": functions,
        "backends": backends,
        "problems": [problem_as_json(each) for each in loaded.problems],
    }
