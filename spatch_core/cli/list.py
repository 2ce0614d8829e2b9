"""``spatch-core list``: the backends of libraries by priority, with their states."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from ..examination.backends import ListedBackend, State, current_backend, list_backends
from ..examination.libraries import LoadedLibrary
from .arguments import NO_LIBRARY, complete_libraries, json_option, loaded_libraries
from .findings import closing, counted, state_notes
from .output import Cell, Column, Part, Table, show, show_json
from .records import (
    STATE_STYLES,
    backend_as_json,
    distribution_text,
    library_as_json,
    problem_as_json,
)

_COLUMNS = (
    Column("backend"),
    Column("state", styles=STATE_STYLES),
    Column("types"),
    Column("opt-in"),
    Column("functions", is_number=True),
    Column("distribution"),
)

_EPILOG = """\b
Examples:
  spatch-core list
  spatch-core list scipy_dispatch --json

Exit code 1 if there are problems."""


@click.command("list", epilog=_EPILOG)
@click.argument("library", required=False, shell_complete=complete_libraries)
@json_option
@click.pass_context
def list_command(context: click.Context, library: str | None, as_json: bool) -> None:
    """Show the backends of LIBRARY, or of all libraries, by priority.

    Each backend has its state, its types (a secondary type is accepted, but converted),
    whether it requires opt-in, the number of its functions, and its distribution. Problems
    follow. In a pipe, a backend has a line for each type, with all other columns repeated.
    """
    loaded = loaded_libraries(library)
    if as_json:
        show_json({"libraries": [listed_as_json(each) for each in loaded]})
    else:
        show([*(part for each in loaded for part in _parts(each)), *_closing(loaded)])
    context.exit(1 if any(each.problems for each in loaded) else 0)


def _parts(loaded: LoadedLibrary) -> list[Part]:
    source = loaded.library.source
    parts: list[Part] = [f"{loaded.library.name}  {distribution_text(source)}"]
    backends = list_backends(loaded)
    if backends:
        parts.append(Table(_COLUMNS, [_row(each, loaded) for each in backends]))
    current = current_backend(loaded)
    if current is not None:
        parts.append(f"Current backend: {loaded.shown(current)}")
    remarked = (State.WAITS, State.NEEDS_OPT_IN, State.INACTIVE, State.BLOCKED)
    inactive = [each for each in backends if each.state in remarked]
    return [*parts, state_notes("Not active", inactive)]


def _closing(loaded: list[LoadedLibrary]) -> list[Part]:
    if not loaded:
        return [NO_LIBRARY]
    states = Counter(each.state.value for library in loaded for each in list_backends(library))
    text = counted(states.total(), "backend")
    if len(loaded) > 1:
        text += f" of {len(loaded)} libraries"
    counts = ", ".join(f"{states[each]} {each.value}" for each in State if states[each])
    problems = ((each.library.name, each.problems) for each in loaded)
    return closing(f"{text}: {counts}" if counts else text, *problems)


def _row(backend: ListedBackend, loaded: LoadedLibrary) -> tuple[Cell, ...]:
    description = backend.description
    types = []
    if description is not None:
        types += [str(pattern) for pattern in description.primary_types]
        types += [f"{pattern} (secondary)" for pattern in description.secondary_types]
    return (
        loaded.shown(backend.name),
        backend.state.value,
        tuple(types),
        "" if description is None else "yes" if description.requires_opt_in else "no",
        "" if backend.functions is None else str(backend.functions),
        distribution_text(backend.source),
    )


def listed_as_json(loaded: LoadedLibrary) -> dict[str, Any]:
    """Return a library as ``list --json`` prints it."""
    return {
        **library_as_json(loaded),
        "backend": current_backend(loaded),
        "backends": [backend_as_json(each) for each in list_backends(loaded)],
        "problems": [problem_as_json(each) for each in loaded.problems],
    }
