"""Checks a description by importing everything that it names."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from .._description import EVERY
from .._errors import Finding, replace
from .._patterns import ABSTRACT, TypePattern
from .findings import error, note
from .function_check import check_callable, check_conversion, check_every
from .importing import Importer, is_module_installed
from .library_functions import LibraryFunctions
from .mentions import Mention, Role
from .packages import package_of
from .type_check import check_pattern

if TYPE_CHECKING:
    from inspect import Signature

    from ..backend_system import BackendSystem
    from .child import Journal


_NO_CODE = ("__main__", "conftest", "test", "tests")


class DescriptionCheck:
    """Imports everything that one description names, and reports the faults.

    Parameters
    ----------
    mentions : iterable of Mention
        Everything importable that the description names.
    importer : Importer
        Imports, and explains failures.
    journal : Journal
        Records each step before it is taken.
    name : str, optional
        The name of the backend.
    library : str, optional
        The module of the library's system, which has been imported.
    system : BackendSystem, optional
        The library's system, with all functions imported.
    """

    def __init__(
        self,
        mentions: Iterable[Mention],
        importer: Importer,
        journal: Journal,
        *,
        name: str | None = None,
        library: str | None = None,
        system: BackendSystem | None = None,
    ) -> None:
        self.mentions = list(mentions)
        self.importer = importer
        self.journal = journal
        self.name = name
        self.library = library
        self.functions = LibraryFunctions(importer, system)
        self.is_needed = any(
            is_module_installed(package_of(each.module))
            for each in self.mentions
            if each.key.startswith("primary_types")
        )
        """Whether the backend can have work here: the package of a primary type is installed."""
        self.needs_submodules = False
        """Whether a submodule that cannot be imported here is a fault."""
        self._registered: dict[str, Iterable[str]] = {}
        """By the key of a `BackendImplementation`, the functions that it has; filled by imports."""

    def findings(self) -> Iterator[Finding]:
        """Yield each finding once, with its key."""
        seen = set()
        # Imports of abstract classes are timed: they come first, while little has been imported.
        for each in sorted(
            self.mentions, key=lambda mention: not mention.text.startswith(ABSTRACT)
        ):
            is_used = each.role in (Role.FUNCTION, Role.SHOULD_RUN, Role.CONVERSION)
            step = f"using {each.text}" if is_used else f"importing {each.module}"
            if self.journal.begins(step, each.key, each.module):
                for finding in self._check(each):
                    found = replace(finding, key=each.key)
                    if found not in seen:
                        seen.add(found)
                        yield found

    def _check(self, mention: Mention) -> Iterator[Finding]:
        if mention.role is Role.TYPE:
            yield from check_pattern(TypePattern(mention.text), self.importer, self.library)
            return
        if mention.role is Role.LIBRARY_FUNCTION:
            finding = self.functions.check(mention.text)
        elif mention.role is Role.ATTRIBUTE:
            finding = self.functions.check_attribute(mention.text)
        elif mention.role is Role.MODULE:
            finding = self.importer.try_module(mention.text, self.is_needed)
            if finding is None:
                yield from self._import_submodules(mention.key, mention.text)
        else:
            found = self.importer.load(mention.text, self.is_needed)
            if isinstance(found, Finding):
                finding = found
            elif mention.role is Role.BACKEND:
                finding = self._check_backend(mention, found)
            elif mention.role is Role.VALUE:
                finding = None  # any object will do
            elif mention.role is Role.CONVERSION:
                finding = check_conversion(mention, found)
            elif mention.library_function == EVERY:
                finding = check_every(mention, found, self._others())
            else:
                default = self.functions.signature(mention.library_function)
                finding = check_callable(mention, found, default)
        if finding is not None:
            yield finding

    def _import_submodules(self, key: str, module: str) -> Iterator[Finding]:
        """Import all submodules, so that all functions are registered; tests and scripts are not.

        A package that only a submodule needs may be absent: then its functions are not known here.
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

    def _others(self) -> Iterator[tuple[str, Signature]]:
        """Yield the library's functions that have no table of their own, if they are known."""
        if self.functions.system is None:
            return
        own = {each.text for each in self.mentions if each.role is Role.LIBRARY_FUNCTION}
        for identifier in self.functions.system.functions:
            signature = None if identifier in own else self.functions.signature(identifier)
            if signature is not None:
                yield identifier, signature

    def unmentioned(self) -> Iterator[Finding]:
        """After `findings`, yield a note if the code has functions that the description lacks."""
        own = {each.text for each in self.mentions if each.role is Role.LIBRARY_FUNCTION}
        for key, functions in self._registered.items():
            missing = sorted(set(functions) - own)
            if missing:
                message = f"the description lacks functions of the backend: {', '.join(missing)}"
                yield replace(note(message, "`spatch-core update` adds them"), key=key)

    def _check_backend(self, mention: Mention, backend: Any) -> Finding | None:
        identifier = mention.text
        # By name: a library may vendor this package.
        if all(each.__name__ != "BackendImplementation" for each in type(backend).__mro__):
            return error(
                f"{identifier!r} is not a BackendImplementation but of type "
                f"{type(backend).__qualname__!r}",
                "Name a BackendImplementation",
            )
        if backend.name != self.name:
            return error(
                f"{identifier!r} calls itself {backend.name!r}, the description {self.name!r}",
                "Give both the same name",
            )
        # The class of the public package `spatch` does not have the attribute.
        self._registered[mention.key] = getattr(backend, "functions", ())
        return None
