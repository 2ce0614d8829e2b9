"""What can be wrong with the functions of a description."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._identifiers import loaded_object, nearest, split_identifier
from .._problems import Source
from ._examined_imports import Fault, Importer, did_you_mean, is_installed
from ._findings import Severity
from ._libraries import Library, import_public_names
from ._mentions import Mention, Role
from ._signatures import find_signature, mismatches

if TYPE_CHECKING:
    from inspect import Signature

    from ..backend_system import BackendSystem


class LibraryFunctions:
    """The dispatchable functions by which a description may go.

    Parameters
    ----------
    importer : Importer
        Imports, and explains failures.
    system : BackendSystem, optional
        The library's, with all its functions imported. Without it, those of whatever
        libraries are named.
    """

    def __init__(self, importer: Importer, system: BackendSystem | None = None) -> None:
        self.importer = importer
        self.system = system
        self.systems: dict[str, list[Any]] = {}

    def known(self, identifier: str) -> Mapping[str, Any]:
        """Return the functions of the library that an identifier is about."""
        if self.system is not None:
            return self.system.functions
        package = identifier.partition(":")[0].partition(".")[0]
        if package not in self.systems:
            if self.importer.try_module(package, is_needed=False) is None:
                import_public_names(Library(package, f"{package}:", Source()))
            self.systems[package] = _systems_of(package)
        found: dict[str, Any] = {}
        for system in self.systems[package]:
            found.update(system.functions)
        return found

    def signature(self, identifier: str | None) -> Signature | None:
        """Return what a function takes; None where that cannot be found out."""
        function = None if identifier is None else self.known(identifier).get(identifier)
        return None if function is None else find_signature(function.__wrapped__)

    def check(self, identifier: str) -> Fault | None:
        """Return what is wrong with the name of a function, if the library does not have it."""
        module, qualname = split_identifier(identifier)
        if identifier in self.known(identifier):
            return None
        fault = None
        package = module.partition(".")[0]
        if self.system is None or is_installed(package):
            fault = self.importer.try_module(module, is_needed=False)
            self.systems[package] = _systems_of(package)
        functions = self.known(identifier)
        if identifier in functions:
            return None
        if fault is not None and (fault.is_unchecked or not fault.is_absent):
            return fault._replace(severity=Severity.NOTE, is_unchecked=True)
        if fault is not None and not functions:
            return fault
        named = loaded_object(module, qualname)
        meant = [name for name, each in functions.items() if each is named]
        meant = meant or nearest(identifier, functions)
        # A later or earlier version of the library may have what nothing here resembles.
        return Fault(
            Severity.ERROR if meant else Severity.WARNING,
            f"the library has no function {identifier!r}",
            did_you_mean(
                meant, "Remove it, or say which versions of the library the backend requires"
            ),
        )


def _systems_of(package: str) -> list[Any]:
    """Return the systems that a library has made, as far as it has been imported."""
    return [
        value
        for name, module in [*sys.modules.items()]
        if f"{name}.".startswith(f"{package}.")
        for value in [*vars(module).values()]
        # By name: a library may vendor this package.
        if any(each.__name__ == "BackendSystem" for each in type.mro(type(value)))
    ]


def check_callable(mention: Mention, thing: Any, default: Signature | None) -> Fault | None:
    """Return why something cannot take the calls that it would get.

    Parameters
    ----------
    mention : Mention
        Where it is named, and for what.
    thing : object
        What that leads to.
    default : inspect.Signature or None
        Of the library's function.
    """
    if not callable(thing):
        return Fault(
            Severity.ERROR,
            f"{mention.text!r} is no function but of type {type(thing).__qualname__!r}",
            "Name a function",
        )
    signature = find_signature(thing)
    context = mention.takes_context
    if signature is None or default is None:
        return None
    faults = mismatches(default, signature, context)
    if not faults:
        return None
    if not mismatches(default, signature, not context):
        # Their consequences would only confuse.
        message, remedy = _context_fault(mention, default)
    else:
        message = f"cannot take all calls of the library's function {default}: {'; '.join(faults)}"
        first = "the context, and then " if context else ""
        remedy = f"Take {first}what the library's function takes"
    return Fault(Severity.ERROR, f"{mention.text}{signature} {message}", remedy)


def _context_fault(mention: Mention, default: Signature) -> tuple[str, str]:
    if not mention.takes_context:
        return (
            "takes a DispatchContext first, which it does not get without uses_context = true",
            f"Write uses_context = true, or take what the library's function takes: {default}",
        )
    if mention.role is Role.SHOULD_RUN:
        return (
            "takes no DispatchContext, which every should_run gets first",
            "Take it as the first argument",
        )
    return (
        "takes no DispatchContext, but the description says uses_context = true",
        "Take it as the first argument, or leave uses_context out",
    )
