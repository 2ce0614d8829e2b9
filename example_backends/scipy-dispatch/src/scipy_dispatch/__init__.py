"""SciPy's array functions, open to backends.

`ndimage`, `signal` and `fft` mirror the modules of `scipy` with the same names. Every function
that takes an array is dispatchable, with SciPy's own function as the default implementation.
Every other public name is SciPy's own object.

The three modules are imported on first use, and each imports only its namesake.

Examples
--------
>>> import numpy as np
>>> import scipy_dispatch
>>> scipy_dispatch.ndimage.uniform_filter(np.array([0.0, 3.0, 0.0]), 3)
array([1., 1., 1.])
"""

from __future__ import annotations

from ._dispatch import backend_opts, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from . import fft, ndimage, signal

__version__ = "0.1.0"

__all__ = ["backend_opts", "fft", "ndimage", "signal", "system"]


def __getattr__(name: str) -> ModuleType:
    if name not in ("fft", "ndimage", "signal"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module("." + name, __name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
