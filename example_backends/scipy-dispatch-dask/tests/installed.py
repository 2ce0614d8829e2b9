"""Backends of other packages, installed as distributions; their results identify the backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from pathlib import Path

# Each backend fills its result with its own number.
SEVENS, EIGHTS, NINES, TENS, ELEVENS = 7.0, 8.0, 9.0, 10.0, 11.0

_OPT_IN = 'primary_types = ["numpy:ndarray"]\nrequires_opt_in = true'
_OF_TENS = 'primary_types = ["marker:Ten"]'
_BACKENDS = {
    "sevens": _OPT_IN,
    "eights": _OPT_IN,
    # This backend supports its own type; NumPy arrays are supported if the user selects it.
    "nines": 'primary_types = ["marker:Nine"]\nsecondary_types = ["numpy:ndarray"]',
    # Two backends for another type, neither of which requires opting in.
    "tens": _OF_TENS,
    "elevens": _OF_TENS,
}
_CODE = """
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

NUMBERS = {"sevens": 7.0, "eights": 8.0, "nines": 9.0, "tens": 10.0, "elevens": 11.0}

def fill(context, input, *args, **kwargs):
    filled = np.full(input.shape, NUMBERS.get(context.name, 0.0))
    return Ten(filled) if "ten" in context.name or "eleven" in context.name else (
        filled.view(Nine) if context.name == "nines" else filled
    )
"""


def install(folder: Path, package: str = "marker") -> Path:
    """Install five backends in `folder`; or another one, named like its package."""
    backends = _BACKENDS if package == "marker" else {package: _OPT_IN}
    descriptions = {
        f"{package}/{name}.toml": f'name = "{name}"\n{types}\n'
        '[functions."scipy_dispatch.ndimage:sobel"]\n'
        f'function = "{package}:fill"\nuses_context = true\n'
        for name, types in backends.items()
    }
    points = {name: f"{package}:{name}.toml" for name in backends}
    write_distribution(
        folder,
        package,
        entry_points={"scipy_dispatch.backends": points},
        files={f"{package}/__init__.py": _CODE, **descriptions},
    )
    return folder
