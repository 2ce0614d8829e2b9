"""Conversions, for functions without a lazy form: ``backend_opts(fallback="convert")``.

SciPy needs the elements, so a conversion computes the array. Nothing is computed that the user has
not allowed, so conversions are refused unless Dask's configuration allows them.
"""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array import Array

from scipy_dispatch.conversions import from_scipy

COMPUTE = "scipy_dispatch.compute"
"""The key in Dask's configuration."""


def to_default(x: Array) -> np.ndarray:
    """Compute a Dask array, if Dask's configuration allows it; else raise NotImplementedError."""
    if dask.config.get(COMPUTE, False) is not True:
        raise NotImplementedError(
            "it would compute a Dask array, which has to fit into memory; pass x.compute(), or "
            f'allow it with dask.config.set({{"{COMPUTE}": True}})'
        )
    # A copy: the block of an array with one block may be an array of the user's.
    computed = x.compute()
    return np.array(computed, subok=isinstance(computed, np.ma.MaskedArray))


def from_default(value: Any) -> Any:
    """Return a result of SciPy with Dask arrays; numbers become arrays without dimensions."""
    if isinstance(value, np.ma.MaskedArray):
        return da.from_array(value)
    return from_scipy(value, da.from_array)


def copy_into(original: Array, converted: np.ndarray) -> None:
    """Let a Dask array have the elements that SciPy has written into a NumPy array."""
    original[...] = da.from_array(converted, chunks=original.chunks)
