"""Conversions, for functions that JAX does not implement: ``backend_opts(fallback="convert")``.

There is no ``copy_into``, because JAX arrays cannot be written into.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from scipy_dispatch.conversions import from_scipy

from ._arrays import exceeds_32_bits, is_floating, is_traced, narrowed


def to_default(x: Array) -> np.ndarray:
    """Return a NumPy array with the elements of a JAX array.

    It is a copy, because some of SciPy's functions need arrays that can be written into. Types
    such as bfloat16, which SciPy does not know, become float32.
    """
    if is_traced(x):
        raise NotImplementedError(
            "it is traced, and its elements are not known yet; call the function outside of jit, "
            "grad and vmap, or through jax.pure_callback"
        )
    array = np.array(x)
    is_known = array.dtype.isbuiltin == 1 or not is_floating(array.dtype)
    return array if is_known else array.astype(np.float32)


def from_default(value: Any) -> Any:
    """Return a result of SciPy with JAX arrays; numbers become arrays without dimensions."""
    return from_scipy(value, _from_array)


def _from_array(array: np.ndarray) -> Array:
    """Return a JAX array with the elements of a NumPy array."""
    try:
        dtype = narrowed(array.dtype)
    except TypeError as error:
        raise NotImplementedError(f"SciPy's result is of {array.dtype}: {error}") from None
    if exceeds_32_bits(array):
        raise NotImplementedError(
            "SciPy's result has integers of more than 32 bits; set jax_enable_x64"
        )
    # A copy: the result may share memory with a NumPy array of the caller.
    return jnp.array(array, dtype)
