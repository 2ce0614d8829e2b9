"""Checks a description by importing everything that it names: one check for each role of a name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from inspect import isabstract, isclass
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from .._description import EVERY, Finding
from .._errors import ended
from .._patterns import EXACT, TypePattern, split_identifier, type_identifier
from .findings import error, key_path, note, unchecked
from .functions import (
    LibraryFunctions,
    check_callable,
    check_conversion,
    check_every,
    check_nature,
)
from .importing import (
    Importer,
    Mention,
    Role,
    did_you_mean,
    is_module_installed,
    names_like,
    package_of,
)
from .libraries import every_class, names_of_backends, own_types

if TYPE_CHECKING:
    from .._description import Description
    from ..backend_system import BackendSystem
    from .child import Journal

_REGISTERED = (Role.FUNCTION, Role.SHOULD_RUN)
_NO_CODE = ("__main__", "conftest", "test", "tests")
"""Submodules that register no functions."""


class DescriptionCheck:
    """Imports everything that one description names, and reports the faults.

    The `name` is that of the backend. Without the library's `system`, the functions of all
    installed libraries count, and `groups` are the entry point groups of the backend's project.
    `is_generated` says whether ``spatch-core update`` writes it.
    """

    def __init__(
        self,
        mentions: Iterable[Mention],
        importer: Importer,
        journal: Journal,
        *,
        name: str | None = None,
        system: BackendSystem | None = None,
        is_generated: bool = False,
        groups: Collection[str] = (),
    ) -> None:
        self.mentions = list(mentions)
        self.importer = importer
        self.journal = journal
        self.name = name
        self.functions = LibraryFunctions(importer, system, groups)
        self.is_generated = is_generated or any(e.role is Role.BACKEND for e in self.mentions)
        self.is_needed = any(
            is_module_installed(package_of(each.module))
            for each in self.mentions
            if each.key.startswith("primary_types")
        )
        """Whether the backend can have work here: the package of a primary type is installed."""
        self.needs_submodules = False
        """Whether a submodule that cannot be imported here is a fault."""
        self.implemented = {
            each.text for each in self.mentions if each.role is Role.LIBRARY_FUNCTION
        }
        self._has_all_modules = True
        self._registered: dict[str, Mapping[str, Any]] = {}
        """By the key of a `BackendImplementation`, the functions that it has; filled by imports."""

    def findings(self) -> Iterator[Finding]:
        """Yield each finding once, with its key."""
        seen = set()
        for each in self.mentions:
            is_used = each.role in (*_REGISTERED, Role.CONVERSION)
            step = f"using {each.text}" if is_used else f"importing {each.module}"
            if self.journal.begins(step, each.key, each.module):
                for finding in self._check(each):
                    found = finding and finding._replace(key=each.key)
                    if found is not None and found not in seen:
                        seen.add(found)
                        yield found

    def _check(self, mention: Mention) -> Iterable[Finding | None]:
        if mention.role in _CHECKS:
            return _CHECKS[mention.role](self, mention)
        found = self.importer.load(mention.text, self.is_needed)
        if isinstance(found, Finding):
            is_stale = self.is_generated and mention.role in _REGISTERED
            if is_stale and mention.module in sys.modules:
                advice = "If the code has changed, run `spatch-core update --prune`"
                found = found._replace(remedy=f"{ended(found.remedy)} {advice}")
            return [found]
        return _OBJECT_CHECKS[mention.role](self, mention, found)

    def unmentioned(self) -> Iterator[Finding]:
        """After `findings`, yield a note if the code and the description differ in functions."""
        for key, functions in self._registered.items():
            missing = sorted(set(functions) - self.implemented)
            unknown = [*self.check_registered({name: functions[name] for name in missing})]
            yield from (each for each in unknown if not each.is_unchecked)
            wrong = {each.key for each in unknown if not each.is_unchecked}
            missing = [each for each in missing if key_path(("functions", each)) not in wrong]
            if missing:
                message = f"the description lacks functions of the backend: {', '.join(missing)}"
                yield note(message, "`spatch-core update` adds them")._replace(key=key)
            moved = moved_functions(self.mentions, functions)
            yield from moved.values()
            gone = sorted(self.implemented - {*functions, *moved, EVERY})
            if gone and functions and self._has_all_modules:
                message = f"the code does not register functions of the file: {', '.join(gone)}"
                remedy = "Register them, or remove them by `spatch-core update --prune`"
                yield note(message, remedy)._replace(key=key)

    def check_registered(self, functions: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield a finding for each registered function that the library does not have."""
        for identifier, each in functions.items():
            key = key_path(("functions", identifier))
            module = split_identifier(identifier)[0]
            if self.journal.begins(f"importing {module}", key, module):
                found = self.functions.check(identifier)
                if found is None:
                    continue
                # The library need not be installed here: an unchecked function is no fault.
                if not found.is_unchecked:
                    message = f"{found.message}, for which {each.identifier!r} is registered"
                    found = found._replace(message=message)
                yield found._replace(key=key)

    def check_module(self, mention: Mention) -> Iterator[Finding]:
        """Import a module and its submodules, which register functions."""
        finding = self.importer.try_module(mention.text, self.is_needed)
        found = [finding] if finding else [*self._import_submodules(mention.key, mention.text)]
        self._has_all_modules &= not found
        yield from found

    def check_callable(self, mention: Mention, found: Any) -> Iterator[Finding | None]:
        """Check whether a function of the backend can take the calls that it gets."""
        if mention.library_function == EVERY:
            yield check_every(mention, found)
        else:
            name = mention.library_function
            yield check_callable(mention, found, self.functions.signature(name))
            default = None if name is None else self.functions.find(name)
            if mention.role is Role.FUNCTION and callable(found) and default is not None:
                yield check_nature(mention, found, default.__wrapped__)

    def _import_submodules(self, key: str, module: str) -> Iterator[Finding]:
        """Import all submodules, so that all functions are registered; tests and scripts are not.

        A submodule may need a package that is absent: then its functions are not known here.
        """
        for each in iter_modules(getattr(sys.modules[module], "__path__", ())):
            name = f"{module}.{each.name}"
            if each.name in _NO_CODE or each.name.startswith("test_"):
                continue
            if self.journal.begins(f"importing {name}", key, name):
                finding = self.importer.try_module(name, self.needs_submodules)
                if finding is None:
                    yield from self._import_submodules(key, name)
                else:
                    yield finding

    def check_backend(self, mention: Mention, backend: Any) -> Iterator[Finding]:
        """Check whether an object registers functions for this backend."""
        identifier = mention.text
        # By name: a library may vendor this package.
        if all(each.__name__ != "BackendImplementation" for each in type(backend).__mro__):
            yield error(
                f"{identifier!r} is not a BackendImplementation but of type "
                f"{type(backend).__qualname__!r}",
                "Name the BackendImplementation with which the code registers its functions",
            )
        elif backend.name != self.name:
            yield error(
                f"{identifier!r} calls itself {backend.name!r}, the description {self.name!r}",
                "Give both the same name",
            )
        else:
            # The class of the public package `spatch` does not have the attribute.
            self._registered[mention.key] = getattr(backend, "functions", {})


_CHECKS: dict[Role, Callable[[DescriptionCheck, Mention], Iterable[Finding | None]]] = {
    Role.TYPE: lambda check, each: check_pattern(TypePattern(each.text), check.importer),
    Role.LIBRARY_FUNCTION: lambda check, each: [check.functions.check(each.text)],
    Role.ATTRIBUTE: lambda check, each: [check.functions.check_attribute(each.text)],
    Role.MODULE: DescriptionCheck.check_module,
}
"""How a name in each role is checked."""
_OBJECT_CHECKS: dict[Role, Callable[[DescriptionCheck, Mention, Any], Iterable[Finding | None]]] = {
    Role.BACKEND: DescriptionCheck.check_backend,
    Role.FUNCTION: DescriptionCheck.check_callable,
    Role.SHOULD_RUN: DescriptionCheck.check_callable,
    Role.CONVERSION: lambda check, each, found: [check_conversion(each, found)],
    Role.VALUE: lambda check, each, found: [],  # any object will do
}
"""How the imported object is checked, in all other roles."""


def moved_functions(
    mentions: Iterable[Mention], functions: Mapping[str, Any]
) -> dict[str | None, Finding]:
    """Return a fault for each function of the file that the code registers for another one.

    The library would call it for both.
    """
    names = {each.identifier: name for name, each in functions.items()}
    found: dict[str | None, Finding] = {}
    for each in mentions:
        is_moved = each.role is Role.FUNCTION and each.text in names
        if is_moved and each.library_function not in functions:
            message = f"the code registers {each.text!r} for {names[each.text]!r} instead"
            remedy = "Register it for both, or run `spatch-core update --prune`"
            found[each.library_function] = error(message, remedy)._replace(key=each.key)
    return found


# --- Type patterns --------------------------------------------------------------------------------


def check_pattern(pattern: TypePattern, importer: Importer) -> Iterator[Finding]:
    """Import the class of a type pattern, and yield the reasons why it can never match."""
    package = package_of(pattern.module)
    if not is_module_installed(package):
        meant = importer.identifiers_like(pattern.module, pattern.qualname)
        if meant:
            yield error(
                f"there is no module {pattern.module!r}, so {str(pattern)!r} can never match",
                f"Did you mean {pattern.prefix + meant[0]!r}?",
            )
        else:
            yield unchecked(f"the package {package!r} is not installed here")
        return
    finding = importer.try_module(pattern.module, is_needed=False)
    if finding is not None:
        yield finding
        return
    remedy = "Name the class by the module and qualname that it has"
    found = importer.load(pattern.identifier, is_needed=False, otherwise=remedy)
    if isinstance(found, Finding):
        # A class need not be an attribute of its module.
        named = [each for each in every_class() if type_identifier(each) == pattern.identifier]
        if not (named or "<locals>" in pattern.qualname):
            yield found._replace(message=f"{found.message}, so {str(pattern)!r} can never match")
    else:
        named = [found]
    for each in named[:1]:
        yield from _check_class(pattern, each)


def _check_class(pattern: TypePattern, found: Any) -> Iterator[Finding]:
    if not isclass(found):
        yield error(
            f"{pattern.identifier!r} is not a class but of type {type(found).__qualname__!r}, so "
            "it can never match",
            "Name the type of the objects, e.g. 'numpy:ndarray' instead of 'numpy:array'",
        )
    elif pattern.prefix == EXACT and (isabstract(found) or getattr(found, "_is_protocol", False)):
        yield error(
            f"{pattern.identifier!r} is abstract: no object has exactly this type, so it can "
            "never match",
            f"Write '@{pattern.identifier}' for classes registered with it too, or "
            f"'~{pattern.identifier}' for its subclasses",
        )


# --- Priorities, and the calls that a backend takes -----------------------------------------------


def check_calls(description: Description, system: BackendSystem, waits: bool) -> Iterator[Finding]:
    """Yield notes about the calls that a backend takes, and about its priorities.

    `waits` says whether it runs only where it is prioritized, although it does not require opt-in.
    """
    own = own_types(system)
    if waits:
        found = note(
            "it waits for prioritize: the library works with all of its types itself and goes "
            "first, so it never runs unasked",
            "Write requires_opt_in = true, which says so; users then choose it with prioritize",
        )
        yield found._replace(key="requires_opt_in")
    if own and "builtins" not in [each.module for each in own]:
        for position, each in enumerate(description.primary_types):
            if each.module == "builtins" and not description.in_code:
                called = f"f({each.qualname})"
                found = note(
                    f"the library lists none of Python's own classes: the backend takes calls "
                    f"like {called}, and none that has an object of the library beside it",
                    f"Remove {str(each)!r}, unless calls like {called} are meant",
                )
                yield found._replace(key=f"primary_types[{position}]")
    yield from _check_priority(description, system)


def _check_priority(description: Description, system: BackendSystem) -> Iterator[Finding]:
    """Yield a note for each name in a priority that resembles the name of an installed backend.

    Other names are no fault: a backend may name some that are not installed.
    """
    if not (description.higher_priority_than or description.lower_priority_than):
        return
    names = names_of_backends(system) - {description.name}
    for key in ("higher_priority_than", "lower_priority_than"):
        for position, name in enumerate(getattr(description, key)):
            meant = [] if name in names else names_like(name, names)
            if meant:
                found = note(f"no backend {name!r} is installed", did_you_mean(meant))
                yield found._replace(key=f"{key}[{position}]")
