"""The functions of a package that a library wraps, replaced by those of the library."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import wraps
from types import ModuleType
from typing import Any

from ..backend_system import BackendSystem


def replace_functions(
    system: BackendSystem, is_running: Callable[[], object] | None = None
) -> Callable[[], None]:
    """Replace the functions of a package that a library wraps; return the way to undo it.

    The library's functions are bound to the names of the package's functions in its public modules,
    also to names that a module's ``__getattr__`` provides. Dictionaries of the package with a
    function as a key get its replacement as another key.

    With `is_running`, a call reaches the package's own function while the library runs a call, and
    in other processes: it may be the backend that makes it, and would never come to an end.
    """
    process = os.getpid()

    def replacement(default: Callable[..., Any], wrapper: Callable[..., Any]) -> Callable[..., Any]:
        if (is_inside := is_running) is None:
            return wrapper

        @wraps(wrapper)
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            is_own = is_inside() or os.getpid() != process
            return (default if is_own else wrapper)(*args, **kwargs)

        return stand_in

    functions = {
        id(each.default): (each.default, replacement(each.default, each.wrapper))
        for each in system._dispatcher.functions
        if _package(each.default) != _package(each.wrapper)
    }
    undo: list[tuple[dict[Any, Any], Any, Any]] = []

    def put(where: dict[Any, Any], key: Any, value: Any) -> None:
        undo.append((where, key, where.get(key, undo)))  # the list itself: the key was absent
        where[key] = value

    def bind(module: ModuleType, name: str, function: Any) -> None:
        put(vars(module), name, function)
        if is_running is not None:
            # Pickle finds it by this name; in a new process the name leads to the package's own.
            function.__module__, function.__qualname__ = module.__name__, name

    for module in _modules({_package(default) for default, _ in functions.values()}):
        names = vars(module)
        is_public = not any(part.startswith("_") for part in module.__name__.split("."))
        for name, value in [*names.items()]:
            if is_public and id(value) in functions:
                bind(module, name, functions[id(value)][1])
            elif type(value) is dict:
                for default, function in functions.values():
                    if value.get(default) is not None and function not in value:
                        put(value, function, value[default])
        if is_public and "__getattr__" in names:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # many are deprecated aliases
                for default, function in functions.values():
                    name = default.__name__
                    if name not in names and getattr(module, name, None) is default:
                        bind(module, name, function)

    def put_back() -> None:
        for where, key, before in reversed(undo):
            if before is undo:
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
