"""Imports modules and objects, and explains failures: misspelled, absent or broken."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .._errors import Finding, in_words, nearest
from .._patterns import split_identifier
from .findings import error, unchecked, warning
from .packages import Requirements, owners_of_packages, package_of
from .suggestions import attributes_like, did_you_mean, has_name, submodules_like

_MISSPELLED = 0.8
"""The least similarity of a misspelled package: cupy and numpy, ray and array are unrelated."""
_ENVIRONMENTAL = (ImportError, OSError, RuntimeError)
"""Errors of modules that cannot work on this machine, for example without a GPU."""
_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
"""The folder of spatch_core."""


class Importer:
    """Imports for an examination, and explains failures.

    Parameters
    ----------
    own : iterable of str
        The top-level packages of the backend and of the library. A misspelled name may mean one.
    requirements : Requirements, optional
        The requirements of the backend's distribution.
    foreign : iterable of str, optional
        Top-level packages of blocked backends, which are never suggested.
    nowhere : iterable of str, optional
        Top-level packages of the backend's code that no folder around its file contains.
    """

    def __init__(
        self,
        own: Iterable[str],
        requirements: Requirements | None = None,
        foreign: Iterable[str] = (),
        nowhere: Iterable[str] = (),
    ) -> None:
        self.own = set(own)
        self.requirements = requirements or Requirements()
        self.foreign = set(foreign) - self.own
        self.nowhere = set(nowhere)
        self.found: dict[str, Any] = {}

    def load(self, identifier: str, is_needed: bool) -> Any:
        """Return the object that an identifier names, or a `Finding`; results are cached."""
        if identifier not in self.found:
            self.found[identifier] = self._load(identifier, is_needed)
        return self.found[identifier]

    def _load(self, identifier: str, is_needed: bool) -> Any:
        module, qualname = split_identifier(identifier)
        finding = self.try_module(module, is_needed)
        if finding is not None:
            return finding
        found: Any = sys.modules[module]
        for part in qualname.split("."):
            outer = found
            try:
                found = getattr(outer, part)
            except BaseException as raised:  # noqa: BLE001  # a third party's __getattr__
                why = "" if isinstance(raised, AttributeError) else f" ({raised})"
                return error(
                    f"{module!r} has no {qualname!r}{why}",
                    did_you_mean(attributes_like(outer, part), "Correct the name, or write it"),
                )
        return found

    def try_module(self, module: str, is_needed: bool) -> Finding | None:
        """Import a module; return a finding if that fails.

        `is_needed` says whether the backend has work here: then a missing package is a fault.
        """
        try:
            import_module(module)
        except BaseException as raised:  # noqa: BLE001  # a third party's import
            return self._explain(module, raised, is_needed)
        return None

    def _explain(self, module: str, raised: BaseException, is_needed: bool) -> Finding:
        missing = _missing(raised)
        if missing is None:
            return _failure(module, raised, is_needed)
        absent = str(missing.name)
        package, _, _ = absent.partition(".")
        is_itself = f"{module}.".startswith(f"{absent}.")
        wanted = "" if is_itself else f", which {module} imports{_place(missing)}"
        message = f"there is no module {absent!r}{wanted}"
        if is_module_installed(package):
            meant = did_you_mean(submodules_like(absent), "Correct the name, or ship the module")
            return error(message, meant, is_absent=True)
        near = [] if package in self.requirements else self.packages_like(package)
        if near:
            return error(message, did_you_mean(near), is_absent=True)
        wanted = f"{wanted}," if wanted else ""
        said = "" if missing is raised else f" ({raised})"
        if not is_needed:
            return unchecked(f"the package {package!r}{wanted} is not installed here{said}")
        correct = did_you_mean(
            nearest(package, sys.stdlib_module_names, _MISSPELLED), "correct the name"
        )
        otherwise = f"; if {package} is no package at all, {correct[0].lower()}{correct[1:]}"
        if package in self.nowhere:
            otherwise = f": no folder around the file is called {package!r}"
        elif not is_itself:
            otherwise = f", and make it a dependency of the backend{otherwise}"
        return warning(
            f"the package {package!r}{wanted} is not installed{said}, so calls fail",
            self.requirements.remedy(package) or f"Install it{otherwise}",
            is_absent=True,
        )

    def packages_like(self, package: str) -> list[str]:
        """Return installed packages with similar names, without the standard library."""
        known = {*self.own, *owners_of_packages()} - self.foreign
        return nearest(package, known, _MISSPELLED)

    def identifiers_like(self, module: str, qualname: str) -> tuple[list[str], list[str]]:
        """Return identifiers with this qualname in installed packages of similar names.

        A similar name is not enough, because ``xarray:DataArray`` does not mean the module
        ``array``: the module's source must have the name, too. Only the standard library is
        imported.

        Returns
        -------
        meant, perhaps : list of str
            Identifiers that exist, and identifiers of modules whose source does not say.
        """
        package, dot, rest = module.partition(".")
        known = {*self.own, *owners_of_packages(), *sys.stdlib_module_names} - self.foreign
        first = qualname.partition(".")[0]
        meant: list[str] = []
        perhaps: list[str] = []
        for each in nearest(package, known, _MISSPELLED):
            name = f"{each}{dot}{rest}"
            has = has_name(name, first)
            if has or has is None:
                (meant if has else perhaps).append(f"{name}:{qualname}")
        return meant, perhaps


def _missing(raised: BaseException) -> ModuleNotFoundError | None:
    """Return the error about an absent module that caused an error, if there is one.

    Packages often raise an error of their own from it, with instructions for the installation.
    """
    cause: BaseException | None = raised
    for _ in range(9):  # a chain may have a loop
        if isinstance(cause, ModuleNotFoundError) and cause.name:
            package = package_of(cause.name)
            return cause if cause is raised or not is_module_installed(package) else None
        if not isinstance(cause, _ENVIRONMENTAL):
            break
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return None


def _failure(module: str, raised: BaseException, is_needed: bool) -> Finding:
    message = f"importing {module} failed with {in_words(raised)}{_place(raised)}"
    # The import system sets `name`. Without it, the module itself raised the error as advice.
    is_advice = isinstance(raised, ImportError) and raised.name is None
    is_ours = isinstance(raised, ImportError) and str(raised).startswith("cannot import name")
    if isinstance(raised, _ENVIRONMENTAL) and not is_needed and not is_ours:
        return unchecked(message, "Check where it can be imported")
    if is_advice:
        return warning(f"{message}, so calls fail", f"Follow its advice, or correct {module}")
    return error(message, f"Correct {module}, or what it imports")


def is_module_installed(package: str) -> bool:
    """Whether there is a top-level module of this name."""
    try:
        return package in sys.modules or find_spec(package) is not None
    except Exception:  # noqa: BLE001  # a third party's finder
        return False


def _place(raised: BaseException) -> str:
    """Return the innermost line of a traceback, outside of the import system and spatch_core.

    An error that spatch_core raises is about its caller, for example ``implements("m.f")``.
    """
    place, traceback = "", raised.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith(("<", _PACKAGE)) and "importlib" not in file:
            place = f" ({file}:{traceback.tb_lineno})"
        traceback = traceback.tb_next
    return place
