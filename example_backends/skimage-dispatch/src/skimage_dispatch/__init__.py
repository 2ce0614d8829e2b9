"""scikit-image's public functions, open to backends.

Each module mirrors the module of `skimage` with the same name. Functions that take arrays are
dispatchable, with scikit-image's own as the default implementation; all else is scikit-image's.

Examples
--------
>>> import numpy as np
>>> from skimage_dispatch import filters
>>> filters.sobel(np.eye(3))[1].round(3).tolist()
[0.53, 0.0, 0.53]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import skimage

from ._expose import MODULES, backend_opts, expose, system

__all__ = ["backend_opts", "system"]
__all__ += skimage.__all__


class Mirrors(Loader):
    """Finds the modules of this package, which have no files; fills each when it is imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to import a module; None if it is not one of these."""
        package, _, module = name.partition(".")
        if package != __name__ or module not in MODULES:
            return None
        has_modules = any(each.startswith(f"{module}.") for each in MODULES)
        return ModuleSpec(name, self, is_package=has_modules)

    def exec_module(self, module: ModuleType) -> None:
        """Fill a new module."""
        expose(vars(module))


sys.meta_path.append(Mirrors())


def __getattr__(name: str) -> Any:
    return import_module(f".{name}", __name__) if name in MODULES else getattr(skimage, name)
