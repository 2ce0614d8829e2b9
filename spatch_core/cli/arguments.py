"""The arguments of commands: what their names mean, and their completion in the shell."""

from __future__ import annotations

import builtins
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import redirect_stderr

import click

from .._errors import nearest
from .._patterns import split_identifier
from ..examination.backends import list_backends
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


def no_backend(name: str, names: Iterable[str]) -> click.UsageError:
    """Return the error about an unknown backend."""
    hint = meant(name, dict.fromkeys(names), "installed")
    return click.UsageError(f"no backend is named {name!r}; {hint}")


# Functions and types, which people write as in a program


def functions_named(text: str, loaded: Iterable[LoadedLibrary]) -> list[str]:
    """Return the functions that ``blur``, ``lib.blur`` or ``lib.module.blur`` may name.

    If one is named exactly, it is the only one.
    """
    found = set()
    for each in loaded:
        for identifier in _functions(each):
            dotted = identifier.replace(":", ".")
            if text in (identifier, dotted):
                return [identifier]
            short = f"{each.library.name}.{identifier.partition(':')[2]}"
            if f".{dotted}".endswith(f".{text}") or text == short:
                found.add(identifier)
    return sorted(found)


def one_of(text: str, found: list[str], what: str) -> str | None:
    """Return the only name that was found, or None.

    Raises
    ------
    click.UsageError
        If several were found.
    """
    if len(found) > 1:
        raise click.UsageError(f"{text!r} may be each of these {what}: {', '.join(found)}")
    return found[0] if found else None


def found_function(text: str, types: Iterable[str] = ()) -> tuple[LoadedLibrary, str]:
    """Find a function by its identifier, or by a name that no other function has.

    Raises
    ------
    click.ClickException
        If no library has it, several functions have the name, or its library cannot be used.
    """
    identifier, libraries = text, []
    if ":" not in text:
        libraries = [*_loaded(None)]
        found = one_of(text, functions_named(text, libraries), "functions")
        for each in libraries:
            if found in _functions(each):
                return each, str(found)
        if "." not in text:
            raise _no_function(text, libraries)
        identifier = _with_colon(text)
    try:
        return find_function(checked(identifier), types)
    except UnknownFunctionError as error:
        raise (
            _no_function(text, libraries) if libraries else click.UsageError(str(error))
        ) from None
    except LibraryError as error:
        raise click.ClickException(str(error)) from None


def _no_function(text: str, libraries: Iterable[LoadedLibrary]) -> click.UsageError:
    """Return the error about an unknown function that was written as in a program."""
    known = {}
    for each in libraries:
        for identifier in _functions(each):
            qualname = identifier.partition(":")[2]
            for name in (qualname, f"{each.library.name}.{qualname}"):
                known[name] = identifier
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

    A type that only the backends of libraries name may be written without its module, too. Keeps
    the prefix of a pattern.
    """
    name = text.lstrip("~@")
    if ":" in name:
        return text
    prefix = text[: len(text) - len(name)]
    if "." in name:
        return prefix + _with_colon(name)
    if isinstance(getattr(builtins, name, None), type):
        return f"{prefix}builtins:{name}"
    found = {
        pattern.identifier
        for loaded in _loaded(None)
        if loaded.system is not None
        for description in loaded.system.backends.values()
        for pattern in description.known_types
        if pattern.qualname == name
    }
    return prefix + checked(one_of(name, sorted(found), "types") or name)


def _with_colon(text: str) -> str:
    """Return a dotted name as an identifier, with the longest module that can be imported."""
    parts = text.split(".")
    for number in range(len(parts) - 1, 0, -1):
        module, qualname = ".".join(parts[:number]), ".".join(parts[number:])
        if all(each.isidentifier() for each in parts) and not import_failure(module):
            return f"{module}:{qualname}"
    return ":".join(text.rsplit(".", 1))


# Completion


def complete_libraries(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete the name of a library, without importing any."""
    return _starting(incomplete, (each.name for each in find_libraries()))


def complete_backends(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete the name of a backend, of the library or function in another argument."""
    return _starting(incomplete, _backends(context))


def complete_functions(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete the identifier of a function."""
    libraries = _loaded(context.params.get("library"))
    return _starting(incomplete, (each for loaded in libraries for each in _functions(loaded)))


def complete_any(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a library or backend, or, from its first dot on, of a function."""
    if "." in incomplete or ":" in incomplete:
        return complete_functions(context, _parameter, incomplete)
    library = context.params.get("library")
    libraries = [] if library else [each.name for each in find_libraries()]
    return _starting(
        incomplete, (name for part in (libraries, _backends(context)) for name in part)
    )


def complete_types(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete a type that backends of the function's library know."""
    function = _given_function(context)
    identifiers = (
        pattern.identifier
        for loaded in _loaded(None)
        if loaded.system is not None and functions_named(function or "", [loaded])
        for description in loaded.system.backends.values()
        for pattern in description.known_types
    )
    return _starting(incomplete, identifiers)


def _backends(context: click.Context) -> Iterator[str]:
    function = _given_function(context)
    for loaded in _loaded(context.params.get("library")):
        if function is None or functions_named(function, [loaded]):
            yield from (each.name for each in list_backends(loaded))


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
