"""What commands take: libraries, identifiers, and types, imported or else stood in for.

Also what the shell offers for each while it is typed; see `_completion`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import cache

import click

from .._identifiers import import_identifier, nearest, split_identifier
from ..exceptions import IdentifierError
from ._libraries import (
    Library,
    LoadedLibrary,
    find_libraries,
    foreign_code,
    import_failure,
    import_public_names,
    load_library,
)


@dataclass(frozen=True, slots=True)
class GivenType:
    """A type that somebody named.

    Parameters
    ----------
    identifier : str
        As it was given.
    type : type
        The type itself, or a stand-in of the same module and qualname.
    note : str
        What people have to know about the stand-in; empty for the type itself.
    """

    identifier: str
    type: type
    note: str = ""


files_argument = click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False),
)
"""The TOML files of backends that a command is about."""


def chosen_libraries(name: str | None) -> list[Library]:
    """Return the libraries of this name, or all.

    Parameters
    ----------
    name : str or None
        The name of a library; None for all.

    Returns
    -------
    list of Library
        The first is the one that is used; others of its name are problems.

    Raises
    ------
    click.UsageError
        If there is none of this name.
    """
    libraries = find_libraries()
    chosen = [each for each in libraries if name in (None, each.name)]
    if name is None or chosen:
        return chosen
    names = list(dict.fromkeys(each.name for each in libraries))
    raise click.UsageError(f"no library is named {name!r}; {meant(name, names, 'registered')}")


def usable_library(name: str) -> LoadedLibrary:
    """Load a library that a command cannot do without, and all its functions.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    LoadedLibrary
        With a system.

    Raises
    ------
    click.ClickException
        If there is none of this name, or it cannot be used.
    """
    loaded = load_library(chosen_libraries(name)[0])
    if loaded.fault is not None:
        raise click.ClickException(loaded.describe(loaded.fault))
    import_public_names(loaded.library)
    return loaded


def meant(name: str, names: Iterable[str], what: str) -> str:
    """Ask whether one of the nearest `names` was meant, or say which there are.

    Parameters
    ----------
    name : str
        What was given.
    names : iterable of str
        What might have been.
    what : str
        What they are.
    """
    names = tuple(names)
    near = nearest(name, names)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"{what} are: {', '.join(names) or 'none'}"


def checked_identifier(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Check the form of an identifier; a click callback."""
    try:
        split_identifier(value)
    except IdentifierError as error:
        raise click.BadParameter(str(error)) from None
    return value


def checked_function(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Check the form of a function's identifier, or say which one was meant; a click callback."""
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
    """Import the types that identifiers name, or stand in for them; a click callback."""
    if context.resilient_parsing:  # the shell asks what could follow
        return ()
    return tuple(given_type(checked_identifier(context, parameter, value)) for value in values)


def given_type_or_none(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> GivenType | None:
    """Do the same for one type or none; a click callback."""
    found = given_types(context, parameter, () if value is None else (value,))
    return found[0] if found else None


def given_type(identifier: str) -> GivenType:
    """Import the type that an identifier names, or stand in for it.

    Raises
    ------
    click.BadParameter
        If what it names is no type, or is not there.
    """
    module, qualname = split_identifier(identifier)
    failure = import_failure(module)
    if failure:
        note = (
            f"{failure}, so a class of the same name stands in for {identifier}: without its "
            "base classes, and without other names for it"
        )
        return GivenType(identifier, _stand_in(module, qualname), note)
    try:
        with foreign_code():
            found = import_identifier(identifier)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a third party's attribute hook
        raise click.BadParameter(str(error)) from None
    if not isinstance(found, type):
        raise click.BadParameter(f"{identifier} is not a type, but {found!r}")
    return GivenType(identifier, found)


@cache
def _stand_in(module: str, qualname: str) -> type:
    """Make a class of this module and qualname, always the same one."""
    name = qualname.rpartition(".")[2]
    return type(name, (), {"__module__": module, "__qualname__": qualname})


def complete_libraries(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the names of libraries that the shell may offer; imports nothing of theirs."""
    return _starting(incomplete, (each.name for each in find_libraries()))


def complete_backends(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the names of backends that the shell may offer.

    Those of one library, if another argument tells which.
    """
    from ._backends import list_backends

    function = _given_function(context)
    with _completing():
        return _starting(
            incomplete,
            (
                backend.name
                for loaded in _loaded(context.params.get("library"))
                if function is None or function in _functions(loaded)
                for backend in list_backends(loaded)
            ),
        )


def complete_functions(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the identifiers of libraries' functions that the shell may offer."""
    with _completing():
        return _starting(
            incomplete,
            (
                identifier
                for loaded in _loaded(context.params.get("library"))
                for identifier in _functions(loaded)
            ),
        )


def complete_types(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the types that the shell may offer: those that the function's backends know."""
    function = _given_function(context)
    with _completing():
        return _starting(
            incomplete,
            (
                pattern.identifier
                for loaded in _loaded(None)
                if loaded.system is not None and function in _functions(loaded)
                for description in loaded.system.backends.values()
                for pattern in description.known_types
            ),
        )


def _given_function(context: click.Context) -> str | None:
    """Return the function that was given before what is being typed."""
    function: str | None = context.params.get("function")
    if function is None and context.command.name == "explain":
        # An option whose value is missing yet keeps click from naming the arguments.
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
    return sorted({name for name in names if name.startswith(incomplete)})


@contextmanager
def _completing() -> Iterator[None]:
    """Let nothing that libraries print get between the user and what is being typed."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
        yield
