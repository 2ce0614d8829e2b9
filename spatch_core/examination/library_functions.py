"""The dispatchable functions of a library, with which a description is compared."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._identifiers import loaded_object, split_identifier
from .._reporting.problems import Source
from .adoptions import adopted_name, is_adopted
from .findings import Finding, Severity, error, unchecked, warning
from .foreign_code import foreign_code
from .importing import Importer, is_module_installed
from .libraries import Library, find_libraries, import_public_names
from .live import live_systems
from .packages import package_of
from .signatures import find_signature
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
