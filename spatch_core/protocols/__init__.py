"""Protocols by which classes take part in functions: the library's own, NumPy's and PyTorch's.

With a library's own protocol, a class overrides the functions by a class method, without a
description. With those of NumPy and PyTorch, a class implements no function itself: the backends of
a library answer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._classes import library_functions
    from .array_function import numpy_functions
    from .torch_function import torch_functions

__all__ = ["library_functions", "numpy_functions", "torch_functions"]

_HOMES = {
    "library_functions": ".._classes",
    "numpy_functions": ".array_function",
    "torch_functions": ".torch_function",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name], __package__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
