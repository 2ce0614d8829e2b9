"""Why something cannot be imported: misspelled, not installed here, or broken."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from re import search, sub
from typing import Any, NamedTuple

from .._identifiers import nearest, split_identifier
from ._findings import Severity
from ._installed import owners_of_packages

# Packages have similar names by chance too: cupy and numpy, ray and array.
_MISSPELLED = 0.8


class Fault(NamedTuple):
    """What is wrong, how bad that is, and what to do."""

    severity: Severity
    message: str
    remedy: str
    is_unchecked: bool = False
    """Whether nothing is known to be wrong: it is not installed here, for example."""
    is_absent: bool = False
    """Whether there is no such module."""


class Importer:
    """Imports for an examination, and explains failures.

    Parameters
    ----------
    own : iterable of str
        Top-level packages of the backend and the library, by which a name may be meant.
    requirements : iterable of str, optional
        What the backend's distribution requires, optionally or not.
    foreign : iterable of str, optional
        Top-level packages that must not be touched.
    nowhere : iterable of str, optional
        Top-level packages that were looked for around the backend's file, in vain.
    """

    def __init__(
        self,
        own: Iterable[str],
        requirements: Iterable[str] = (),
        foreign: Iterable[str] = (),
        nowhere: Iterable[str] = (),
    ) -> None:
        self.own = set(own)
        self.requirements = {sub("[-_.]+", "_", name).lower() for name in requirements}
        self.foreign = set(foreign) - self.own
        self.nowhere = set(nowhere)
        self.found: dict[str, Any] = {}

    def load(self, identifier: str, is_needed: bool) -> Any:
        """Import what an identifier names.

        Returns
        -------
        object
            What it names, or a `Fault`; the same each time.
        """
        if identifier not in self.found:
            self.found[identifier] = self._load(identifier, is_needed)
        return self.found[identifier]

    def _load(self, identifier: str, is_needed: bool) -> Any:
        module, qualname = split_identifier(identifier)
        fault = self.try_module(module, is_needed)
        if fault is not None:
            return fault
        found: Any = sys.modules[module]
        for part in qualname.split("."):
            outer = found
            try:
                found = getattr(outer, part)
            except BaseException as error:  # noqa: BLE001  # a third party's attribute hook
                why = "" if isinstance(error, AttributeError) else f" ({error})"
                return Fault(
                    Severity.ERROR,
                    f"{module!r} has no {qualname!r}{why}",
                    did_you_mean(attributes_like(outer, part), "Correct the name, or write it"),
                )
        return found

    def try_module(self, module: str, is_needed: bool) -> Fault | None:
        """Import a module; return why that fails.

        Parameters
        ----------
        module : str
            The module.
        is_needed : bool
            Whether the backend has something to do here, so that what is missing is missed.
        """
        try:
            import_module(module)
        except BaseException as error:  # noqa: BLE001  # a third party's import
            return self._explain(module, error, is_needed)
        return None

    def _explain(self, module: str, error: BaseException, is_needed: bool) -> Fault:
        absent = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        if not absent:
            return Fault(
                Severity.ERROR,
                f"importing {module} failed with {type(error).__name__}: {error}{_place(error)}",
                f"Correct {module}, or what it imports",
            )
        package, _, _ = absent.partition(".")
        is_itself = f"{module}.".startswith(f"{absent}.")
        wanted = "" if is_itself else f", which {module} imports{_place(error)}"
        if is_installed(package):
            return Fault(
                Severity.ERROR,
                f"there is no module {absent!r}{wanted}",
                did_you_mean(submodules_like(absent), "Correct the name, or ship the module"),
                is_absent=True,
            )
        is_required = sub("[-_.]+", "_", package).lower() in self.requirements
        meant = [] if is_required else self.packages_like(package)
        if meant:
            message = f"there is no module {absent!r}{wanted}"
            return Fault(Severity.ERROR, message, did_you_mean(meant), is_absent=True)
        wanted = f"{wanted}," if wanted else ""
        if not is_needed:
            return unchecked(f"the package {package!r}{wanted} is not installed here")
        near = nearest(package, sys.stdlib_module_names, _MISSPELLED)
        otherwise = f"; if {package} is no package at all, {_correct(near)}"
        if package in self.nowhere:
            otherwise = f": no folder around the file is called {package!r}"
        elif not is_itself:
            otherwise = f", and require it of those who install the backend{otherwise}"
        return Fault(
            Severity.WARNING,
            f"the package {package!r}{wanted} is not installed, so that calls fail",
            f"Install it{otherwise}",
            is_absent=True,
        )

    def packages_like(self, package: str) -> list[str]:
        """Return packages of similar names that are installed, Python's own left aside."""
        known = {*self.own, *owners_of_packages()} - self.foreign
        return nearest(package, known, _MISSPELLED)

    def identifiers_like(self, module: str, qualname: str) -> list[str]:
        """Return identifiers of this qualname in installed packages of similar names.

        Nothing is imported. Their text has to name it, because packages are similar by
        chance: there is a module ``array`` in Python, which nobody means who writes
        ``xarray:DataArray``.
        """
        package, dot, rest = module.partition(".")
        known = {*self.own, *owners_of_packages(), *sys.stdlib_module_names} - self.foreign
        names = [f"{name}{dot}{rest}" for name in nearest(package, known, _MISSPELLED)]
        first = qualname.partition(".")[0]
        return [f"{name}:{qualname}" for name in names if _is_mentioned(first, name)]


def unchecked(why: str) -> Fault:
    """Return a remark that something is not checked."""
    message = f"{why}, so that this is not checked"
    return Fault(Severity.NOTE, message, "Check where it is installed", True)


def is_installed(package: str) -> bool:
    """Whether there is a top-level module of this name."""
    try:
        return package in sys.modules or find_spec(package) is not None
    except Exception:  # noqa: BLE001  # a third party's finder
        return False


def submodules_like(absent: str) -> list[str]:
    """Return modules whose names resemble that of one that is not there."""
    parent, _, last = absent.rpartition(".")
    path = getattr(sys.modules.get(parent), "__path__", None)
    names = [] if path is None else [each.name for each in iter_modules(list(path))]
    return [f"{parent}.{name}" for name in nearest(last, names)]


def attributes_like(thing: object, name: str) -> list[str]:
    """Return attributes of a module or class whose names resemble `name`."""
    try:
        return nearest(name, dir(thing))
    except Exception:  # noqa: BLE001  # a third party's __dir__
        return []


def did_you_mean(names: list[str], otherwise: str = "") -> str:
    """Ask whether one of these was meant, if there is any."""
    return f"Did you mean {' or '.join(map(repr, names))}?" if names else otherwise


def _correct(near: list[str]) -> str:
    return f"did you mean {' or '.join(map(repr, near))}?" if near else "correct the name"


def _is_mentioned(name: str, module: str) -> bool:
    """Whether the text of a module, or its stub, has a name; the module is not run."""
    try:
        spec = _find(module)
        file = Path(str(spec and spec.origin))
        texts = [file.with_suffix(each) for each in (".py", ".pyi")]
        return any(
            search(rf"\b{name}\b", each.read_text("utf-8")) for each in texts if each.is_file()
        )
    except Exception:  # noqa: BLE001  # a third party's finder, or no text in UTF-8
        return False


def _find(module: str) -> ModuleSpec | None:
    """Find a module without importing the packages around it."""
    package, *rest = module.split(".")
    spec = find_spec(package)
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        package = f"{package}.{part}"
        spec = PathFinder.find_spec(package, list(spec.submodule_search_locations))
    return spec


def _place(error: BaseException) -> str:
    """Say where the last line is that was at work, outside of the import system."""
    place, traceback = "", error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith("<") and file != __file__ and "importlib" not in file:
            place = f" ({file}:{traceback.tb_lineno})"
        traceback = traceback.tb_next
    return place
