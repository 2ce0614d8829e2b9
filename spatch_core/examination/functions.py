"""The functions of a library, and whether those of a backend accept the calls that they get."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from inspect import Parameter, Signature, signature
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._description import Finding, Severity, Source
from .._errors import nearest
from .._patterns import loaded_object, split_identifier
from .._wrapper import ASYNC_GENERATOR, COROUTINE, GENERATOR, PLAIN, nature_of
from .child import foreign_code
from .findings import error, unchecked, warning
from .importing import (
    CONVERSIONS,
    Importer,
    Mention,
    Role,
    did_you_mean,
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

if TYPE_CHECKING:
    from ..backend_system import BackendSystem


_NATURES = {
    PLAIN: ("a plain function", "def"),
    COROUTINE: ("a coroutine function", "async def"),
    GENERATOR: ("a generator function", "def, and yield"),
    ASYNC_GENERATOR: ("an asynchronous generator function", "async def, and yield"),
}
"""What messages call a function of each nature, and what to write for one."""


# --- The library's functions ----------------------------------------------------------------------


class LibraryFunctions:
    """The dispatchable functions with which a description is compared.

    Without the library's `system`, whose functions have all been imported, those of all installed
    libraries count, because a file does not name its library. Then `groups` are the entry point
    groups of the file's project.
    """

    def __init__(
        self,
        importer: Importer,
        system: BackendSystem | None = None,
        groups: Collection[str] = (),
    ) -> None:
        self.importer = importer
        self.system = system
        self.groups = groups
        self.findings: dict[str, Finding | None] = {}  # of the modules that were imported
        self.has_all = system is not None
        self._read()

    def _read(self) -> None:
        """Read the functions of the library, or of all that have been imported."""
        self.systems: list[Any] = live_systems() if self.system is None else [self.system]
        found = (each.functions.items() for each in self.systems)
        self.known: Mapping[str, Any] = dict(chain.from_iterable(found))

    def find(self, identifier: str) -> Any:
        """Return a function, or None; import the modules that may define it.

        All libraries may define it: a library can make a function of another package dispatchable,
        under the name that the function has there.
        """
        if identifier not in self.known:
            self.import_module(split_identifier(identifier)[0])
        if identifier not in self.known and not self.has_all:
            self.has_all = True
            for library in find_libraries():
                with foreign_code():
                    found = self.importer.load(library.identifier, is_needed=False)
                if not isinstance(found, Finding):
                    import_public_names(library)
            self._read()
        return self.known.get(identifier)

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
            if self.system is None and package in sys.modules:
                import_public_names(Library(package, f"{package}:", Source()))
            self._read()

    def _adopted_as(self, function: object) -> list[str]:
        """Return the identities under which libraries have adopted a function."""
        found = {adopted_name(system, function) for system in self.systems}
        return sorted(each for each in found if each is not None)

    def signature(self, identifier: str | None) -> Signature | None:
        """Return the signature of a library's function, or None."""
        function = None if identifier is None else self.find(identifier)
        return None if function is None else find_signature(function.__wrapped__)

    def check(self, identifier: str) -> Finding | None:
        """Return a finding if the library has no function of this identifier."""
        if self.find(identifier) is not None or self.is_adopted(identifier):
            return None
        module, qualname = split_identifier(identifier)
        functions, finding = self.known, self.findings.get(module)
        package = package_of(identifier)
        is_known = self.system is not None or package in map(package_of, functions)
        if finding is not None and (finding.is_unchecked or not finding.is_absent):
            return finding._replace(severity=Severity.NOTE, is_unchecked=True)
        if finding is not None and not is_known:
            return finding
        named = loaded_object(module, qualname)
        meant = [name for name, each in functions.items() if each is named]
        meant = meant or self._adopted_as(named)
        meant = meant or functions_near(identifier, functions)
        hint = did_you_mean(meant or self._namesakes(identifier))
        if not (hint or is_known):
            return unchecked(f"no library is known that has functions of {package!r}")
        message = f"the library has no function {identifier!r}"
        if hint:
            return error(message, hint)
        # No error: another version of the library may have the function.
        otherwise = "Remove it, or say which versions of the library the backend requires"
        return warning(message, otherwise)

    def _namesakes(self, identifier: str) -> list[str]:
        """Return the function of the backend's library that has the same qualname, if any.

        The backend may name the function that the library wraps.
        """
        end = f":{split_identifier(identifier)[1]}"
        own = [each for each in self.systems if self.system or each.group in self.groups]
        found = [name for each in own for name in each.functions if name.endswith(end)]
        return nearest(identifier, found, 0)[:1]

    def check_attribute(self, identifier: str) -> Finding | None:
        """Return a finding if a module attribute of the library would follow no backend."""
        module, _ = split_identifier(identifier)
        self.import_module(module)
        found = sys.modules.get(module)
        if found is None:
            finding = self.findings.get(module)
            return finding if finding or self.system is None else self._no_module(module)
        if type(found) is not ModuleType:  # another class may define attributes in any way
            return None
        if "__getattr__" not in vars(found):
            return warning(
                f"attributes of module {module!r} follow no backend",
                "Remove it, or have the library use switching.attributes in that module",
            )
        return None

    def _no_module(self, module: str) -> Finding:
        packages = {package_of(each) for each in self.known}
        near = nearest(module, [each for each in sys.modules if package_of(each) in packages])
        remedy = did_you_mean(near, "Name a module of the library")
        return error(f"the library has no module {module!r}", remedy)


# --- The backend's functions ----------------------------------------------------------------------


def check_callable(mention: Mention, thing: Any, default: Signature | None) -> Finding | None:
    """Return a finding if an implementation or `should_run` cannot take the calls that it gets.

    `default` is the signature of the library's function; None if it is not known.
    """
    if not callable(thing):
        return _not_callable(mention, thing, "Name a function")
    if mention.role is Role.SHOULD_RUN and nature_of(thing) != PLAIN:
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
    rest = _without_first(signature)
    message = f"cannot take all calls of the library's function {default}: {'; '.join(faults)}"
    remedy = f"Take {'the context, and then ' * context}what the library's function takes"
    # A single cause that explains all mismatches is reported instead of them.
    if context and not mismatches(default, signature, context=False):
        message, remedy = "takes no DispatchContext, ", "Take it as the first argument"
        if mention.role is Role.SHOULD_RUN:
            message += "which every should_run gets first"
        else:
            message += "but the description says uses_context = true"
            remedy += ", or leave uses_context out"
    # The first parameter is a context only if the rest has the names of the library's parameters.
    elif not (context or mismatches(default, rest, context=False)) and (
        set() < _names(default) <= _names(rest)
    ):
        message = "takes a DispatchContext first, which it does not get without uses_context = true"
        remedy = f"Write uses_context = true, or take what the library's function takes: {default}"
    return error(f"{mention.text}{signature} {message}", remedy)


def check_nature(mention: Mention, thing: Any, default: Any) -> Finding | None:
    """Return a finding if an implementation makes no coroutine or generator, as `default` does."""
    wanted, own = nature_of(default), nature_of(thing)
    # Any iterable will do instead of a generator.
    will_do = (PLAIN, GENERATOR) if wanted == GENERATOR else (wanted,)
    if wanted == PLAIN or not {wanted, own} <= {*_NATURES} or own in will_do:
        return None
    (kind, form), (own_kind, _) = _NATURES[wanted], _NATURES[own]
    message = f"{mention.text!r} is {own_kind}, and the library's function is {kind}"
    if own != PLAIN:
        return error(message, f"Write {form}")
    made = "an awaitable" if wanted == COROUTINE else "an asynchronous iterator"
    return warning(f"{message}: calls fail, unless they return {made}", f"Write {form}")


def check_every(mention: Mention, thing: Any) -> Finding | None:
    """Return a finding if a function in the table ``functions."*"`` cannot serve all functions."""
    finding = check_callable(mention, thing, None)
    signature = find_signature(thing)
    if finding is not None or signature is None:
        return finding
    if not any(each.kind <= each.VAR_POSITIONAL for each in signature.parameters.values()):
        return error(
            f"{mention.text}{signature} takes no DispatchContext, which names the called function",
            "Take it as the first argument, and then *args and **kwargs",
        )
    return None


def check_conversion(mention: Mention, thing: Any) -> Finding | None:
    """Return a finding if a conversion cannot take its arguments."""
    names = CONVERSIONS[mention.key]
    call = f"{mention.key}({', '.join(names)})"
    if not callable(thing):
        return _not_callable(mention, thing, f"Name a function that is called as {call}")
    if nature_of(thing) != PLAIN:
        return error(
            f"{mention.text!r} is a coroutine or generator function, and {call} must return the "
            "converted object",
            "Write a plain function",
        )
    signature = find_signature(thing)
    try:
        if signature is not None:
            signature.bind(*names)
    except TypeError as failure:
        return error(
            f"{mention.text}{signature} cannot be called as {call}: {failure}",
            f"Take {' and '.join(names)} by position"
            + (", the caller's object first" if len(names) > 1 else ""),
        )
    return None


def _not_callable(mention: Mention, thing: Any, remedy: str) -> Finding:
    kind = type(thing).__qualname__
    return error(f"{mention.text!r} is not a function but of type {kind!r}", remedy)


def _check_defaults(mention: Mention, default: Signature, own: Signature) -> Finding | None:
    others = other_defaults(default, own)
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


def _without_first(signature: Signature) -> Signature:
    """Return a signature without its first positional parameter."""
    parameters = [*signature.parameters.values()]
    is_first = parameters and parameters[0].kind in _BY_POSITION
    return signature.replace(parameters=parameters[1:]) if is_first else signature


# --- Signatures ----------------------------------------------------------------------------------

_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_BY_KEYWORD = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_PLAIN = (bool, int, float, complex, str, bytes)
_STARS: dict[object, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}


def find_signature(function: Callable[..., Any]) -> Signature | None:
    """Return the signature of a function without annotations; None if it cannot be determined."""
    try:
        found = signature(function)
        parameters = [each.replace(annotation=each.empty) for each in found.parameters.values()]
        return found.replace(parameters=parameters, return_annotation=found.empty)
    except Exception:  # noqa: BLE001  # a third party's __signature__ may raise anything
        return None


def mismatches(default: Signature, implementation: Signature, context: bool) -> list[str]:
    """Say which calls of `default` an implementation cannot take: one call for each reason.

    Every call must bind, with each argument at the parameter of its name. With `context`, the
    implementation gets a `DispatchContext` before the arguments.

    >>> mismatches(signature(lambda x, n=None: ...), signature(lambda x: ...), context=False)[0]
    'called as (x, n): too many positional arguments'
    """
    given = {each.name for each in default.parameters.values() if each.kind not in _STARS}
    faults: dict[str, str] = {}
    for args, keywords in _calls(default, len(implementation.parameters) + 1):
        reason = _wrong(implementation, [None] * context + args, keywords, given)
        if reason:
            call = ", ".join([*args, *(f"{name}={name}" for name in keywords)])
            faults.setdefault(reason, call)
    return [f"called as ({call}): {reason}" for reason, call in faults.items()]


def _calls(default: Signature, more: int) -> Iterator[tuple[list[Any], list[str]]]:
    """Yield calls that together need all that a function takes: positional arguments and keywords.

    Arguments have the names of their parameters. There are up to `more` further ones.
    """
    parameters = default.parameters.values()
    kinds = {each.kind for each in parameters}
    places = [each for each in parameters if each.kind in _BY_POSITION]
    keyword_only = [each for each in parameters if each.kind is Parameter.KEYWORD_ONLY]
    for number in range(len(places), -1, -1):
        args, rest = [each.name for each in places[:number]], places[number:]
        required = {each.name for each in (*rest, *keyword_only) if each.default is each.empty}
        by_keyword = [each.name for each in (*rest, *keyword_only) if each.kind in _BY_KEYWORD]
        if not required <= {*by_keyword}:
            continue
        for keywords in (by_keyword, [each for each in by_keyword if each in required]):
            yield args, keywords
            if Parameter.VAR_KEYWORD in kinds:
                yield args, [*keywords, "another"]
            if Parameter.VAR_POSITIONAL in kinds and not rest:
                yield [*args, *(f"more_{each}" for each in range(more))], keywords


def _wrong(implementation: Signature, args: list[Any], keywords: list[str], given: set[str]) -> str:
    """Say why a call fails, or which argument gets to the wrong parameter; None is the context."""
    try:
        bound = implementation.bind(*args, **{name: name for name in keywords}).arguments
    except TypeError as failure:
        return str(failure)
    parameters = implementation.parameters.values()
    own = {each.name for each in parameters if each.kind not in _STARS}
    own -= {name for name, value in bound.items() if value is None}
    for name, value in bound.items():
        if implementation.parameters[name].kind in _STARS:
            for stray in sorted(own & given & {*value}):
                return (
                    f"{stray!r} is one of its {_STARS[implementation.parameters[name].kind]}{name}"
                )
        elif value in given and value != name and (name in given or value in own):
            return f"its {name!r} gets the argument {value!r}"
    return ""


def other_defaults(default: Signature, implementation: Signature) -> list[str]:
    """Say which parameters have other default values in an implementation.

    Only numbers and strings are compared: None or an object of the library may stand for a value
    that the implementation computes.

    >>> library = signature(lambda x, radius=1, mode="same": ...)
    >>> other_defaults(library, signature(lambda x, radius=2, mode=None: ...))
    ['radius=2 instead of radius=1']
    """
    found = []
    for name in default.parameters.keys() & implementation.parameters.keys():
        given, own = default.parameters[name].default, implementation.parameters[name].default
        is_plain = type(given) in _PLAIN and type(own) in _PLAIN
        if is_plain and given != own and given == given:  # not NaN
            found.append(f"{name}={own!r} instead of {name}={given!r}")
    return sorted(found)
