"""The arguments of commands: their checks, and their completion in the shell."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import redirect_stderr

import click

from .._errors import nearest
from .._patterns import split_identifier
from ..examination.backends import list_backends
from ..examination.libraries import (
    GROUP,
    Library,
    LoadedLibrary,
    find_libraries,
    import_public_names,
    load_library,
)
from ..examination.question import GivenType, given_type
from ..exceptions import IdentifierError

files_argument = click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False),
)
"""The TOML files of backends."""
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

NO_LIBRARY = f"No library is registered in the entry point group {GROUP}."


def chosen_libraries(name: str | None) -> list[Library]:
    """Return the libraries of this name, or all. The first of several with one name is in use.

    Raises
    ------
    click.UsageError
        If no library has this name.
    """
    libraries = find_libraries()
    chosen = [each for each in libraries if name in (None, each.name)]
    if name is None or chosen:
        return chosen
    names = list(dict.fromkeys(each.name for each in libraries))
    raise click.UsageError(f"no library is named {name!r}; {meant(name, names, 'registered')}")


def loaded_libraries(name: str | None) -> list[LoadedLibrary]:
    """Load the libraries of this name, or all, with all their functions."""
    loaded = [load_library(each) for each in chosen_libraries(name)]
    for each in loaded:
        if each.system is not None:
            import_public_names(each.library)
    return loaded


def usable_library(name: str) -> LoadedLibrary:
    """Load the library of this name, with a system and all functions.

    Raises
    ------
    click.ClickException
        If no library has this name, or it cannot be used.
    """
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
    return f"{what} are: {', '.join(names) or 'none'}"


def no_backend(name: str, names: Iterable[str], *more: str) -> click.UsageError:
    """Return the error about an unknown backend."""
    hint = meant(name, dict.fromkeys(names), "installed")
    return click.UsageError(". ".join([f"no backend is named {name!r}; {hint}", *more]))


def checked_identifier(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Check the syntax of an identifier; a click callback."""
    try:
        split_identifier(value)
    except IdentifierError as error:
        raise click.BadParameter(str(error)) from None
    return value


def checked_function(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Check the syntax of a function's identifier, and suggest one; a click callback."""
    try:
        return checked_identifier(context, parameter, value)
    except click.BadParameter as error:
        dotted = "." + value
        ends = [
            identifier
            for loaded in _loaded(None)
            for identifier in _functions(loaded)
            if f".{identifier.replace(':', '.')}".endswith(dotted)
        ]
        if not ends:
            raise
        hint = f"did you mean {' or '.join(sorted(ends)[:3])}?"
        raise click.BadParameter(f"{error.message}; {hint}") from None


def given_types(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[GivenType, ...]:
    """Import types, or create stand-ins for them; a click callback."""
    if context.resilient_parsing:  # the shell completes a line
        return ()
    try:
        return tuple(given_type(checked_identifier(context, parameter, each)) for each in values)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def given_type_or_none(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> GivenType | None:
    """Like `given_types`, for one type or none."""
    found = given_types(context, parameter, () if value is None else (value,))
    return found[0] if found else None


def complete_libraries(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete the name of a library, without importing any."""
    return _starting(incomplete, (each.name for each in find_libraries()))


def complete_backends(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete the name of a backend, of the library or function in another argument."""
    function = _given_function(context)
    names = (
        backend.name
        for loaded in _loaded(context.params.get("library"))
        if function is None or function in _functions(loaded)
        for backend in list_backends(loaded)
    )
    return _starting(incomplete, names)


def complete_functions(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete the identifier of a function."""
    libraries = _loaded(context.params.get("library"))
    return _starting(incomplete, (each for loaded in libraries for each in _functions(loaded)))


def complete_types(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete a type that backends of the function's library know."""
    function = _given_function(context)
    identifiers = (
        pattern.identifier
        for loaded in _loaded(None)
        if loaded.system is not None and function in _functions(loaded)
        for description in loaded.system.backends.values()
        for pattern in description.known_types
    )
    return _starting(incomplete, identifiers)


def _given_function(context: click.Context) -> str | None:
    """Return the function from earlier on the line."""
    function: str | None = context.params.get("function")
    if function is None and context.command.name == "explain":
        # While the value of an option is missing, click has not named the arguments.
        function = next(iter(context.args), None)
    return function


def _loaded(name: str | None) -> Iterator[LoadedLibrary]:
    for library in find_libraries():
        if name in (None, library.name):
            yield load_library(library)


def _functions(loaded: LoadedLibrary) -> Collection[str]:
    if loaded.system is None:
        return ()
    import_public_names(loaded.library)
    return loaded.system.functions


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    """Return the names that start with a text.

    The output of libraries that `names` loads is dropped: it would disturb the command line.
    """
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
        return sorted({name for name in names if name.startswith(incomplete)})
