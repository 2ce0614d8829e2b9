"""The functions and modules of a library, with which a description is compared."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._errors import Finding, Severity, Source, nearest, replace
from .._patterns import loaded_object, split_identifier
from .adoptions import adopted_name, is_adopted
from .findings import error, unchecked, warning
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
        installed libraries count, because a file does not name its library.
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
        # No error: another version of the library may have the function.
        otherwise = "remove it, or say which versions of the library the backend requires"
        hint = did_you_mean(functions_near(identifier, functions))
        remedy = f"{hint} Else {otherwise}" if hint else otherwise[0].upper() + otherwise[1:]
        return warning(message, remedy)

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
