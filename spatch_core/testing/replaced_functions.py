"""Replaces the functions of a package by those of the library that wraps the package."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ..backend_system import BackendSystem


def replace_functions(system: BackendSystem) -> Callable[[], None]:
    """Replace the functions of a package by the library's wrappers; return the way to undo it.

    The wrappers are bound to the functions' names in the package's public modules, also to names
    that a module's ``__getattr__`` provides. Dictionaries of the package with a function as a key
    get the wrapper as another key.
    """
    functions = {}
    for record in system._dispatcher.records:
        default, wrapper = record.function.default, record.wrapper
        if _package(default) != _package(wrapper):
            functions[id(default)] = default, wrapper
    packages = {_package(default) for default, _ in functions.values()}
    undo: list[tuple[dict[Any, Any], Any, Any]] = []
    for module in _modules(packages):
        names = vars(module)
        is_public = not any(part.startswith("_") for part in module.__name__.split("."))
        for name, value in [*names.items()]:
            if is_public and id(value) in functions:
                names[name] = functions[id(value)][1]
                undo.append((names, name, value))
            elif type(value) is dict:
                for default, wrapper in functions.values():
                    if value.get(default) is not None and wrapper not in value:
                        value[wrapper] = value[default]
                        undo.append((value, wrapper, undo))
        if is_public and "__getattr__" in names:
            for default, wrapper in functions.values():
                name = default.__name__
                if name not in names and getattr(module, name, None) is default:
                    names[name] = wrapper
                    undo.append((names, name, undo))

    def put_back() -> None:
        for where, key, before in undo:
            if before is undo:  # the marker of a key that was absent
                where.pop(key, None)
            else:
                where[key] = before

    return put_back


def _package(function: Any) -> str:
    return str(getattr(function, "__module__", "")).partition(".")[0]


def _modules(packages: set[str]) -> Iterator[ModuleType]:
    for name, module in [*sys.modules.items()]:
        if type(module) is ModuleType and name.partition(".")[0] in packages:
            yield module
