"""Checks the functions of a description against those of the library."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import TYPE_CHECKING, Any

from .._description.fields import EVERY
from .._identifiers import loaded_object, split_identifier
from .._problems import Source
from .findings import Finding, Severity, error, unchecked, warning
from .foreign_code import foreign_code
from .importing import Importer, is_module_installed
from .libraries import Library, adopted_name, find_libraries, import_public_names, is_adopted
from .live import live_systems
from .mentions import Mention, Role
from .packages import package_of
from .signatures import find_signature, mismatches, other_defaults
from .suggestions import did_you_mean, functions_like, functions_near

if TYPE_CHECKING:
    from inspect import Signature

    from ..backend_system import BackendSystem


class LibraryFunctions:
    """The dispatchable functions with which a description is compared.

    Parameters
    ----------
    importer : Importer
        Imports, and explains failures.
    system : BackendSystem, optional
        The library's, with all its functions imported. Without it, the functions of all
        installed libraries count, because a file does not say which library it is for.
    """

    def __init__(self, importer: Importer, system: BackendSystem | None = None) -> None:
        self.importer = importer
        self.system = system
        self.systems: list[Any] = [] if system is None else [system]
        self.live: dict[str, Any] | None = None
        self.findings: dict[str, Finding | None] = {}
        self.has_all = system is not None

    def known(self) -> Mapping[str, Any]:
        """Return the functions of the library, or of all that have been imported."""
        if self.system is not None:
            return self.system.functions
        if self.live is None:
            self.live, self.systems = {}, live_systems()
            for system in self.systems:
                self.live.update(system.functions)
        return self.live

    def find(self, identifier: str) -> Any:
        """Return a function, or None; imports the modules that may define it.

        A library can make a function of another library dispatchable, which keeps its name.
        """
        module, _ = split_identifier(identifier)
        for imports in (None, self.import_module, self._import_libraries):
            if imports is not None:
                imports(module)
            function = self.known().get(identifier)
            if function is not None:
                return function
        return None

    def is_adopted(self, identifier: str) -> bool:
        """Whether a library has adopted it.

        Its signature is not compared: an implementation need not take every option.
        """
        return any(is_adopted(each, identifier) for each in self.systems)

    def import_module(self, module: str) -> None:
        """Import a module that may be one of the library; `findings` says why it cannot be."""
        package = package_of(module)
        if module not in self.findings and (self.system is None or is_module_installed(package)):
            self.findings[module] = self.importer.try_module(module, is_needed=False)
            self.live = None
            if self.system is None and package in sys.modules:
                import_public_names(Library(package, f"{package}:", Source()))

    def _adopted_as(self, function: object) -> list[str]:
        """Return the identity by which a library has adopted a function that has other names."""
        found = {adopted_name(system, function) for system in self.systems}
        return sorted(each for each in found if each is not None)

    def _import_libraries(self, _module: str) -> None:
        if self.has_all:
            return
        self.has_all, self.live = True, None
        for library in find_libraries():
            with foreign_code():
                found = self.importer.load(library.identifier, is_needed=False)
            if not isinstance(found, Finding):
                import_public_names(library)

    def signature(self, identifier: str | None) -> Signature | None:
        """Return the signature of a library's function; None where it is not known."""
        function = None if identifier is None else self.find(identifier)
        return None if function is None else find_signature(function.__wrapped__)

    def check(self, identifier: str) -> Finding | None:
        """Return a finding if the library does not have a function of this name."""
        if self.find(identifier) is not None or self.is_adopted(identifier):
            return None
        module, qualname = split_identifier(identifier)
        functions, finding = self.known(), self.findings.get(module)
        package = package_of(identifier)
        is_known = self.system is not None or package in map(package_of, functions)
        if finding is not None and (finding.is_unchecked or not finding.is_absent):
            return replace(finding, severity=Severity.NOTE, is_unchecked=True)
        if finding is not None and not is_known:
            return finding
        named = loaded_object(module, qualname)
        meant = [name for name, each in functions.items() if each is named]
        meant = meant or self._adopted_as(named) or functions_like(identifier, functions)
        if not (meant or is_known):
            return unchecked(f"no library is known that has functions of {package!r}")
        message = f"the library has no function {identifier!r}"
        if meant:
            return error(message, did_you_mean(meant))
        # Another version of the library may have a function that resembles none of these.
        otherwise = "remove it, or say which versions of the library the backend requires"
        hint = did_you_mean(functions_near(identifier, functions))
        remedy = f"{hint} Else {otherwise}" if hint else otherwise[0].upper() + otherwise[1:]
        return warning(message, remedy)


def check_callable(mention: Mention, thing: Any, default: Signature | None) -> Finding | None:
    """Return why an implementation or `should_run` cannot take the calls that it would get."""
    if not callable(thing):
        return error(
            f"{mention.text!r} is no function but of type {type(thing).__qualname__!r}",
            "Name a function",
        )
    if mention.role is Role.SHOULD_RUN and is_deferred(thing):
        return error(
            f"{mention.text!r} is a coroutine or generator function: what it returns is never "
            "True, so that it always defers",
            "Write a plain function that returns True",
        )
    signature = find_signature(thing)
    context = mention.takes_context
    if signature is None or default is None:
        return None
    faults = mismatches(default, signature, context)
    if not faults:
        return _check_defaults(mention, default, signature)
    first, rest = _split(signature)
    message = f"cannot take all calls of the library's function {default}: {'; '.join(faults)}"
    remedy = f"Take {'the context, and then ' * context}what the library's function takes"
    # Report the cause alone where one explains all mismatches.
    if first in ("self", "cls") and not mismatches(default, rest, context):
        message = "is a method without its object"
        remedy = "Name it through an instance, or make it a static method"
    elif context and not mismatches(default, signature, context=False):
        message, remedy = _no_context(mention)
    # Only with the library's own names: else the first one may be the library's, renamed.
    elif not (context or mismatches(default, rest, context=False)) and (
        set() < _names(default) <= _names(rest)
    ):
        message = "takes a DispatchContext first, which it does not get without uses_context = true"
        remedy = f"Write uses_context = true, or take what the library's function takes: {default}"
    return error(f"{mention.text}{signature} {message}", remedy)


def check_every(
    mention: Mention, thing: Any, functions: Iterable[tuple[str, Signature]]
) -> Finding | None:
    """Return why the implementation of every other function, or its `should_run`, cannot be it.

    Parameters
    ----------
    mention : Mention
        In the table ``functions."*"``.
    thing : object
        What its identifier leads to.
    functions : iterable of pairs of str and inspect.Signature
        Those of the library that it serves, as far as they are known.
    """
    finding = check_callable(mention, thing, None)
    signature = find_signature(thing)
    if finding is not None or signature is None:
        return finding
    if not any(each.kind <= each.VAR_POSITIONAL for each in signature.parameters.values()):
        return error(
            f"{mention.text}{signature} takes no DispatchContext, which says which function is "
            "called",
            "Take it as the first argument, and then *args and **kwargs",
        )
    for identifier, default in functions:
        found = check_callable(mention, thing, default)
        if found is not None:
            message = found.message.replace("library's function ", f"library's {identifier}", 1)
            if message == found.message:  # it is about the context
                return found
            remedy = f"Take *args and **kwargs, or give {identifier} a table of its own"
            return replace(found, message=message, remedy=remedy)
    return None


def _check_defaults(mention: Mention, default: Signature, own: Signature) -> Finding | None:
    others = other_defaults(default, own, mention.takes_context)
    if not others:
        return None
    return warning(
        f"{mention.text}{own} has other default values than the library's function {default}, so "
        f"that a call without them means something else: {', '.join(others)}",
        "Take the library's default values",
    )


def _names(signature: Signature) -> set[str]:
    parameters = signature.parameters.values()
    return {p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def is_deferred(thing: Any) -> bool:
    """Whether a call returns a coroutine or a generator instead of an answer."""
    call = getattr(type(thing), "__call__", None)  # noqa: B004  # its kind is asked for
    kinds = (iscoroutinefunction, isgeneratorfunction, isasyncgenfunction)
    return any(kind(thing) or kind(call) for kind in kinds)


def _split(signature: Signature) -> tuple[str, Signature]:
    """Return the name of the first parameter that takes one argument by position, and the rest."""
    parameters = [*signature.parameters.values()]
    if not parameters or parameters[0].kind > parameters[0].POSITIONAL_OR_KEYWORD:
        return "", signature
    return parameters[0].name, signature.replace(parameters=parameters[1:])


def _no_context(mention: Mention) -> tuple[str, str]:
    if mention.role is Role.SHOULD_RUN:
        return (
            "takes no DispatchContext, which every should_run gets first",
            "Take it as the first argument",
        )
    if mention.library_function == EVERY:
        return (
            "takes no DispatchContext, which the implementation of every function gets first",
            "Take it as the first argument",
        )
    return (
        "takes no DispatchContext, but the description says uses_context = true",
        "Take it as the first argument, or leave uses_context out",
    )
