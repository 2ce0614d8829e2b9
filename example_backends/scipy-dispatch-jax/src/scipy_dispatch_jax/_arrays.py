"""JAX arrays, data types and axes: all that is known while JAX traces."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

# The data types that replace 64-bit types while `jax_enable_x64` is off.
_NARROW = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.uint32),
}


def is_jax(value: object) -> bool:
    """Return whether `value` is a JAX array, traced or not."""
    return isinstance(value, jax.Array)


def is_traced(value: object) -> bool:
    """Return whether `value` is a tracer, an array whose elements are not known yet."""
    return isinstance(value, jax.core.Tracer)


def leaves(value: object) -> Iterator[object]:
    """Yield the items of nested lists, tuples and dictionaries; otherwise `value` itself."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from leaves(each)
    else:
        yield value


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return `value` with a function applied to the items of lists, tuples and dictionaries."""
    if isinstance(value, dict):
        return {key: mapped(each, function) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        values = [mapped(each, function) for each in value]
        return values if isinstance(value, list) else tuple(values)
    return function(value)


def known(value: Any) -> Any:
    """Return `value` with JAX arrays, none of them traced, as NumPy arrays or Python numbers."""

    def as_known(value: Any) -> Any:
        if not is_jax(value):
            return value
        array = np.asarray(value)
        return array if array.ndim else array.item()

    return mapped(value, as_known)


def has_64_bits() -> bool:
    """Return whether JAX's double precision is enabled in the current context."""
    return bool(jax.config.jax_enable_x64)


def default_float() -> np.dtype[Any]:
    """Return the data type in which SciPy computes: float64, or its replacement in JAX."""
    return np.dtype(np.float64 if has_64_bits() else np.float32)


def narrowed(dtype: Any) -> np.dtype[Any]:
    """Return JAX's counterpart of a data type: without 64-bit types, the 32-bit type."""
    # Do not make an array: JAX would warn, and filters for warnings affect all threads.
    dtype = np.dtype(dtype)
    is_number = dtype == np.bool_ or jnp.issubdtype(dtype, jnp.number)
    if not is_number or not dtype.isnative or dtype.char in "gG":
        raise TypeError(f"JAX has no data type {dtype}")
    return dtype if has_64_bits() else _NARROW.get(dtype, dtype)


def dtype_of(value: Any) -> np.dtype[Any]:
    """Return the data type that `value` would have as a JAX array, without converting an array."""
    return narrowed(value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype)


def promoted(*dtypes: Any) -> np.dtype[Any]:
    """Return the common data type by NumPy's rules, which SciPy follows, as JAX's counterpart.

    JAX's own rules promote integers and single precision to single precision.
    """
    if any(np.dtype(dtype).kind == "V" for dtype in dtypes):  # such as bfloat16
        return jnp.result_type(*dtypes)
    return narrowed(np.result_type(*dtypes))


def is_integer(dtype: Any) -> bool:
    """Return whether the data type is integer or boolean."""
    return bool(jnp.issubdtype(dtype, jnp.integer) or dtype == np.bool_)


def limits_of(dtype: Any) -> tuple[int, int]:
    """Return the smallest and largest value of an integer or boolean type."""
    return (0, 1) if dtype == np.bool_ else (int(jnp.iinfo(dtype).min), int(jnp.iinfo(dtype).max))


def exceeds_32_bits(array: np.ndarray[Any, Any]) -> bool:
    """Return whether an array holds integers that JAX does not, without double precision."""
    if not is_integer(array.dtype) or has_64_bits() or not array.size:
        return False
    least, most = limits_of(narrowed(array.dtype))
    return bool(array.min() < least or array.max() > most)


def is_complex(dtype: Any) -> bool:
    """Return whether the data type is complex."""
    return bool(jnp.issubdtype(dtype, jnp.complexfloating))


def is_floating(dtype: Any) -> bool:
    """Return whether the data type is real floating point; half precision and bfloat16 count."""
    return bool(jnp.issubdtype(dtype, jnp.floating))


def as_inexact(x: Any) -> Array:
    """Return an array of the data type that SciPy transforms: single or double precision."""
    x = jnp.asarray(x)
    if x.dtype == np.float16:
        return x.astype(np.float32)
    return x if np.dtype(x.dtype).kind in "fc" else x.astype(default_float())


def as_single_or_double(x: Array) -> Array:
    """Return an array of single or double precision; anything else becomes double."""
    return x if np.dtype(x.dtype).char in "dfDF" else x.astype(default_float())


def times_line(x: Array, line: Array) -> Array:
    """Multiply `x` by a line along its last axis.

    Types and shapes are converted explicitly, because users may disable JAX's implicit
    promotion.
    """
    dtype = line.dtype if is_complex(line.dtype) else x.dtype
    return x.astype(dtype) * line.astype(dtype).reshape((1,) * (x.ndim - 1) + (-1,))


def as_c_casts(x: Array, dtype: Any) -> Array:
    """Convert as C code does on common processors, and therefore SciPy.

    Fractions are truncated, and a value too large for a narrow integer keeps its low bits. JAX
    would use the nearest integer in the type's range.
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
        # The signed type cannot hold the upper half of the unsigned range.
        return jnp.where(x < 0, x.astype(wide).astype(dtype), x.astype(dtype))
    return _bits(x.astype(wide), dtype)


def _bits(x: Array, dtype: np.dtype[Any]) -> Array:
    # SciPy casts to a byte; any value other than 0 is True.
    return x.astype(np.uint8) != 0 if dtype == np.bool_ else x.astype(dtype)


def one_axis(axis: Any, ndim: int) -> int:
    """Return an axis as a non-negative number."""
    (number,) = some_axes((axis,), ndim)
    return number


def some_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return different axes as non-negative numbers; all axes for None."""
    if axes is None:
        return tuple(range(ndim))
    numbers = [operator.index(axis) for axis in np.atleast_1d(np.asarray(axes, object))]
    if any(not -ndim <= axis < ndim for axis in numbers):
        raise ValueError("an axis is out of range")
    numbers = [axis % ndim for axis in numbers]
    if len(set(numbers)) != len(numbers):
        raise ValueError("axes must be unique")
    return tuple(numbers)


def for_each(value: Any, count: int) -> list[Any]:
    """Return a list of `count` values: the given values, or a single value repeated."""
    if isinstance(value, str) or not np.ndim(value):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise ValueError("there must be a value for each axis")
    return values


def checked_origin(origin: int, size: int) -> int:
    """Return the origin of a window after checking that the window contains its shifted centre."""
    if not 0 <= size // 2 + origin < size:
        raise ValueError("invalid origin")
    return int(operator.index(origin))


def spread_window(
    shape: tuple[int, ...], origin: Any, axes: tuple[int, ...], ndim: int
) -> tuple[tuple[int, ...], list[Any]]:
    """Return the shape and origins of a window for all axes of an array, assigned as in SciPy.

    The window's axes correspond to `axes` in ascending order. The origins follow the order of
    `axes`, unless `axes` are all axes of the array.
    """
    origins = for_each(origin, len(axes))
    if len(axes) == ndim:
        return shape, origins
    return tuple(spread(shape, tuple(sorted(axes)), ndim, 1)), spread(origins, axes, ndim, 0)


def spread(values: Any, axes: tuple[int, ...], ndim: int, other: Any) -> list[Any]:
    """Return a value for every axis of an array: `values` for `axes`, `other` elsewhere."""
    result = [other] * ndim
    for axis, value in zip(axes, values, strict=True):
        result[axis] = value
    return result
