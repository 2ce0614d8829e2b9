"""``spatch-core functions``: the functions of a library by its backends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from ..examination.libraries import LoadedLibrary
from .arguments import complete_libraries, json_option, usable_library
from .findings import closing, counted
from .output import Column, Fitting, Notes, Part, Table, show, show_json
from .records import problem_as_json

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

_STYLES = {"yes": "green", "asks": "yellow"}

_EPILOG = """\b
Examples:
  spatch-core functions scipy_dispatch
  spatch-core functions scipy_dispatch --json

Exit code 1 if there are problems."""


@click.command("functions", epilog=_EPILOG)
@click.argument("library", shell_complete=complete_libraries)
@json_option
@click.pass_context
def functions_command(context: click.Context, library: str, as_json: bool) -> None:
    """Show which backends implement which functions of LIBRARY.

    A matrix: "yes" where a backend implements a function, "asks" where its should_run is
    asked first. A terminal that is too narrow gets it transposed, or as lists of names.
    """
    loaded = usable_library(library)
    assert loaded.system is not None
    rows = _rows(loaded.system)
    if as_json:
        show_json(_as_json(loaded, loaded.system, rows))
    else:
        show(_parts(loaded, loaded.system, rows))
    context.exit(1 if loaded.problems else 0)


@dataclass(frozen=True, slots=True)
class _Row:
    """A function and its backends by priority, each with its cell of the matrix."""

    function: str
    cells: dict[str, str]
    is_dispatchable: bool = True


def _rows(system: BackendSystem) -> list[_Row]:
    descriptions = system.backends
    rows = []
    for identifier in sorted(system.functions):
        names = system.functions[identifier].backends
        cells = dict.fromkeys(names, "yes")
        for name in names:
            implementation = descriptions[name].functions.get(identifier)
            if implementation is not None and implementation.should_run is not None:
                cells[name] = "asks"
        rows.append(_Row(identifier, cells))
    others: dict[str, dict[str, str]] = {}
    for name, description in descriptions.items():
        for identifier, implementation in description.functions.items():
            if identifier not in system.functions:
                cell = "yes" if implementation.should_run is None else "asks"
                others.setdefault(identifier, {})[name] = cell
    rows += [_Row(each, others[each], is_dispatchable=False) for each in sorted(others)]
    return rows


def _parts(loaded: LoadedLibrary, system: BackendSystem, rows: list[_Row]) -> list[Part]:
    names = [loaded.shown(name) for name in system.backends]
    rows = [
        replace(row, cells={loaded.shown(name): cell for name, cell in row.cells.items()})
        for row in rows
    ]
    functions = [row for row in rows if row.is_dispatchable]
    parts: list[Part] = [f"{loaded.library.name}: which backends implement which functions"]
    if functions:
        parts.append(Fitting([_matrix(names, functions), *_narrower(names, functions)]))
    without = [name for name in names if not any(name in row.cells for row in functions)]
    parts.append(Notes("Implement none of them", [", ".join(without)] if without else []))
    others = [f"{row.function}: {', '.join(row.cells)}" for row in rows if not row.is_dispatchable]
    parts.append(Notes("Not functions of the library", others))
    text = f"{counted(len(functions), 'function')}, {counted(len(names), 'backend')}"
    return [*parts, *closing(text, (loaded.library.name, loaded.problems))]


def _matrix(names: list[str], rows: list[_Row]) -> Table:
    columns = [Column("function"), *(Column(n, styles=_STYLES, is_name=True) for n in names)]
    cells = [(row.function, *(row.cells.get(name, "") for name in names)) for row in rows]
    return Table(columns, cells)


def _narrower(names: list[str], rows: list[_Row]) -> list[Table]:
    """Return the same as tables that need not be as wide."""
    functions = [Column(row.function, styles=_STYLES, is_name=True) for row in rows]
    transposed = Table(
        [Column("backend"), *functions],
        [(name, *(row.cells.get(name, "") for row in rows)) for name in names],
    )
    listed = Table(
        [Column("function"), Column("yes"), Column("asks")],
        [(row.function, _with(row, "yes"), _with(row, "asks")) for row in rows],
    )
    return [transposed, listed]


def _with(row: _Row, cell: str) -> str:
    found = [name for name, each in row.cells.items() if each == cell]
    return ", ".join(found)


def _as_json(loaded: LoadedLibrary, system: BackendSystem, rows: list[_Row]) -> dict[str, Any]:
    return {
        "library": loaded.library.name,
        "backends": list(system.backends),
        "functions": [
            {
                "function": row.function,
                "backends": list(row.cells),
                "asks": [name for name, cell in row.cells.items() if cell == "asks"],
                "is_dispatchable": row.is_dispatchable,
            }
            for row in rows
        ],
        "problems": [problem_as_json(each) for each in loaded.problems],
    }
