"""What data type a filter returns, and which it computes in."""

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
        The argument of the caller, complex if the result is.
    dtype : data type
        That of the array.
    complex_output : bool, optional
        Whether the result is complex anyway.

    Raises
    ------
    RuntimeError
        If the caller asked by name for one that cannot be.
    """
    if output is None:
        return narrowed(_with_complex(dtype)) if complex_output else np.dtype(dtype)
    wanted = np.dtype(output)
    if isinstance(output, str) and not issubclass(wanted.type, np.number):
        raise RuntimeError("output must have numeric dtype")
    return narrowed(wanted)


def passing_dtype(result: np.dtype[Any]) -> np.dtype[Any]:
    """Return the data type that is passed from one axis to the next.

    It is that of the result. SciPy's booleans are bytes on the way, not just 0 and 1.
    """
    return np.dtype(np.uint8) if result == np.bool_ else result


def finished(x: Array, result: np.dtype[Any]) -> Array:
    """Return what was passed to the end, or came untouched, in the data type of the result."""
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
    """Return the data type that a sum of products is computed in.

    SciPy's is always double precision. Single and half precision stay in single here, as
    JAX's users expect. Integers are computed in double precision; where JAX has none, in
    integers as long as that is exact, else in single precision.

    Parameters
    ----------
    dtype, result : data type
        Of the array, and of what becomes of it.
    whole : bool, optional
        Whether everything else in the sum is a whole number.
    is_complex_anyway : bool, optional
        Whether something else in the sum is complex.
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
    """Say that the caller asks for real numbers where there are complex ones, or the reverse."""
    if output is None or is_complex(np.dtype(output)) == is_complex_result:
        return None
    if is_complex_result:
        return "output= is a real data type, and the result is complex"
    return "output= is a complex data type, and the result is real"
