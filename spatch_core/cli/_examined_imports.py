"""Why something cannot be imported: misspelled, not installed here, or broken."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from re import sub
from typing import Any, NamedTuple

from .._identifiers import nearest
from ._findings import Severity
from ._installed import owners_of_packages

# Packages have similar names by chance too: cupy and numpy, ray and array.
_MISSPELLED = 0.8
_PRANKS = {"antigravity", "this"}  # modules of Python's own that do something when imported


class Fault(NamedTuple):
    """What is wrong, how bad that is, and what to do."""

    severity: Severity
    message: str
    remedy: str


class Importer:
    """Imports for an examination, and explains failures.

    Parameters
    ----------
    own : iterable of str
        Top-level packages of the backend and the library, by which a name may be meant.
    requirements : iterable of str
        What the backend's distribution requires, optionally or not.
    foreign : iterable of str
        Top-level packages that must not be touched.
    """

    def __init__(
        self, own: Iterable[str], requirements: Iterable[str], foreign: Iterable[str]
    ) -> None:
        self.own = set(own)
        self.requirements = {sub("[-_.]+", "_", name).lower() for name in requirements}
        self.foreign = set(foreign) - self.own

    def explain(self, module: str, error: BaseException, is_needed: bool) -> Fault:
        """Explain why importing `module` failed.

        Parameters
        ----------
        module : str
            What was imported.
        error : BaseException
            What that raised.
        is_needed : bool
            Whether the backend has something to do here, so that what is missing is missed.
        """
        absent = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        if not absent:
            return Fault(
                Severity.ERROR,
                f"importing {module} failed with {type(error).__name__}: {error}",
                f"Correct {module}, or what it imports",
            )
        package, _, _ = absent.partition(".")
        is_itself = f"{module}.".startswith(f"{absent}.")
        wanted = "" if is_itself else f", which {module} imports"
        if is_installed(package):
            return Fault(
                Severity.ERROR,
                f"there is no module {absent!r}{wanted}",
                did_you_mean(submodules_like(absent), "Correct the name, or ship the module"),
            )
        meant = [] if self.is_required(package) else self.packages_like(package)
        if meant:
            return Fault(
                Severity.ERROR, f"there is no module {absent!r}{wanted}", did_you_mean(meant)
            )
        wanted = f"{wanted}," if wanted else ""
        if is_needed:
            return Fault(
                Severity.WARNING,
                f"the package {package!r}{wanted} is not installed, so that calls fail",
                f"Install it, and require it of those who install the backend; if {package} is "
                "no package at all, correct the name",
            )
        return Fault(
            Severity.NOTE,
            f"the package {package!r}{wanted} is not installed here, so that this is not checked",
            "Check where it is installed",
        )

    def is_required(self, package: str) -> bool:
        """Whether the distribution says that it requires a package of this name."""
        return sub("[-_.]+", "_", package).lower() in self.requirements

    def packages_like(self, package: str) -> list[str]:
        """Return packages of similar names that are installed, Python's own left aside."""
        known = {*self.own, *owners_of_packages()} - self.foreign
        return nearest(package, known, _MISSPELLED)

    def identifiers_like(self, module: str, qualname: str) -> list[str]:
        """Return identifiers of this qualname in installed packages of similar names.

        They are imported, because names are similar by chance: there is a module ``array``
        in Python, which nobody means who writes ``xarray:DataArray``.
        """
        package, dot, rest = module.partition(".")
        known = {*self.own, *owners_of_packages(), *sys.stdlib_module_names}
        found = []
        for name in nearest(package, known - self.foreign - _PRANKS, _MISSPELLED):
            try:
                thing: Any = import_module(f"{name}{dot}{rest}")
                for part in qualname.split("."):
                    thing = getattr(thing, part)
            except BaseException:  # noqa: BLE001  # a third party's import
                continue
            found.append(f"{name}{dot}{rest}:{qualname}")
        return found


def is_installed(package: str) -> bool:
    """Whether there is a top-level module of this name."""
    try:
        return package in sys.modules or find_spec(package) is not None
    except Exception:  # noqa: BLE001  # a third party's finder
        return False


def submodules_like(absent: str) -> list[str]:
    """Return modules whose names resemble that of one that is not there."""
    parent, _, last = absent.rpartition(".")
    if not parent:
        return []
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
