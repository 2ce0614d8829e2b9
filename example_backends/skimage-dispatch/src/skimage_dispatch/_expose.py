"""Filling a module with the dispatchable functions of its namesake in scikit-image."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from ._system import system
from ._table import SAME, TABLE, WRITTEN


def expose(namespace: dict[str, Any]) -> None:
    """Fill the namespace of a module; the table says with which functions.

    A name that is not in the table is scikit-image's own object. The installed release decides
    which functions and parameters exist.
    """
    home = namespace["__name__"]
    _, _, name = home.partition(".")
    module = import_module(f"skimage.{name}")
    for arguments, functions in TABLE[name].items():
        for each in functions.split():
            if (function := getattr(module, each, None)) is None:
                continue
            known = inspect.signature(function).parameters
            given = [part for part in arguments.split() if part.lstrip("*") in known]
            parameters = [part.lstrip("*") for part in given]
            decorate = system.dispatchable(
                parameters,
                inside=[part.lstrip("*") for part in given if part.startswith("*")],
                mutates=[part for part in WRITTEN.get(each, ("out",)) if part in parameters],
                module=home,
                qualname=each,
            )
            namespace[each] = decorate(function)
    for each, other in SAME.get(name, {}).items():
        namespace[each] = getattr(import_module(f"skimage_dispatch.{other}"), each)
    namespace["__all__"] = list(module.__all__)
    namespace["__dir__"] = lambda: sorted({*namespace, *dir(module)})
    namespace["__getattr__"] = lambda name: getattr(module, name)
