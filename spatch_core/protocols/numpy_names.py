"""The identities of NumPy's functions: from names to functions and back."""

from __future__ import annotations

import sys
from typing import Any

from .._function import Parameter
from .._patterns import is_dotted_name, loaded_object
from ..adopt import Adoption

_METHODS = ("accumulate", "at", "outer", "reduce", "reduceat")
_HOMES = ("numpy", "numpy.strings", "scipy.special", "numpy._core.umath", "numpy.core.umath")
"""Modules that are searched for ufuncs, which do not know their own module."""
_WRITES_FIRST = frozenset(
    f"numpy:{name}"
    for name in ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask")
)


def numpy_module() -> Any:
    """Return NumPy, imported on first use."""
    import numpy as np

    return np


def function_named(identity: str, adoption: Adoption) -> Any:
    """Return the object that NumPy passes for a function, by its identity; None if unknown."""
    if identity in adoption.functions:
        return adoption.functions[identity]
    module, _, qualname = identity.partition(":")
    if module.partition(".")[0] == "numpy":
        _import(module)
    start, _, method = qualname.rpartition(".")
    if start and method in _METHODS:
        ufunc = adoption.functions.get(f"{module}:{start}") or loaded_object(module, start)
        if isinstance(ufunc, numpy_module().ufunc):
            return ufunc, method
    found = loaded_object(module, qualname)
    if found is None and module.startswith("numpy."):
        # In NumPy 1, `numpy.char` is an attribute alone.
        found = loaded_object("numpy", f"{module.removeprefix('numpy.')}.{qualname}")
    if found is None and module == "numpy.strings":
        # Functions that `numpy.char` calls, such as `_join`, may have no public name.
        found = loaded_object("numpy._core.strings", qualname)
    if isinstance(found, numpy_module().ufunc):
        return found if identity_of_ufunc(found) == identity else None
    is_overridable = hasattr(found, "_implementation") or module == "numpy"
    # Functions with `like=` lack the attribute; classes and modules are not functions.
    if not is_overridable or not callable(found) or isinstance(found, type):
        return None
    return found if identity_of(found, adoption) == identity else None


def _import(module: str) -> None:
    from importlib import import_module

    try:
        import_module(module)
    except ImportError:
        return


def identity_of(function: Any, adoption: Adoption) -> str | None:
    """Return the identity of a function; None without a valid module and name."""
    given = adoption.names.get(function)
    if given is not None:
        return given
    module, name = (getattr(function, each, None) for each in ("__module__", "__name__"))
    if type(module) is str and type(name) is str and is_dotted_name(f"{module}.{name}"):
        return f"{module}:{name}"
    return None


def identity_of_ufunc(ufunc: Any) -> str | None:
    """Return the identity of a ufunc that NumPy or `scipy.special` names."""
    name = ufunc.__name__
    for module in _HOMES:
        if getattr(sys.modules.get(module), name, None) is ufunc:
            return f"{module}:{name}"
    return None


def mutated_by(identity: str, function: Any) -> list[Parameter]:
    """Return the parameters whose arguments a function writes into."""
    found = [Parameter(None, 0)] if identity in _WRITES_FIRST else []
    code = getattr(getattr(function, "_implementation", function), "__code__", None)
    names = () if code is None else code.co_varnames[: code.co_argcount]
    position = names.index("out") if "out" in names else 2 if identity == "numpy:dot" else None
    return [*found, Parameter("out", position)]
