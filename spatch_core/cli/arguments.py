"""The arguments of commands: what their names mean, and their completion in the shell."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr

import click

from .._errors import nearest
from ..examination.libraries import (
    GROUP,
    Library,
    LoadedLibrary,
    find_libraries,
    import_public_names,
    list_backends,
    load_library,
)
from ..examination.question import LibraryError, UnknownNameError

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
    """Report names that mean nothing as wrong usage, and why a library cannot be used."""
    try:
        yield
    except (UnknownNameError, TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    except LibraryError as error:
        raise click.ClickException(str(error)) from None


# Libraries and backends


def chosen_libraries(name: str | None) -> list[Library]:
    """Return the libraries of this name, or all. The first of several with one name is in use."""
    libraries = find_libraries()
    chosen = [each for each in libraries if name in (None, each.name)]
    if name is None or chosen:
        return chosen
    hint = meant(name, dict.fromkeys(each.name for each in libraries), "registered")
    for each in libraries:
        if name in [backend.name for backend in list_backends(load_library(each))]:
            hint = f"it is a backend of the library {each.name}: name the library"
    raise click.UsageError(f"no library is named {name!r}; {hint}")


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
    if loaded.fault is not None:
        raise click.ClickException(loaded.describe(loaded.fault))
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
