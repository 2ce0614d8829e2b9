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

from importlib import import_module
from typing import Any

import skimage

from ._expose import MODULES
from ._system import backend_opts, system

__all__ = ["backend_opts", "system"]
__all__ += skimage.__all__


def __getattr__(name: str) -> Any:
    return import_module(f".{name}", __name__) if name in MODULES else getattr(skimage, name)
