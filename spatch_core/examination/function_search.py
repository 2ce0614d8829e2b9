"""Finds a function among the registered libraries, and imports the modules of types."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from .._matching import Matcher
from .._patterns import DEFAULT, loaded_object, split_identifier
from .adoptions import adopted_name, is_adopted
from .foreign_code import foreign_code, import_failure
from .libraries import (
    LoadedLibrary,
    find_libraries,
    import_public_names,
    load_library,
)
from .packages import package_of
from .progress import progress
from .question import GivenType, given_type
from .suggestions import functions_near

if TYPE_CHECKING:
    from ..backend_system import BackendSystem


class UnknownFunctionError(Exception):
    """No library has this function."""


class LibraryError(Exception):
    """A library cannot be used."""


def import_homes(system: BackendSystem, types: Iterable[GivenType]) -> None:
    """Import the modules of all type patterns if a type is no primary type of any backend.

    In a program that has such objects these modules may be imported, and one of them may make a
    class of a pattern a base class of the type.
    """
    matcher = Matcher(system.backends)
    with foreign_code(system):
        matches = [matcher.match(each.type) for each in types if not each.note]
    if all(each.primary or each.is_builtin for each in matches):
        return
    modules = {
        pattern.module
        for description in system.backends.values()
        for pattern in description.known_types
    }
    for module in sorted(modules):
        with progress(f"importing {module}"):
            import_failure(module)


def find_function(wanted: str, types: Iterable[str] = ()) -> tuple[LoadedLibrary, str]:
    """Find a function by its identifier, or by another name of the same object.

    Parameters
    ----------
    wanted : str
        ``"module:qualname"``.
    types : iterable of str
        The identifiers of the dispatch types. They decide between several libraries that have
        adopted the function, such as one of NumPy's.

    Returns
    -------
    library : LoadedLibrary
        The library that has the function.
    identifier : str
        The identifier of the function in that library.

    Raises
    ------
    UnknownFunctionError
        If no library has the function.
    LibraryError
        If the library of this package cannot be used.
    """
    failure = import_failure(split_identifier(wanted)[0])
    libraries = [load_library(each) for each in find_libraries()]
    found = _search(libraries, wanted)
    if found is None:
        # A library may import the function's module lazily.
        for each in libraries:
            if each.system is not None:
                import_public_names(each.library)
        found = _search(libraries, wanted) or _adopting(libraries, wanted, types)
    if found is None:
        raise _not_found(libraries, wanted, failure)
    return found


def _search(libraries: list[LoadedLibrary], wanted: str) -> tuple[LoadedLibrary, str] | None:
    named = loaded_object(*split_identifier(wanted))
    for loaded in libraries:
        functions = {} if loaded.system is None else loaded.system.functions
        for identifier, function in functions.items():
            if identifier == wanted or function is named:
                return loaded, identifier
    return None


def _adopting(
    libraries: list[LoadedLibrary], wanted: str, types: Iterable[str]
) -> tuple[LoadedLibrary, str] | None:
    """Return the library that has adopted a function; of several, the one that knows a type."""
    named = loaded_object(*split_identifier(wanted))
    adopting = []
    for each in libraries:
        if each.system is not None:
            identifier = adopted_name(each.system, named)
            if is_adopted(each.system, wanted):
                identifier = wanted
            if identifier is not None:
                adopting.append((each, identifier))
    if len(adopting) > 1:
        given = []
        for name in types:
            with suppress(ValueError):
                given.append(given_type(name))
        for loaded, identifier in adopting:
            import_homes(loaded.usable, given)
            matcher = Matcher(loaded.usable.backends)
            if any(matcher.match(one.type).primary - {DEFAULT} for one in given):
                return loaded, identifier
    return adopting[0] if adopting else None


def _not_found(libraries: list[LoadedLibrary], wanted: str, failure: str) -> Exception:
    package = package_of(wanted)
    known: list[str] = []
    for each in libraries:
        if each.fault is not None and package_of(each.library.identifier) == package:
            return LibraryError(each.describe(each.fault))
        if each.system is not None:
            known += each.system.functions
    text = f"no library has a function {wanted!r}"
    if failure:
        text += f" ({failure})"
    near = functions_near(wanted, known)
    if near:
        text += f"; did you mean {' or '.join(near)}?"
    return UnknownFunctionError(text)
