"""The functions of a library, and whether those of a backend accept the calls that they get."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from inspect import (
    Parameter,
    Signature,
    isasyncgenfunction,
    iscoroutinefunction,
    isgeneratorfunction,
)
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._description import EVERY
from .._errors import Finding, Severity, Source, nearest, replace
from .._patterns import loaded_object, split_identifier
from .child import foreign_code
from .description import Mention, Role
from .findings import error, unchecked, warning
from .importing import (
    Importer,
    did_you_mean,
    functions_like,
    functions_near,
    is_module_installed,
    package_of,
)
from .libraries import (
    Library,
    adopted_name,
    find_libraries,
    import_public_names,
    is_adopted,
    live_systems,
)
from .signatures import find_signature, mismatches, other_defaults

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

_CONVERSIONS = {
    "to_default": ("x",),
    "from_default": ("x",),
    "copy_into": ("original", "converted"),
}
"""The positional arguments of each conversion."""
_UNBOUND = ("is an unbound method", "Name it through an instance, or make it a static method")


# --- The library's functions ----------------------------------------------------------------------


class LibraryFunctions:
    """The dispatchable functions with which a description is compared.

    Without the library's `system`, whose functions have all been imported, those of all installed
    libraries count, because a file does not name its library.
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
        """Return a function, or None; import the modules that may define it.

        All libraries may define it: a library can make a function of another package dispatchable,
        under the name that the function has there.
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
        """Whether a library has adopted a function.

        Signatures are not compared with adopted functions: an implementation may lack options.
        """
        return any(is_adopted(each, identifier) for each in self.systems)

    def import_module(self, module: str) -> None:
        """Import a module that may be the library's; `findings` gets the finding if that fails."""
        package = package_of(module)
        if module not in self.findings and (self.system is None or is_module_installed(package)):
            self.findings[module] = self.importer.try_module(module, is_needed=False)
            self.live = None
            if self.system is None and package in sys.modules:
                import_public_names(Library(package, f"{package}:", Source()))

    def _adopted_as(self, function: object) -> list[str]:
        """Return the identities under which libraries have adopted a function."""
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
        """Return the signature of a library's function, or None."""
        function = None if identifier is None else self.find(identifier)
        return None if function is None else find_signature(function.__wrapped__)

    def check(self, identifier: str) -> Finding | None:
        """Return a finding if the library has no function of this identifier."""
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
        hint = did_you_mean(functions_near(identifier, functions))
        if hint:
            return error(message, f"{hint} Else remove it")
        # No error: another version of the library may have the function.
        otherwise = "Remove it, or say which versions of the library the backend requires"
        return warning(message, otherwise)

    def check_attribute(self, identifier: str) -> Finding | None:
        """Return a finding if a module attribute of the library would follow no backend."""
        module, name = split_identifier(identifier)
        self.import_module(module)
        found = sys.modules.get(module)
        if found is None:
            return self.findings.get(module) or self._no_module(module)
        if type(found) is not ModuleType:  # another class may define attributes in any way
            return None
        if name in vars(found):
            return warning(
                f"module {module!r} has a {name!r} of its own, which follows no backend",
                "Remove it here, or implement it as a function if it is one",
            )
        if "__getattr__" not in vars(found):
            return warning(
                f"attributes of module {module!r} follow no backend",
                "Remove it, or have the library use switching.attributes in that module",
            )
        return None

    def _no_module(self, module: str) -> Finding | None:
        modules = {package_of(each) for each in self.known()}
        if self.system is not None:
            modules |= {each for each in sys.modules if package_of(each) in modules}
        if not modules:
            return None
        remedy = did_you_mean(nearest(module, modules), "Name a module of the library")
        return error(f"the library has no module {module!r}", remedy)


# --- The backend's functions ----------------------------------------------------------------------


def check_callable(mention: Mention, thing: Any, default: Signature | None) -> Finding | None:
    """Return a finding if an implementation or `should_run` cannot take the calls that it gets.

    `default` is the signature of the library's function; None if it is not known.
    """
    if not callable(thing):
        return _not_callable(mention, thing, "Name a function")
    if mention.role is Role.SHOULD_RUN and _is_deferred(thing):
        return error(
            f"{mention.text!r} is a coroutine or generator function: a call never returns True, so "
            "it always defers",
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
    # A single cause that explains all mismatches is reported instead of them.
    if first in ("self", "cls") and not mismatches(default, rest, context):
        message, remedy = _UNBOUND
    elif context and not mismatches(default, signature, context=False):
        message, remedy = _no_context(mention)
    # The first parameter is a context only if the rest has the names of the library's parameters.
    elif not (context or mismatches(default, rest, context=False)) and (
        set() < _names(default) <= _names(rest)
    ):
        message = "takes a DispatchContext first, which it does not get without uses_context = true"
        remedy = f"Write uses_context = true, or take what the library's function takes: {default}"
    return error(f"{mention.text}{signature} {message}", remedy)


def check_every(
    mention: Mention, thing: Any, functions: Iterable[tuple[str, Signature]]
) -> Finding | None:
    """Return a finding if a function in the table ``functions."*"`` cannot serve `functions`."""
    finding = check_callable(mention, thing, None)
    signature = find_signature(thing)
    if finding is not None or signature is None:
        return finding
    if not any(each.kind <= each.VAR_POSITIONAL for each in signature.parameters.values()):
        return error(
            f"{mention.text}{signature} takes no DispatchContext, which names the called function",
            "Take it as the first argument, and then *args and **kwargs",
        )
    for identifier, default in functions:
        found = check_callable(mention, thing, default)
        if found is not None:
            message = found.message.replace("library's function ", f"library's {identifier}", 1)
            if message == found.message:  # the fault is the same for all functions
                return found
            remedy = f"Take *args and **kwargs, or give {identifier} a table of its own"
            return replace(found, message=message, remedy=remedy)
    return None


def check_conversion(mention: Mention, thing: Any) -> Finding | None:
    """Return a finding if a conversion cannot take its arguments."""
    names = _CONVERSIONS[mention.key]
    call = f"{mention.key}({', '.join(names)})"
    if not callable(thing):
        return _not_callable(mention, thing, f"Name a function that is called as {call}")
    if _is_deferred(thing):
        return error(
            f"{mention.text!r} is a coroutine or generator function, and {call} must return the "
            "converted object",
            "Write a plain function",
        )
    signature = find_signature(thing)
    failure = signature and _binding_failure(signature, names)
    if not (signature and failure):
        return None
    if _split(signature)[0] in ("self", "cls") and not _binding_failure(
        signature, ("self", *names)
    ):
        return error(f"{mention.text}{signature} {_UNBOUND[0]}", _UNBOUND[1])
    return error(
        f"{mention.text}{signature} cannot be called as {call}: {failure}",
        f"Take {' and '.join(names)} by position"
        + (", the caller's object first" if len(names) > 1 else ""),
    )


def _not_callable(mention: Mention, thing: Any, remedy: str) -> Finding:
    kind = type(thing).__qualname__
    return error(f"{mention.text!r} is not a function but of type {kind!r}", remedy)


def _binding_failure(signature: Signature, names: tuple[str, ...]) -> str:
    """Say why a call with these positional arguments fails; empty if it does not."""
    try:
        signature.bind(*names)
    except TypeError as failure:
        needed = [
            each.name
            for each in signature.parameters.values()
            if each.kind is Parameter.KEYWORD_ONLY and each.default is each.empty
        ]
        return f"it requires {needed[0]!r} by keyword" if needed else str(failure)
    return ""


def _check_defaults(mention: Mention, default: Signature, own: Signature) -> Finding | None:
    others = other_defaults(default, own, mention.takes_context)
    if not others:
        return None
    return warning(
        f"{mention.text}{own} has other default values than the library's function {default}, so "
        f"a call without these arguments means something else: {', '.join(others)}",
        "Take the library's default values",
    )


def _names(signature: Signature) -> set[str]:
    parameters = signature.parameters.values()
    return {p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def _is_deferred(thing: Any) -> bool:
    """Whether a call returns a coroutine or a generator instead of an answer."""
    call = getattr(type(thing), "__call__", None)  # noqa: B004  # of an object that is callable
    kinds = (iscoroutinefunction, isgeneratorfunction, isasyncgenfunction)
    return any(kind(thing) or kind(call) for kind in kinds)


def _split(signature: Signature) -> tuple[str, Signature]:
    """Return the name of the first positional parameter, and the signature without it."""
    parameters = [*signature.parameters.values()]
    if not parameters or parameters[0].kind > parameters[0].POSITIONAL_OR_KEYWORD:
        return "", signature
    return parameters[0].name, signature.replace(parameters=parameters[1:])


def _no_context(mention: Mention) -> tuple[str, str]:
    lacks, remedy = "takes no DispatchContext,", "Take it as the first argument"
    if mention.role is Role.SHOULD_RUN:
        return f"{lacks} which every should_run gets first", remedy
    if mention.library_function == EVERY:
        return f"{lacks} which the implementation of every function gets first", remedy
    return (
        f"{lacks} but the description says uses_context = true",
        f"{remedy}, or leave uses_context out",
    )
