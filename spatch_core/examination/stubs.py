"""Stubs of a library: overloads of its functions for the installed backends."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from .._identifiers import DEFAULT, loaded_object, split_identifier
from ..switching.stubs import IMPORTS, declared_attributes, is_public
from .foreign_code import foreign_code, import_failure
from .libraries import LoadedLibrary, is_system
from .packages import package_of
from .stub_annotations import imported_names
from .stub_functions import StubFunction
from .stub_names import StubNames

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

HEADER = "# Written by spatch-core stubs for the installed backends; overwritten without asking."
"""The first line of each stub, by which `write_stubs` knows that it may overwrite a file."""
_SETTINGS = (
    # Overloads may overlap, and packages that backends name may be untyped or absent.
    "# mypy: ignore-errors",
    "# pyright: basic, reportGeneralTypeIssues=false, reportOverlappingOverload=false",
    "# pyright: reportIncompatibleMethodOverride=false, reportInconsistentOverload=false",
    "# pyright: reportMissingImports=false, reportAttributeAccessIssue=false",
    "# pyright: reportMissingModuleSource=false, reportInvalidTypeForm=false",
    "# pyright: reportSelfClsParameterName=false, reportNoOverloadImplementation=false",
)

_FOR_ANNOTATIONS = ("__future__", "typing", "typing_extensions")
"""Modules whose names a module imports only for its annotations."""


class ForeignFileError(Exception):
    """A stub would overwrite a file of another origin, or lie outside of the folder."""


@dataclass(frozen=True, slots=True)
class Stubs:
    """The stubs of a library.

    Parameters
    ----------
    texts : dict of str to str
        The text of each stub, by its path with ``/``.
    functions : int
        The number of declared functions.
    left_out : tuple of str
        The identifiers of methods, and of functions that users cannot import by name.
    """

    texts: dict[str, str]
    functions: int
    left_out: tuple[str, ...]


def make_stubs(loaded: LoadedLibrary) -> Stubs:
    """Return stubs for the modules of a library's functions; imports no backend.

    The library is usable, and its functions have been imported.
    """
    system = loaded.usable
    package = package_of(loaded.library.identifier)
    modules: dict[str, dict[str, str]] = {}
    left_out = []
    for identifier in sorted(system.functions):
        module, qualname = split_identifier(identifier)
        parts = module.split(".")
        if (
            not is_public(qualname)
            or parts[0] != package
            or any(not each.isidentifier() or iskeyword(each) for each in parts)
        ):
            left_out.append(identifier)
            continue
        # The stub of a module needs stubs of the packages around it.
        for number in range(1, len(parts)):
            modules.setdefault(".".join(parts[:number]), {})
        modules.setdefault(module, {})[qualname] = identifier
    texts = {}
    for module, functions in sorted(modules.items()):
        import_failure(module)
        loaded_module = sys.modules.get(module)
        is_package = hasattr(loaded_module, "__path__") or any(
            each.startswith(f"{module}.") for each in modules
        )
        path = module.replace(".", "/") + ("/__init__.pyi" if is_package else ".pyi")
        texts[path] = _text(system, module, loaded_module, functions)
    return Stubs(texts, sum(map(len, modules.values())), tuple(left_out))


def write_stubs(texts: dict[str, str], folder: Path) -> None:
    """Write stubs into a folder, unless a file is in the way.

    Raises
    ------
    ForeignFileError
        If a file exists that this command has not written, or a link leads out of the folder.
        Then nothing is written.
    """
    for name in texts:
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ForeignFileError(f"{path} lies outside {folder}, by a link; nothing was written")
        if path.exists() and not _is_ours(path):
            raise ForeignFileError(
                f"{path} exists and was not written by this command; nothing was written. "
                "Move it away, or choose another folder with -o"
            )
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline().rstrip() == HEADER.encode()


def _text(
    system: BackendSystem, module: str, loaded: ModuleType | None, functions: dict[str, str]
) -> str:
    names = StubNames()
    home = next(each for each in type(system).__mro__ if each.__name__ == "BackendSystem")
    base = names.of(f"{home.__module__.rpartition('.')[0]}.types", "DispatchableFunction")
    types = {each.identifier for each in system.backends[DEFAULT].primary_types}
    others = _others(system, module, loaded, names, types)
    found = [line for name, line in others.items() if name not in functions]
    for name, identifier in functions.items():
        default = system.functions[identifier].__wrapped__
        function = StubFunction(default, names, types)
        found += ["", *function.dispatched(name, system, identifier, str(base))]
    lines = [
        *(HEADER, *_SETTINGS, *IMPORTS),
        "from typing import overload as _overload",
        *(*names.imports(), "", *found),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _others(
    system: BackendSystem,
    module: str,
    loaded: ModuleType | None,
    names: StubNames,
    types: set[str],
) -> dict[str, str]:
    """Return the declarations of the other public names of a module, by name."""
    values: dict[str, Any] = {}
    with foreign_code():
        try:
            known = [*dir(loaded), *getattr(loaded, "__all__", ())] if loaded else []
        except Exception:  # noqa: BLE001  # a third party's __dir__ may raise anything
            known = [*vars(loaded)]
        for name in sorted({each for each in known if isinstance(each, str)}):
            if is_public(name) or name == "__version__":
                try:
                    values[name] = getattr(loaded, name)
                except Exception:  # noqa: BLE001  # a third party's __getattr__
                    values[name] = None
    # Leave out names that the module imports only for its annotations.
    for name, (home, _) in imported_names(module).items():
        if home in _FOR_ANNOTATIONS:
            values.pop(name, None)
    values = {name: each for name, each in values.items() if not isinstance(each, TypeVar)}
    version = values.pop("__version__", None)
    found = declared_attributes(system, module, values)
    if isinstance(version, str):
        found["__version__"] = "__version__: _builtins.str"
    for name, value in values.items():
        line = _line(system, module, name, value, names, types)
        if line is not None:
            found[name] = line
    return found


def _line(
    system: BackendSystem, module: str, name: str, value: Any, names: StubNames, types: set[str]
) -> str | None:
    """Return a declaration that says more than ``Any`` about a value, or None."""
    if isinstance(value, ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        is_plain = last == name and StubNames().of(value.__name__) is not None
        return f"from {parent} import {name} as {name}" if is_plain and parent else None
    if value is system.backend_opts:
        home = f"{type(system).__module__.rpartition('.')[0]}.types"
        return f"{name}: _builtins.type[{names.of(home, 'BackendOptions')}]"
    if is_system(value):
        return f"{name}: {names.of(type(value).__module__, type(value).__qualname__)}"
    home, qualname = _home(value)
    if home and qualname and callable(value):
        if home != module and loaded_object(home, qualname) is value:
            if is_public(qualname) and qualname == name and StubNames().of(home) is not None:
                return f"from {home} import {name} as {name}"
            return None
        if home == module and isinstance(value, type) and qualname == name:
            return f"class {name}(_Any): ..."
        if home == module and isinstance(value, FunctionType) and qualname == name:
            return StubFunction(value, names, types).plain(name)
    return None


def _home(value: Any) -> tuple[str, str]:
    """Return module and qualname of a value; empty strings if it has none."""
    try:
        found = value.__module__, value.__qualname__
    except Exception:  # noqa: BLE001  # a third party's __getattr__
        return "", ""
    return found if all(isinstance(each, str) for each in found) else ("", "")
