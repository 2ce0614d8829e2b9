"""The arguments of commands: what their names mean, and what helps editors and shells."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from .._errors import nearest
from ..examination.choices import RecordError
from ..examination.libraries import (
    GROUP,
    Library,
    LoadedLibrary,
    find_libraries,
    import_public_names,
    list_backends,
    load_library,
    unknown_library,
)
from ..examination.question import LibraryError, UnknownNameError
from .output import COMPLETING, show_text

if TYPE_CHECKING:
    from importlib.abc import Traversable

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON; see spatch-core schema COMMAND."
)
timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of each child process.",
)

NO_LIBRARY = (
    f"No library is registered in the entry point group {GROUP}: is it in another environment?"
)
_TOO_MANY = 20
"""The number of names that an error lists."""


@contextmanager
def naming() -> Iterator[None]:
    """Report names that mean nothing as wrong usage, and why a library or a record is no use."""
    try:
        yield
    except (UnknownNameError, TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    except (LibraryError, RecordError) as error:
        raise click.ClickException(str(error)) from None


# Libraries and backends


def chosen_libraries(name: str | None) -> list[Library]:
    """Return the libraries of this name, or all. The first of several with one name is in use."""
    libraries = find_libraries()
    chosen = [each for each in libraries if name in (None, each.name)]
    if name is None or chosen:
        return chosen
    for each in libraries:
        if name in [backend.name for backend in list_backends(load_library(each))]:
            hint = f"it is a backend of the library {each.name}: name the library"
            raise click.UsageError(f"no library is named {name!r}; {hint}")
    raise click.UsageError(str(unknown_library(name, libraries)))


def loaded_libraries(name: str | None) -> list[LoadedLibrary]:
    """Load the libraries of this name, or all, with all their functions."""
    loaded = [load_library(each) for each in chosen_libraries(name)]
    for each in loaded:
        if each.system is not None:
            import_public_names(each.library)
    return loaded


def usable_library(name: str) -> LoadedLibrary:
    """Load the library of this name, with all functions, or raise an error if it has no system."""
    loaded = load_library(chosen_libraries(name)[0])
    if loaded.failure:
        raise click.ClickException(loaded.failure)
    import_public_names(loaded.library)
    return loaded


def meant(name: str, names: Iterable[str], what: str) -> str:
    """Ask for the nearest names; if none is near, list all names after `what`."""
    names = tuple(names)
    near = nearest(name, names)
    if near:
        return f"did you mean {' or '.join(near)}?"
    more = f" and {len(names) - _TOO_MANY} more" if len(names) > _TOO_MANY else ""
    return f"{what} are: {', '.join(names[:_TOO_MANY]) or 'none'}{more}"


# Completion: names without colons, at which bash splits words


def completing(
    names: Callable[[LoadedLibrary], Iterable[str]],
) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function that completes the names that each library has."""

    def complete(_context: click.Context, _parameter: click.Parameter, start: str) -> list[str]:
        # The output of libraries would disturb the command line.
        with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
            loaded = [load_library(each) for each in find_libraries()]
            found = {name.replace(":", ".") for each in loaded for name in names(each)}
        return sorted(name for name in found if name.startswith(start))

    return complete


def _backends(loaded: LoadedLibrary) -> Iterable[str]:
    return () if loaded.system is None else loaded.system.backends


def complete_libraries(
    _context: click.Context, _parameter: click.Parameter, start: str
) -> list[str]:
    """Complete the name of a library, without importing any."""
    return sorted({each.name for each in find_libraries() if each.name.startswith(start)})


complete_backends = completing(_backends)
complete_functions = completing(lambda loaded: loaded.functions)
complete_types = completing(lambda loaded: loaded.types)
complete_any = completing(
    lambda loaded: (loaded.library.name, *_backends(loaded), *loaded.functions)
)


# The commands ``schema`` and ``completion``


def shaped_commands() -> list[str]:
    """Return the commands that print JSON."""
    names = {each.name.removesuffix(".json") for each in _folder().iterdir()}
    return sorted(names - {"common"})


def shape(command: str) -> dict[str, Any]:
    """Return the JSON Schema of a command's output with ``--json``."""
    own, common = (
        json.loads((_folder() / f"{name}.json").read_text("utf-8")) for name in (command, "common")
    )
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"Output of spatch-core {command} --json",
        "description": "Later versions may add keys, but do not remove any.",
        **own,
        "$defs": common,
    }


def _folder() -> Traversable:
    return files(__name__.rpartition(".")[0]) / "shapes"


@click.command(
    "schema",
    help="""Print the JSON Schema of the TOML files of backends.

With COMMAND, print the JSON Schema of the output of COMMAND --json.""",
    epilog="""\b
Examples:
  spatch-core schema > backend.schema.json
  spatch-core schema list

With "#:schema ./backend.schema.json" in the first line of a TOML file, editors that use
Taplo (for example, Even Better TOML) complete and check it.

The schema checks each value by itself. Only spatch-core verify finds fields that contradict
each other, misspelled fields, and a backend that goes before itself.""",
)
@click.argument(
    "command", metavar="[COMMAND]", required=False, type=click.Choice(shaped_commands())
)
def schema_command(command: str | None) -> None:
    """Run ``spatch-core schema``."""
    if command is None:
        package = files(__name__.rpartition(".cli.")[0])
        show_text((package / "backend.schema.json").read_text("utf-8"))
    else:
        show_text(json.dumps(shape(command), indent=2) + "\n")


@click.command(
    "completion",
    help="""Print the script with which SHELL completes the arguments of spatch-core.""",
    epilog="""\b
Examples:
  spatch-core completion bash > spatch-core.bash, and source it in ~/.bashrc
  eval "$(spatch-core completion zsh)"
  spatch-core completion fish > ~/.config/fish/completions/spatch-core.fish

The script completes commands, options, and the names of installed libraries, backends,
functions and types. Completing a name may take as long as importing the libraries.""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Run ``spatch-core completion``."""
    found = get_completion_class(shell)
    assert found is not None  # click has one for each of these
    script = found(context.find_root().command, {}, "spatch-core", COMPLETING)
    # Not script.source(), which requires the shell: the script may be for another machine.
    show_text(script.source_template % script.source_vars())
