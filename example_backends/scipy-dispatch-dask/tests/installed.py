"""Backends of other packages, installed as distributions; their results identify the backend."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from pathlib import Path

# Each backend fills its result with its own number.
SEVENS, EIGHTS, NINES, TENS, ELEVENS = 7.0, 8.0, 9.0, 10.0, 11.0

_OPT_IN = 'primary_types = ["numpy:ndarray"]\nrequires_opt_in = true'
_OF_TENS = 'primary_types = ["marker.types:Ten"]'
_BACKENDS = {
    "sevens": _OPT_IN,
    "eights": _OPT_IN,
    # This backend supports its own type; NumPy arrays are supported if the user selects it.
    "nines": 'primary_types = ["marker.types:Nine"]\nsecondary_types = ["numpy:ndarray"]',
    # Two backends for another type, neither of which requires opting in.
    "tens": _OF_TENS,
    "elevens": _OF_TENS,
}


def _description(name: str, types: str, module: str = "marker") -> str:
    functions = "".join(
        f'\n[functions."scipy_dispatch.ndimage:{each}"]\nfunction = "{module}.filters:{name}"\n'
        for each in ("sobel", "correlate")
    )
    return f'name = "{name}"\n{types}\n{functions}'


TYPES = """
import sys
import numpy as np

class Nine(np.ndarray):
    pass

class Ten:
    "Not NumPy's, so that its backends need no opt-in; it knows the array API, as JAX's do."

    def __init__(self, data):
        self.data = np.asarray(data)

    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)

    def __getitem__(self, key):
        return Ten(self.data[key])

    def __array__(self, dtype=None, copy=None):
        return self.data.astype(dtype or self.dtype)

    def __array_namespace__(self):
        return sys.modules[__name__]

    def astype(self, dtype, copy=True):
        return Ten(self.data.astype(dtype))

def asarray(data):
    return Ten(data)

def ones(shape, dtype):
    return Ten(np.ones(shape, dtype))
"""
_FILTERS = """
import numpy as np
from marker.types import Nine, Ten

def sevens(input, *args, **kwargs):
    return np.full(input.shape, 7.0)

def eights(input, *args, **kwargs):
    return np.full(input.shape, 8.0)

def nines(input, *args, **kwargs):
    return np.full(input.shape, 9.0).view(Nine)

def tens(input, *args, **kwargs):
    return Ten(np.full(input.shape, 10.0))

def elevens(input, *args, **kwargs):
    return Ten(np.full(input.shape, 11.0))
"""


def install(folder: Path) -> Path:
    """Install five backends in `folder`."""
    return _written(
        folder,
        "marker",
        {name: _description(name, types) for name, types in _BACKENDS.items()},
        {"types": TYPES, "filters": _FILTERS},
    )


def install_another(folder: Path) -> Path:
    """Install another backend, named ``late``, in another folder."""
    filters = "def late(input, *args, **kwargs):\n    return input\n"
    description = _description("late", _OPT_IN, "late")
    return _written(folder, "late", {"late": description}, {"filters": filters})


def _written(folder: Path, package: str, backends: dict[str, str], modules: dict[str, str]) -> Path:
    write_distribution(
        folder,
        package,
        entry_points={
            "scipy_dispatch.backends": {name: f"{package}:{name}.toml" for name in backends}
        },
        files={
            f"{package}/__init__.py": "",
            **{f"{package}/{name}.toml": text for name, text in backends.items()},
            **{f"{package}/{name}.py": dedent(text) for name, text in modules.items()},
        },
    )
    return folder
