"""Imports what descriptions name, and explains failures: misspelled, absent or broken."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from pkgutil import iter_modules
from re import match, search, sub
from typing import TYPE_CHECKING, Any

from .._environment import installed_distributions, installed_version
from .._errors import Finding, in_words, nearest
from .._patterns import split_identifier
from .findings import error, unchecked, warning

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from .._description import Description

_MISSPELLED = 0.8
"""The least similarity of a misspelled package: cupy and numpy, ray and array are unrelated."""
_SIMILARITY = 0.75
"""The least similarity of each part of a misspelled function."""
_ENVIRONMENTAL = (ImportError, OSError, RuntimeError)
"""Errors of modules that cannot work on this machine, for example without a GPU."""
_JOKES = {"antigravity", "this"}
"""Modules of the standard library that act when they are imported, and have no types."""
_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
"""The folder of spatch_core."""


class Importer:
    """Imports for an examination, and explains failures."""

    def __init__(
        self,
        own: Iterable[str],
        requirements: Requirements | None = None,
        nowhere: Iterable[str] = (),
    ) -> None:
        # The top-level packages of the backend and of the library: a misspelled name may mean one.
        self.own = set(own)
        self.requirements = requirements or Requirements()  # of the backend's distribution
        # Top-level packages of the backend's code that no folder around its file contains.
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
            missing = _missing(raised)
            if missing is None:
                return _failure(module, raised, is_needed)
            return self._absence(module, raised, missing, is_needed)
        return None

    def _absence(
        self, module: str, raised: BaseException, missing: ModuleNotFoundError, is_needed: bool
    ) -> Finding:
        """Return a finding about a module that is not installed, or misspelled."""
        absent = str(missing.name)
        package = package_of(absent)
        is_itself = f"{module}.".startswith(f"{absent}.")
        wanted = "" if is_itself else f", which {module} imports{_place(missing)}"
        message = f"there is no module {absent!r}{wanted}"
        if is_module_installed(package):
            meant = did_you_mean(submodules_like(absent), "Correct the name, or ship the module")
            return error(message, meant, is_absent=True)
        near = []
        if package not in self.requirements:
            near = nearest(package, {*self.own, *owners_of_packages()}, _MISSPELLED)
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

    def identifiers_like(self, module: str, qualname: str) -> tuple[list[str], list[str]]:
        """Return identifiers with this qualname in installed packages of similar names.

        A similar name is not enough, because ``xarray:DataArray`` does not mean the module
        ``array``: the module's source must have the name, too. The second list has identifiers of
        modules whose source does not say. Only the standard library is imported.
        """
        package, dot, rest = module.partition(".")
        known = {*self.own, *owners_of_packages(), *sys.stdlib_module_names}
        first = qualname.partition(".")[0]
        found: dict[bool | None, list[str]] = {True: [], False: [], None: []}
        for each in nearest(package, known, _MISSPELLED):
            name = f"{each}{dot}{rest}"
            found[_has_name(name, first)].append(f"{name}:{qualname}")
        return found[True], found[None]


def _missing(raised: BaseException) -> ModuleNotFoundError | None:
    """Return the error about an absent module that caused an error, if there is one.

    Packages often raise an error of their own from it, with instructions for the installation.
    """
    cause: BaseException | None = raised
    for _ in range(9):  # a chain may have a loop
        if isinstance(cause, ModuleNotFoundError) and cause.name:
            return cause
        if cause is None or not isinstance(cause, _ENVIRONMENTAL):
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


def is_module_installed(package: str) -> bool:
    """Whether there is a top-level module of this name."""
    try:
        return package in sys.modules or find_spec(package) is not None
    except Exception:  # noqa: BLE001  # a third party's finder
        return False


# --- Packages and their distributions -------------------------------------------------------------


def package_of(name: str) -> str:
    """Return the top-level package of a module, or of the module that an identifier names."""
    return name.partition(":")[0].partition(".")[0]


def owners_of_packages() -> dict[str, list[str]]:
    """Return the distributions of each top-level package and module.

    Unlike `importlib.metadata.packages_distributions`, it leaves out what uninstallations have left
    behind, and on Python 3.10 it needs no ``top_level.txt``, a file that only setuptools writes.
    """
    found: dict[str, list[str]] = {}
    for each in installed_distributions():
        owner = each.metadata["Name"]
        for name in sorted(_names(each)) if owner else ():
            found.setdefault(name, []).append(owner)
    return found


def _names(installed: Distribution) -> set[str]:
    names = {*(installed.read_text("top_level.txt") or "").split()}
    if not names:
        files = [PurePosixPath(str(file)) for file in installed.files or ()]
        names = {file.parts[0] for file in files if len(file.parts) > 1}
        names |= {file.stem for file in files if len(file.parts) == 1 and file.suffix == ".py"}
    return {name for name in names if name.isidentifier()}


def origin_of(
    function: str, backend: str, descriptions: Mapping[str, Description]
) -> tuple[str | None, str | None]:
    """Return the distribution of a backend and its version, or None.

    The library itself and backends in its code come from the distribution of `function`, one of
    the library's functions.
    """
    description = descriptions.get(backend)
    if description is not None and description.source.distribution is not None:
        return description.source.distribution, description.source.version
    for name in owners_of_packages().get(package_of(function), ()):
        version = installed_version(name)
        if version is not None:
            return name, version
    return None, None


class Requirements:
    """The requirements of a distribution, optional or not, as its metadata has them.

    >>> Requirements("oil", ["cupy-cuda12x; extra == 'gpu'"]).remedy("cupy_cuda12x")
    "Install it, as 'pip install oil[gpu]' does"
    """

    def __init__(self, name: str = "", texts: Iterable[str] = ()) -> None:
        self.name = name
        self.extras: dict[str, str] = {}
        self.always: list[str] = []
        for text in texts:
            found = match(r"\s*([\w.-]+)", text)
            if found:
                extra = search(r"""\bextra\s*==\s*['"]([\w.-]+)""", text)
                self.extras.setdefault(_normal(found[1]), extra[1] if extra else "")
                if ";" not in text:  # a marker may exclude this environment
                    self.always.append(found[1])

    def __contains__(self, package: str) -> bool:
        return _normal(package) in self.extras

    def remedy(self, package: str) -> str:
        """Say how to install a package; empty if it is no requirement."""
        extra = self.extras.get(_normal(package))
        if extra:
            return f"Install it, as 'pip install {self.name}[{extra}]' does"
        if extra is not None:
            return f"Install it: {self.name} requires it"
        missing = " and ".join(each for each in self.always if installed_version(each) is None)
        # A package may have another name than its distribution.
        return missing and f"Install {missing}, which {self.name} requires and which may have it"


def _normal(name: str) -> str:
    return sub("[-_.]+", "_", name).lower()


# --- Similar names --------------------------------------------------------------------------------


def did_you_mean(names: list[str], otherwise: str = "") -> str:
    """Ask whether one of the names was meant; without names, return `otherwise`."""
    return f"Did you mean {' or '.join(map(repr, names))}?" if names else otherwise


def submodules_like(absent: str) -> list[str]:
    """Return submodules beside an absent one that have similar names."""
    parent, _, last = absent.rpartition(".")
    path = getattr(sys.modules.get(parent), "__path__", None)
    names = [] if path is None else [each.name for each in iter_modules(list(path))]
    return [f"{parent}.{name}" for name in nearest(last, set(names) - {last})]


def attributes_like(thing: object, name: str) -> list[str]:
    """Return attributes of a module or class with names similar to `name`."""
    try:
        return nearest(name, dir(thing))
    except Exception:  # noqa: BLE001  # a third party's __dir__
        return []


def functions_like(identifier: str, known: Iterable[str]) -> list[str]:
    """Return up to three functions whose module and qualname are both similar.

    Digits must be the same.

    >>> functions_like("lib.fft:ffft", ["lib.fft:fft", "lib.fft:fft2", "lib.fft:shift"])
    ['lib.fft:fft']
    >>> functions_like("lib.ftt:fft", ["lib.fft:fft", "other.io:fft"])
    ['lib.fft:fft']
    """
    module, _, qualname = identifier.partition(":")
    package = package_of(module)
    found: dict[str, int] = {}
    for each in known:
        own_module, _, own = each.partition(":")
        if _digits(own) != _digits(qualname) or not nearest(qualname, [own], _SIMILARITY):
            continue
        if own_module == module:
            found[each] = 0
        elif nearest(module, [own_module], _SIMILARITY):
            found[each] = 1
        elif own == qualname and package_of(own_module) == package:
            found[each] = 2
    best = min(found.values(), default=0)
    return nearest(identifier, [each for each, rank in found.items() if rank == best], 0)


def functions_near(identifier: str, known: Iterable[str]) -> list[str]:
    """Return the functions that may be meant, also if they are only slightly similar.

    Besides `functions_like`, these are functions of the same module whose names differ in one
    letter or in the order of two, which makes short names dissimilar.

    >>> functions_like("lib:fm", ["lib:fn"]), functions_near("lib:fm", ["lib:fn", "lib:blur"])
    ([], ['lib:fn'])
    >>> functions_near("lib:dtw", ["lib:dwt", "lib:fft"])
    ['lib:dwt']
    """
    known = [*known]
    module, _, qualname = identifier.partition(":")
    own = [each for each in known if each.partition(":")[0] == module]
    slips = [each for each in own if _is_slip_of_one(qualname, each.partition(":")[2])]
    return functions_like(identifier, known) or nearest(identifier, slips)


def _digits(name: str) -> str:
    """Return the digits of a name: names with different digits are not misspellings."""
    return "".join(filter(str.isdigit, name))


def _is_slip_of_one(name: str, right: str) -> bool:
    """Whether names of two letters or more differ by a letter, or by the order of two letters."""
    if _digits(name) != _digits(right) or min(len(name), len(right)) < 2:
        return False
    if len(name) == len(right):
        places = [place for place, letter in enumerate(name) if letter != right[place]]
        is_swapped = len(places) == 2 and places[1] == places[0] + 1
        return len(places) <= 1 or (is_swapped and sorted(name) == sorted(right))
    short, long = sorted([name, right], key=len)
    return any(short == long[:i] + long[i + 1 :] for i in range(len(long)))


def _has_name(module: str, name: str) -> bool | None:
    """Whether a module has a name, without running third-party code; None if that is not clear."""
    try:
        is_own = package_of(module) in sys.stdlib_module_names - _JOKES
        if module in sys.modules or is_own:
            return hasattr(import_module(module), name)
        spec = _find(module)
        file = Path(str(spec and spec.origin))
        texts = [file.with_suffix(each) for each in (".py", ".pyi")]
        text = "\n".join(each.read_text("utf-8") for each in texts if each.is_file())
    except Exception:  # noqa: BLE001  # a third party's finder, or no text in UTF-8
        return False
    if search(rf"\b{name}\b", text):
        return True
    is_hidden = search(r"import \*|def __getattr__", text) or file.suffix in EXTENSION_SUFFIXES
    return None if is_hidden else False


def _find(module: str) -> ModuleSpec | None:
    """Return the spec of a module without importing the packages around it."""
    package, *rest = module.split(".")
    spec = find_spec(package)
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        package = f"{package}.{part}"
        spec = PathFinder.find_spec(package, list(spec.submodule_search_locations))
    return spec
