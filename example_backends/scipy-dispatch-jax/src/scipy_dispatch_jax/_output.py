"""The data types of filters: of the result and of the computation."""

from __future__ import annotations

import numpy as np

from ._arrays import (
    as_c_casts,
    default_float,
    has_64_bits,
    is_complex,
    is_integer,
    narrowed,
)
from ._jax import Array, jnp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_COMPLEX = {np.dtype(np.float32): np.dtype(np.complex64)}


def result_dtype(output: Any, dtype: Any, complex_output: bool = False) -> np.dtype[Any]:
    """Return the data type of a filter's result, as `scipy.ndimage` chooses it.

    Parameters
    ----------
    output : data type or None
        The argument `output`; complex if the result is complex.
    dtype : data type
        The data type of the array.
    complex_output : bool, optional
        Whether the result is complex regardless of `dtype`.
    """
    if output is None:
        return narrowed(_with_complex(dtype)) if complex_output else np.dtype(dtype)
    wanted = np.dtype(output)
    if isinstance(output, str) and not issubclass(wanted.type, np.number):
        raise RuntimeError("output must have numeric dtype")
    return narrowed(wanted)


def passing_dtype(result: np.dtype[Any]) -> np.dtype[Any]:
    """Return the data type that is passed from one axis to the next.

    This is the type of the result, except for booleans: SciPy passes them as bytes, which may
    have values other than 0 and 1.
    """
    return np.dtype(np.uint8) if result == np.bool_ else result


def finished(x: Array, result: np.dtype[Any]) -> Array:
    """Convert the last axis' values, or an unprocessed array, to the data type of the result."""
    return x != 0 if result == np.bool_ else as_c_casts(x, result)


def _with_complex(dtype: Any) -> np.dtype[Any]:
    if dtype == jnp.bfloat16:
        return np.dtype(np.complex64)
    return np.promote_types(dtype, np.complex64)


def working_dtype(
    dtype: Any,
    result: np.dtype[Any],
    whole: bool = False,
    is_complex_anyway: bool = False,
) -> np.dtype[Any]:
    """Return the data type in which a sum of products is computed.

    SciPy always uses double precision. Here single and half precision are computed in single
    precision, as JAX's users expect. Integers are computed in double precision. If JAX has no
    double precision, they are computed as integers if that is exact, otherwise in single
    precision.

    Parameters
    ----------
    dtype, result : data type
        The data types of the array and of the result.
    whole : bool, optional
        Whether all other terms of the sum are integers.
    is_complex_anyway : bool, optional
        Whether any other term of the sum is complex.
    """
    if is_integer(dtype):
        real = default_float()
        narrow = dtype == np.bool_ or np.dtype(dtype).itemsize < 4
        is_exact = is_integer(result) or (narrow and not is_complex(result))
        if whole and not has_64_bits() and is_exact and not is_complex_anyway:
            return np.dtype(np.int32)
    else:
        doubles = (np.dtype(np.float64), np.dtype(np.complex128))
        is_double = np.dtype(dtype) in doubles or result in doubles
        real = np.dtype(np.float64 if is_double else np.float32)
    if is_complex(dtype) or is_complex_anyway:
        return _COMPLEX.get(real, np.dtype(np.complex128))
    return real


def why_not_output(output: Any, is_complex_result: bool) -> str | None:
    """Return why `output` and the result, real and complex or the reverse, do not match."""
    if output is None or is_complex(np.dtype(output)) == is_complex_result:
        return None
    if is_complex_result:
        return "output= is a real data type, and the result is complex"
    return "output= is a complex data type, and the result is real"
