"""The data types of filters: of the result and of the computation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import as_c_casts, has_64_bits, is_complex, is_integer, narrowed
from ._jax import Array, jnp


def result_dtype(output: Any, dtype: Any, complex_output: bool = False) -> np.dtype[Any]:
    """Return the data type of a filter's result, as `scipy.ndimage` chooses it.

    The result may be complex regardless of the data type of the array.
    """
    if output is not None:
        wanted = np.dtype(output)
        if isinstance(output, str) and not issubclass(wanted.type, np.number):
            raise RuntimeError("output must have numeric dtype")
        return narrowed(wanted)
    if not complex_output:
        return np.dtype(dtype)
    return jnp.promote_types(narrowed(np.float32) if dtype == jnp.bfloat16 else dtype, np.complex64)


def passing_dtype(result: np.dtype[Any]) -> np.dtype[Any]:
    """Return the data type that is passed from one axis to the next.

    This is the type of the result, except for booleans: SciPy passes them as bytes, which may
    have values other than 0 and 1.
    """
    return np.dtype(np.uint8) if result == np.bool_ else result


def finished(x: Array, result: np.dtype[Any]) -> Array:
    """Convert the last axis' values, or an unprocessed array, to the data type of the result."""
    return x != 0 if result == np.bool_ else as_c_casts(x, result)


def working_dtype(
    dtype: Any, result: np.dtype[Any], whole: bool = False, is_complex_anyway: bool = False
) -> np.dtype[Any]:
    """Return the data type in which a sum of products is computed.

    SciPy always uses double precision. Here single and half precision are computed in single
    precision, as JAX's users expect. Integers are computed in double precision. If JAX has no
    double precision, they are computed as integers if that is exact, because all other terms are
    `whole`; otherwise in single precision.
    """
    is_complex_sum = is_complex(dtype) or is_complex_anyway
    if is_integer(dtype):
        is_narrow = dtype == np.bool_ or np.dtype(dtype).itemsize < 4
        is_exact = is_integer(result) or (is_narrow and not is_complex(result))
        if whole and not has_64_bits() and is_exact and not is_complex_sum:
            return np.dtype(np.int32)
        is_double = has_64_bits()
    else:
        doubles = {np.dtype(np.float64), np.dtype(np.complex128)}
        is_double = bool({np.dtype(dtype), result} & doubles)
    if is_complex_sum:
        return np.dtype(np.complex128 if is_double else np.complex64)
    return np.dtype(np.float64 if is_double else np.float32)
