"""The arguments of commands: what their names mean, and their completion in the shell."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import redirect_stderr

import click

from .._errors import nearest
from .._patterns import split_identifier
from ..examination.child import import_failure
from ..examination.libraries import (
    GROUP,
    Library,
    LoadedLibrary,
    find_libraries,
    import_public_names,
    load_library,
)
from ..examination.question import LibraryError, UnknownFunctionError, find_function
from ..exceptions import IdentifierError

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
_TOO_MANY = 20
"""The number of names that an error lists."""


# Libraries and backends


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
    more = f" and {len(names) - _TOO_MANY} more" if len(names) > _TOO_MANY else ""
    return f"{what} are: {', '.join(names[:_TOO_MANY]) or 'none'}{more}"


# Functions and types, which people write as in a program


def function_named(text: str, libraries: Iterable[LoadedLibrary]) -> str | None:
    """Return the function that is named exactly, or else the only one that may be meant.

    ``lib.module:blur`` may be meant by ``blur``, ``lib.blur`` and ``module.blur``.

    Raises
    ------
    click.UsageError
        If several may be meant.
    """
    found = set()
    for each in libraries:
        for identifier in functions_of(each):
            dotted = identifier.replace(":", ".")
            if text in (identifier, dotted):
                return identifier
            short = f"{each.library.name}.{identifier.partition(':')[2]}"
            if f".{dotted}".endswith(f".{text}") or text == short:
                found.add(identifier)
    if len(found) > 1:
        names = ", ".join(sorted(found))
        raise click.UsageError(f"{text!r} may be each of these functions: {names}")
    return found.pop() if found else None


def found_function(text: str, types: Iterable[str] = ()) -> tuple[LoadedLibrary, str]:
    """Find a function by its identifier, or by a name that no other function has.

    Raises
    ------
    click.ClickException
        If no library has it, several functions have the name, or its library cannot be used.
    """
    identifier, libraries = text, []
    if ":" not in text:
        libraries = [load_library(each) for each in find_libraries()]
        found = function_named(text, libraries)
        for each in libraries:
            if found in functions_of(each):
                return each, str(found)
        if "." not in text:
            raise unknown_function(text, libraries)
        identifier = _with_colon(text)
    try:
        return find_function(checked(identifier), types)
    except UnknownFunctionError as error:
        raise (
            unknown_function(text, libraries) if libraries else click.UsageError(str(error))
        ) from None
    except LibraryError as error:
        raise click.ClickException(str(error)) from None


def unknown_function(text: str, libraries: Iterable[LoadedLibrary]) -> click.UsageError:
    """Return the error about a function that none of the libraries has, with the nearest ones."""
    known: dict[str, str] = {}
    for each in libraries:
        for identifier in functions_of(each):
            qualname = identifier.partition(":")[2]
            names = (identifier, qualname, f"{each.library.name}.{qualname}")
            known |= dict.fromkeys(names, identifier)
    near = dict.fromkeys(known[each] for each in nearest(text, known))
    hint = f"did you mean {' or '.join(near)}?" if near else "write module:qualname"
    return click.UsageError(f"no library has a function {text!r}; {hint}")


def checked(identifier: str) -> str:
    """Check the syntax of an identifier."""
    try:
        split_identifier(identifier)
    except IdentifierError as error:
        raise click.UsageError(str(error)) from None
    return identifier


def type_named(text: str) -> str:
    """Return the identifier of a type: of ``decimal.Decimal``, and of ``int``.

    Keeps the prefix of a pattern.
    """
    name = text.lstrip("~@")
    prefix = text[: len(text) - len(name)]
    if ":" not in name and "." in name:
        return prefix + _with_colon(name)
    if isinstance(getattr(builtins, name, None), type):
        return f"{prefix}builtins:{name}"
    return text


def _with_colon(text: str) -> str:
    """Return a dotted name as an identifier, with the longest module that can be imported."""
    parts = text.split(".")
    for number in range(len(parts) - 1, 0, -1):
        module, qualname = ".".join(parts[:number]), ".".join(parts[number:])
        if all(each.isidentifier() for each in parts) and not import_failure(module):
            return f"{module}:{qualname}"
    return ":".join(text.rsplit(".", 1))


def functions_of(loaded: LoadedLibrary) -> Collection[str]:
    """Return the identifiers of a library's functions, also of those that it imports lazily."""
    if loaded.system is None:
        return ()
    import_public_names(loaded.library)
    return loaded.system.functions


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


def _types(loaded: LoadedLibrary) -> Iterator[str]:
    if loaded.system is not None:
        for description in loaded.system.backends.values():
            yield from (each.identifier for each in description.known_types)


def complete_libraries(
    _context: click.Context, _parameter: click.Parameter, start: str
) -> list[str]:
    """Complete the name of a library, without importing any."""
    return sorted({each.name for each in find_libraries() if each.name.startswith(start)})


complete_backends = completing(_backends)
complete_functions = completing(functions_of)
complete_types = completing(_types)
complete_any = completing(
    lambda loaded: (loaded.library.name, *_backends(loaded), *functions_of(loaded))
)
