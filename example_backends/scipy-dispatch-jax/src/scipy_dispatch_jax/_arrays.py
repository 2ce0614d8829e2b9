"""JAX's arrays and data types: what may be looked at while JAX traces, and what may not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._jax import Array, jax, jnp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# What JAX has of data types of 64 bits while `jax_enable_x64` is off.
_NARROW = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.uint32),
}


def is_jax(value: object) -> bool:
    """Whether `value` is a JAX array, or stands for one while JAX traces."""
    return isinstance(value, jax.Array)


def is_traced(value: object) -> bool:
    """Whether `value` stands for an array whose elements are not known yet."""
    return isinstance(value, jax.core.Tracer)


def leaves(value: object) -> Iterator[object]:
    """Yield what lists, tuples and dictionaries hold, however deep; else `value` itself."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from leaves(each)
    else:
        yield value


def is_list(value: object) -> bool:
    """Whether `value` holds numbers in order, and is no array: a list or a range, say."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def known(value: Any) -> Any:
    """Return `value` with NumPy arrays, or numbers, for the JAX arrays in it.

    None of them may be traced.
    """
    if isinstance(value, dict):
        return {key: known(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        values = map(known, value)
        return list(values) if isinstance(value, list) else tuple(values)
    if not is_jax(value):
        return value
    array = np.asarray(value)
    return array if array.ndim else array.item()


def has_64_bits() -> bool:
    """Whether JAX's double precision is on here and now."""
    return bool(jax.config.jax_enable_x64)


def default_float() -> np.dtype[Any]:
    """Return the data type in which SciPy computes: float64, or what JAX has of it."""
    return np.dtype(np.float64 if has_64_bits() else np.float32)


def narrowed(dtype: Any) -> np.dtype[Any]:
    """Return what JAX has of a data type: without 64 bits, those of 64 become 32.

    Raises
    ------
    TypeError
        If JAX has none like it.
    """
    # No array is made, because JAX would warn, and to silence that is to silence all threads.
    dtype = np.dtype(dtype)
    is_number = dtype == np.bool_ or jnp.issubdtype(dtype, jnp.number)
    if not is_number or not dtype.isnative or dtype.char in "gG":
        raise TypeError(f"JAX has no data type {dtype}")
    return dtype if has_64_bits() else _NARROW.get(dtype, dtype)


def dtype_of(value: Any) -> np.dtype[Any]:
    """Return the data type that `value` has as a JAX array, without making one of an array."""
    return narrowed(value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype)


def promoted(*dtypes: Any) -> np.dtype[Any]:
    """Return the data type that NumPy, and so SciPy, makes of several, as far as JAX has it.

    JAX's own rule makes single precision of integers and single precision.
    """
    if any(np.dtype(dtype).kind == "V" for dtype in dtypes):  # such as bfloat16
        return jnp.result_type(*dtypes)
    return narrowed(np.result_type(*dtypes))


def is_integer(dtype: Any) -> bool:
    """Whether it is one of integers or booleans."""
    return bool(jnp.issubdtype(dtype, jnp.integer) or dtype == np.bool_)


def limits_of(dtype: Any) -> tuple[int, int]:
    """Return the least and the largest of integers, or of booleans."""
    return (0, 1) if dtype == np.bool_ else (int(jnp.iinfo(dtype).min), int(jnp.iinfo(dtype).max))


def is_complex(dtype: Any) -> bool:
    """Whether it is one of complex numbers."""
    return bool(jnp.issubdtype(dtype, jnp.complexfloating))


def is_complex_number(value: Any) -> bool:
    """Whether a number, an element of NumPy's or of JAX's, is complex, or may be."""
    return is_complex(value.dtype) if hasattr(value, "dtype") else isinstance(value, complex)


def is_floating(dtype: Any) -> bool:
    """Whether it is one of real numbers, half precision and bfloat16 among them."""
    return bool(jnp.issubdtype(dtype, jnp.floating))


def times_line(x: Array, line: Array) -> Array:
    """Multiply `x` by a line along its last axis.

    Nothing is left to JAX's promotion of data types and of dimensions, which users may forbid.
    """
    dtype = line.dtype if is_complex(line.dtype) else x.dtype
    return x.astype(dtype) * line.astype(dtype).reshape((1,) * (x.ndim - 1) + (-1,))


def as_c_casts(x: Array, dtype: Any) -> Array:
    """Convert as C code on the usual processors does, and so SciPy's.

    Numbers are cut off after the point, and what is too large for a narrow integer
    keeps its last bits. JAX would take the nearest integer that there is.

    Parameters
    ----------
    x : jax.Array
        Numbers; complex ones only where `dtype` is complex too.
    dtype : data type
        What they become.
    """
    dtype = np.dtype(dtype)
    if x.dtype == dtype:
        return x
    if is_complex(x.dtype) and not is_complex(dtype):
        x = x.real
    if not is_integer(dtype) or is_integer(x.dtype):
        return _bits(x, dtype) if is_integer(dtype) else x.astype(dtype)
    wide = jnp.int64 if has_64_bits() else jnp.int32
    if dtype.kind == "u" and dtype.itemsize == np.dtype(wide).itemsize:
        # The upper half has no place in the signed type.
        return jnp.where(x < 0, x.astype(wide).astype(dtype), x.astype(dtype))
    return _bits(x.astype(wide), dtype)


def _bits(x: Array, dtype: np.dtype[Any]) -> Array:
    # SciPy's booleans are bytes.
    return x.astype(np.uint8) != 0 if dtype == np.bool_ else x.astype(dtype)
