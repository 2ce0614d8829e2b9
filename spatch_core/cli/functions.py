"""``spatch-core functions``: the functions of a library, by backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..examination.libraries import LoadedLibrary, is_adopted
from .arguments import complete_libraries, json_option, usable_library
from .findings import closing, counted
from .output import Column, Notes, Part, Table, show, show_json
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

    In the matrix, "yes" means that a backend implements a function, "asks" that its
    should_run decides. In a narrow terminal, each function has a list instead.
    """
    loaded = usable_library(library)
    if as_json:
        show_json(functions_as_json(loaded))
    else:
        show(_parts(loaded, _rows(loaded.usable)))
    context.exit(1 if loaded.problems else 0)


def functions_as_json(loaded: LoadedLibrary) -> dict[str, Any]:
    """Return a library as ``functions --json`` prints it."""
    return {
        "library": loaded.library.name,
        "backends": list(loaded.usable.backends),
        "functions": _rows(loaded.usable),
        "problems": [problem_as_json(each) for each in loaded.problems],
    }


def _rows(system: BackendSystem) -> list[dict[str, Any]]:
    """Return the functions of the library, then unknown functions that backends name, for JSON.

    Adopted functions, such as NumPy's, are included if a backend names them.
    """
    descriptions = system.backends
    names = {each: list(system.functions[each].backends) for each in sorted(system.functions)}
    others: dict[str, list[str]] = {}
    for name, description in descriptions.items():
        for identifier in description.functions.keys() - names.keys():
            others.setdefault(identifier, []).append(name)
    adopted = [each for each in sorted(others) if is_adopted(system, each)]
    names.update((each, others.pop(each)) for each in adopted)

    def asks(identifier: str, name: str) -> bool:
        implementation = descriptions[name].functions.get(identifier)
        return implementation is not None and implementation.should_run is not None

    return [
        {
            "function": identifier,
            "backends": backends,
            "asks": [name for name in backends if asks(identifier, name)],
            "is_dispatchable": identifier in names,
        }
        for identifier, backends in [*names.items(), *sorted(others.items())]
    ]


def _parts(loaded: LoadedLibrary, rows: list[dict[str, Any]]) -> list[Part]:
    names = list(loaded.usable.backends)
    functions = [row for row in rows if row["is_dispatchable"]]
    parts: list[Part] = [f"{loaded.library.name}: which backends implement which functions"]
    if functions:
        columns = [
            Column("function"),
            *(Column(loaded.shown(n), styles=_STYLES, is_name=True) for n in names),
        ]
        cells = [(row["function"], *(_cell(row, name) for name in names)) for row in functions]
        parts.append(Table(columns, cells))
    without = [
        loaded.shown(name)
        for name in names
        if not any(name in row["backends"] for row in functions)
    ]
    parts.append(Notes("Implement none of them", [", ".join(without)] if without else []))
    others = [row for row in rows if not row["is_dispatchable"]]
    lines = [
        f"{row['function']}: {', '.join(map(loaded.shown, row['backends']))}" for row in others
    ]
    parts.append(Notes("Not functions of the library", lines))
    text = f"{counted(len(functions), 'function')}, {counted(len(names), 'backend')}"
    return [*parts, *closing(text, (loaded.library.name, loaded.problems))]


def _cell(row: dict[str, Any], name: str) -> str:
    return "asks" if name in row["asks"] else "yes" if name in row["backends"] else ""
