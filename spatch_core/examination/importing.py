"""What a description names and requires, and importing it: misspelled, absent or broken."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from pkgutil import iter_modules
from re import search, split, sub
from typing import TYPE_CHECKING, Any

from .._description import AUTO_GENERATION, DEFAULTS, EVERY, Finding, GivenCallable
from .._discovery import REQUIRES
from .._environment import (
    RequirementError,
    installed_distributions,
    installed_version,
    why_unmet,
)
from .._errors import in_words, nearest
from .._patterns import TypePattern, split_identifier
from ..exceptions import IdentifierError
from .findings import error, key_path, note, unchecked, warning

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from .._description import Description

_MISSPELLED = 0.8
"""The least similarity of a misspelled package: cupy and numpy, ray and array are unrelated."""
_SIMILARITY = 0.75
"""The least similarity of each part of a misspelled function."""
_ENVIRONMENTAL = (ImportError, OSError, RuntimeError)
"""Errors of modules that cannot work on this machine, for example without a GPU."""
_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
"""The folder of spatch_core."""


class Role(str, Enum):
    """The role of a name in a description."""

    TYPE = "type"
    LIBRARY_FUNCTION = "library function"
    FUNCTION = "function"
    SHOULD_RUN = "should_run"
    CONVERSION = "conversion"
    MODULE = "module"
    BACKEND = "backend"
    ATTRIBUTE = "attribute of the library"
    VALUE = "value of an attribute"


CONVERSIONS = {
    "to_default": ("x",),
    "from_default": ("x",),
    "copy_into": ("original", "converted"),
}
"""The positional arguments of each conversion."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Something importable that a description names."""

    key: str
    role: Role
    text: str  # an identifier, a type pattern, or the name of a module
    library_function: str | None = None  # the function that it implements; "*" for all others
    takes_context: bool = False  # whether it gets a `DispatchContext` first

    @property
    def module(self) -> str:
        """The module that has it."""
        return self.text.lstrip("~@").partition(":")[0]


def find_mentions(fields: Mapping[str, Any]) -> Iterator[Mention]:
    """Yield every well-formed name in the fields of a description."""
    for name in ("primary_types", "secondary_types"):
        for position, text in _strings(fields.get(name)):
            with suppress(IdentifierError):
                TypePattern(text)
                yield Mention(f"{name}[{position}]", Role.TYPE, text)
    for name, value in _table(fields.get("attributes")).items():
        key = key_path(("attributes", name))
        yield from _identifier(key, Role.ATTRIBUTE, name)
        yield from _identifier(key, Role.VALUE, value)
    for name in CONVERSIONS:
        yield from _identifier(name, Role.CONVERSION, fields.get(name))
    functions = _table(fields.get("functions"))
    defaults = _table(functions.get(DEFAULTS))
    for name, entry in functions.items():
        path = key_path(("functions", name))
        table = _table(entry)
        if name == AUTO_GENERATION:
            modules = table.get("modules")
            if isinstance(modules, str):
                yield Mention(f"{path}.modules", Role.MODULE, modules)
            for position, text in _strings(modules):
                yield Mention(f"{path}.modules[{position}]", Role.MODULE, text)
            yield from _identifier(f"{path}.backend", Role.BACKEND, table.get("backend"))
            continue
        function = None if name == DEFAULTS else name
        if function not in (None, EVERY):
            named = [*_identifier(path, Role.LIBRARY_FUNCTION, function)]
            if not (named or "." in name):
                continue  # an unknown table
            yield from named
            # The implementation of a malformed name is imported, but not compared.
            function = name if named else None
        said = {**defaults, **table}
        chosen = chosen_variant(said.get("variants"))
        position = 0
        if chosen is not None:
            position, said["function"] = chosen
        for role in (Role.FUNCTION, Role.SHOULD_RUN):
            key = role.value
            place = path if key in table or key not in said else "functions.defaults"
            if role is Role.FUNCTION and chosen is not None:
                place = path if "variants" in table else "functions.defaults"
                key = f"variants[{position}].function"
            context = role is Role.SHOULD_RUN or said.get("uses_context") is True or name == EVERY
            yield from _identifier(f"{place}.{key}", role, said.get(role.value), function, context)


def chosen_variant(variants: Any) -> tuple[int, Any] | None:
    """Return position and identifier of the variant for this environment, or None."""
    for position, variant in enumerate(variants if isinstance(variants, list) else []):
        with suppress(RequirementError, TypeError, KeyError):
            if not why_unmet(variant["requires"], is_condition=True):
                return position, variant["function"]
    return None


def fields_of(description: Description) -> dict[str, Any]:
    """Return the fields of a description as a file has them, without ``functions.defaults``."""
    functions = dict(description.functions)
    if description.every is not None:
        functions[EVERY] = description.every
    return {
        "primary_types": [str(each) for each in description.primary_types],
        "secondary_types": [str(each) for each in description.secondary_types],
        "attributes": dict(description.attributes),
        **{name: getattr(description, name) for name in CONVERSIONS},
        "functions": {
            name: {
                "function": each.function,
                "should_run": each.should_run,
                "uses_context": each.uses_context,
            }
            for name, each in functions.items()
        },
    }


def _identifier(
    key: str, role: Role, text: Any, function: str | None = None, context: bool = False
) -> Iterator[Mention]:
    if isinstance(text, GivenCallable):
        return  # there is nothing to import
    with suppress(IdentifierError):
        split_identifier(text)
        yield Mention(key, role, text, function, context)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _strings(values: Any) -> Iterator[tuple[int, str]]:
    for position, value in enumerate(values if isinstance(values, list) else []):
        if isinstance(value, str):
            yield position, value


def check_environment(description: Description, problems: Iterable[Finding]) -> Iterator[Finding]:
    """Yield a note about an unmet requirement, and about each function that is absent here.

    One that cannot be read is among the `problems` of discovery.
    """
    malformed = [each.backend for each in problems if each.key == REQUIRES]
    if description.unmet and description.name not in malformed:
        message = f"{description.unmet}, so it is inactive here"
        yield note(message, "Install it to use the backend")._replace(key=REQUIRES)
    for identifier, why in description.absent.items():
        message = f"it has no implementation for what is installed here: {why}"
        found = note(message, "Install it, or add an implementation without a requirement")
        yield found._replace(key=key_path(("functions", identifier)))


# --- Importing ------------------------------------------------------------------------------------


class Importer:
    """Imports for an examination, and explains failures."""

    def __init__(self, own: Iterable[str]) -> None:
        # The top-level packages of the backend and of the library: a misspelled name may mean one.
        self.own = set(own)
        self.found: dict[str, Any] = {}

    def load(
        self, identifier: str, is_needed: bool, otherwise: str = "Correct the name, or define it"
    ) -> Any:
        """Return the object that an identifier names, or a `Finding`; results are cached.

        Without a similar name, the remedy is `otherwise`.
        """
        if identifier not in self.found:
            self.found[identifier] = self._load(identifier, is_needed, otherwise)
        return self.found[identifier]

    def _load(self, identifier: str, is_needed: bool, otherwise: str) -> Any:
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
                    did_you_mean(attributes_like(outer, part), otherwise),
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
        wanted = "" if is_itself else f", which {module} imports{place_of(missing)}"
        message = f"there is no module {absent!r}{wanted}"
        if is_module_installed(package):
            meant = did_you_mean(submodules_like(absent), "Correct the name, or ship the module")
            return error(message, meant, is_absent=True)
        near = self.packages_like(package)
        if near:
            return error(message, did_you_mean(near), is_absent=True)
        wanted = f"{wanted}," if wanted else ""
        said = "" if missing is raised else f" ({raised})"
        if not is_needed:
            return unchecked(f"the package {package!r}{wanted} is not installed here{said}")
        return warning(
            f"the package {package!r}{wanted} is not installed{said}, so calls fail",
            "Install it; a backend has what it imports among its dependencies",
            is_absent=True,
        )

    def packages_like(self, package: str, others: Iterable[str] = ()) -> list[str]:
        """Return installed packages, and others, with names similar to that of an absent one."""
        known = {*self.own, *owners_of_packages(), *others}
        return nearest(package, known - {package}, _MISSPELLED)

    def identifiers_like(self, module: str, qualname: str) -> list[str]:
        """Return identifiers with this qualname in installed packages of similar names.

        A similar name is not enough: ``xarray:DataArray`` does not mean the module ``array``. So
        the source of the module must have the name, too. Nothing is imported.
        """
        package, dot, rest = module.partition(".")
        packages = self.packages_like(package, sys.stdlib_module_names)
        near = [f"{each}{dot}{rest}" for each in packages]
        name = qualname.partition(".")[0]
        return [f"{each}:{qualname}" for each in near if search(rf"\b{name}\b", _source(each))]


def _source(module: str) -> str:
    """Return the text of a module without importing the packages around it; empty if unknown."""
    try:
        spec = find_spec(package_of(module))
        file = Path(str(spec and spec.origin))
        if "." in module:
            file = file.parent.joinpath(*module.split(".")[1:])
            file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
        return file.read_text("utf-8", "replace")
    except Exception:  # noqa: BLE001  # no such file, or a third party's finder
        return ""


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
    message = f"importing {module} failed with {in_words(raised)}{place_of(raised)}"
    # The import system sets `name`. Without it, the module itself raised the error as advice.
    is_advice = isinstance(raised, ImportError) and raised.name is None
    is_ours = isinstance(raised, ImportError) and str(raised).startswith("cannot import name")
    if isinstance(raised, _ENVIRONMENTAL) and not is_needed and not is_ours:
        return unchecked(message, "Check where it can be imported")
    if is_advice:
        return warning(f"{message}, so calls fail", f"Follow its advice, or correct {module}")
    return error(message, f"Correct {module}, or what it imports")


def place_of(raised: BaseException) -> str:
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


def functions_near(identifier: str, known: Iterable[str]) -> list[str]:
    """Return up to three functions whose module and qualname are both similar.

    Digits must be the same: ``fft2`` is no misspelling of ``fft``.

    >>> functions_near("lib.fft:ffft", ["lib.fft:fft", "lib.fft:fft2", "lib.fft:shift"])
    ['lib.fft:fft']
    >>> functions_near("lib.ftt:fft", ["lib.fft:fft", "other.io:fft"])
    ['lib.fft:fft']
    >>> functions_near("lib:dtw", ["lib:dwt", "lib:fft"])
    ['lib:dwt']
    """
    module, _, qualname = identifier.partition(":")
    # One letter makes a short name dissimilar.
    similarity = _SIMILARITY if len(qualname) > 3 else 0.5

    def is_near(each: str) -> bool:
        own_module, _, own = each.partition(":")
        if _digits(own) != _digits(qualname) or not nearest(qualname, [own], similarity):
            return False
        is_moved = own == qualname and package_of(own_module) == package_of(module)
        return is_moved or bool(nearest(module, [own_module], _SIMILARITY))

    return nearest(identifier, filter(is_near, known), 0)


def names_like(name: str, names: Iterable[str]) -> list[str]:
    """Return names of backends, or of groups, whose parts resemble those of one, with its digits.

    >>> names_like("thread", ["threads"]), names_like("oil-rad", ["oil-red", "oils-rad"])
    (['threads'], ['oils-rad'])
    """

    def is_near(each: str) -> bool:
        parts, own = (split("[-_.]", text) for text in (name, each))
        if len(parts) != len(own) or _digits(name) != _digits(each):
            return False
        return all(map(nearest, parts, [[part] for part in own], [_MISSPELLED] * len(own)))

    return nearest(name, filter(is_near, names))


def _digits(name: str) -> str:
    """Return the digits of a name: names with different digits are not misspellings."""
    return "".join(filter(str.isdigit, name))


# --- What entry points misspell ------------------------------------------------------------------


def check_group(group: str, known: Collection[str]) -> Iterator[Finding]:
    """Yield an error if an entry point group is none of the libraries', but resembles one.

    It differs in case, separators, the word "backends" at the end, or by misspelled parts. Not so
    ``lib.plugins`` beside ``lib.backends``, which another program may read.
    """
    if group in known:
        return
    same = [each for each in known if _without_backends(each) == _without_backends(group)]
    meant = same or names_like(group, known)
    package = package_of(group)
    # That of another installed package is its own affair.
    if meant and (package == package_of(meant[0]) or not is_module_installed(package)):
        message = f"no library reads the entry point group {group!r}"
        yield error(message, f"Write it as {meant[0]!r}")


def _without_backends(group: str) -> str:
    """Return the letters of a group without the word "backends" at the end."""
    return sub("backends?$", "", sub("[-_.]", "", group.casefold()))


def package_like(value: str) -> tuple[str, str] | None:
    """Say that an entry point misspells a package, and what to write; None if it does not."""
    value = value.partition("[")[0].strip()
    package = package_of(value)
    if is_module_installed(package):
        return None
    near = Importer(()).packages_like(package)
    meant = did_you_mean([each + value[len(package) :] for each in near])
    return (f"there is no package {package!r}", meant) if meant else None
