"""Replaces the functions of a package by those of the library that wraps the package."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, TypeAlias

from ..backend_system import BackendSystem

StandIn: TypeAlias = Callable[[str, Callable[..., Any], Callable[..., Any]], Callable[..., Any]]
"""Makes the replacement of a function, from its identifier, the function and its wrapper."""


def replace_functions(system: BackendSystem, stand_in: StandIn | None = None) -> Callable[[], None]:
    """Replace the functions of a package that a library wraps; return the way to undo it.

    The wrappers, or the functions that `stand_in` makes, are bound to the functions' names in the
    package's public modules, also to names that a module's ``__getattr__`` provides. Dictionaries
    of the package with a function as a key get its replacement as another key.
    """
    functions = {}
    for record in system._dispatcher.records:
        default, wrapper = record.function.default, record.wrapper
        if _package(default) != _package(wrapper):
            made = wrapper if stand_in is None else stand_in(record.identifier, default, wrapper)
            functions[id(default)] = default, made
    packages = {_package(default) for default, _ in functions.values()}
    undo: list[tuple[dict[Any, Any], Any, Any]] = []

    def bind(module: ModuleType, name: str, replacement: Any, before: Any) -> None:
        vars(module)[name] = replacement
        undo.append((vars(module), name, before))
        if stand_in is not None:
            # Pickle finds it by this name; in a new process the name leads to the package's own.
            replacement.__module__, replacement.__qualname__ = module.__name__, name

    for module in _modules(packages):
        names = vars(module)
        is_public = not any(part.startswith("_") for part in module.__name__.split("."))
        for name, value in [*names.items()]:
            if is_public and id(value) in functions:
                bind(module, name, functions[id(value)][1], value)
            elif type(value) is dict:
                for default, replacement in functions.values():
                    if value.get(default) is not None and replacement not in value:
                        value[replacement] = value[default]
                        undo.append((value, replacement, undo))
        if is_public and "__getattr__" in names:
            for default, replacement in functions.values():
                name = default.__name__
                if name not in names and getattr(module, name, None) is default:
                    bind(module, name, replacement, undo)

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
