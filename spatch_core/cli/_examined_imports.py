"""Why something cannot be imported: misspelled, not installed here, or broken."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from .._identifiers import nearest, split_identifier
from ._findings import Severity
from ._installed import owners_of_packages
from ._requirements import Requirements
from ._similar import attributes_like, did_you_mean, has_name, submodules_like

# Packages have similar names by chance too: cupy and numpy, ray and array.
_MISSPELLED = 0.8
_ENVIRONMENTAL = (ImportError, OSError, RuntimeError)
"""What modules raise that cannot work on this machine: without a GPU's library, say."""


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
    requirements : Requirements, optional
        Of the backend's distribution.
    foreign : iterable of str, optional
        Top-level packages that must not be touched.
    nowhere : iterable of str, optional
        Top-level packages that were looked for around the backend's file, in vain.
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
        missing = _missing(error)
        if missing is None:
            return _failure(module, error, is_needed)
        absent = str(missing.name)
        package, _, _ = absent.partition(".")
        is_itself = f"{module}.".startswith(f"{absent}.")
        wanted = "" if is_itself else f", which {module} imports{_place(missing)}"
        if is_installed(package):
            return Fault(
                Severity.ERROR,
                f"there is no module {absent!r}{wanted}",
                did_you_mean(submodules_like(absent), "Correct the name, or ship the module"),
                is_absent=True,
            )
        meant = [] if package in self.requirements else self.packages_like(package)
        if meant:
            message = f"there is no module {absent!r}{wanted}"
            return Fault(Severity.ERROR, message, did_you_mean(meant), is_absent=True)
        wanted = f"{wanted}," if wanted else ""
        said = "" if missing is error else f" ({error})"
        if not is_needed:
            return unchecked(f"the package {package!r}{wanted} is not installed here{said}")
        near = nearest(package, sys.stdlib_module_names, _MISSPELLED)
        otherwise = f"; if {package} is no package at all, {_correct(near)}"
        if package in self.nowhere:
            otherwise = f": no folder around the file is called {package!r}"
        elif not is_itself:
            otherwise = f", and require it of those who install the backend{otherwise}"
        return Fault(
            Severity.WARNING,
            f"the package {package!r}{wanted} is not installed{said}, so that calls fail",
            self.requirements.remedy(package) or f"Install it{otherwise}",
            is_absent=True,
        )

    def packages_like(self, package: str) -> list[str]:
        """Return packages of similar names that are installed, Python's own left aside."""
        known = {*self.own, *owners_of_packages()} - self.foreign
        return nearest(package, known, _MISSPELLED)

    def identifiers_like(self, module: str, qualname: str) -> tuple[list[str], list[str]]:
        """Return identifiers of this qualname in installed packages of similar names.

        Nothing is imported but Python's own modules. Packages are similar by chance: there is a
        module ``array`` in Python, which nobody means who writes ``xarray:DataArray``.

        Returns
        -------
        meant, perhaps : list of str
            Those that are there, and those of which that cannot be told.
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


def unchecked(why: str, remedy: str = "Check where it is installed") -> Fault:
    """Return a remark that something is not checked."""
    return Fault(Severity.NOTE, f"{why}, so that this is not checked", remedy, True)


def _missing(error: BaseException) -> ModuleNotFoundError | None:
    """Return what is behind an error, if that is a module that is not there.

    Who says nicely that a dependency is missing raises an error of their own from it.
    """
    cause: BaseException | None = error
    for _ in range(9):
        if isinstance(cause, ModuleNotFoundError) and cause.name:
            package = cause.name.partition(".")[0]
            return cause if cause is error or not is_installed(package) else None
        if not isinstance(cause, _ENVIRONMENTAL):
            break
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return None


def _failure(module: str, error: BaseException, is_needed: bool) -> Fault:
    message = f"importing {module} failed with {type(error).__name__}: {error}{_place(error)}"
    # Raised by the module itself, not by the import system: somebody wrote what is to be done.
    is_said = isinstance(error, ImportError) and error.name is None
    is_ours = isinstance(error, ImportError) and str(error).startswith("cannot import name")
    if isinstance(error, _ENVIRONMENTAL) and not is_needed and not is_ours:
        return unchecked(message, "Check where it can be imported")
    if is_said:
        remedy = f"Do what it says, or correct {module}"
        return Fault(Severity.WARNING, f"{message}, so that calls fail", remedy)
    return Fault(Severity.ERROR, message, f"Correct {module}, or what it imports")


def is_installed(package: str) -> bool:
    """Whether there is a top-level module of this name."""
    try:
        return package in sys.modules or find_spec(package) is not None
    except Exception:  # noqa: BLE001  # a third party's finder
        return False


def _correct(near: list[str]) -> str:
    return f"did you mean {' or '.join(map(repr, near))}?" if near else "correct the name"


def _place(error: BaseException) -> str:
    """Say where the last line is that was at work, outside of the import system."""
    place, traceback = "", error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith("<") and file != __file__ and "importlib" not in file:
            place = f" ({file}:{traceback.tb_lineno})"
        traceback = traceback.tb_next
    return place
