"""Interpolation of `scipy_dispatch.ndimage` of order 0 and 1."""

from __future__ import annotations

import operator
from functools import partial
from itertools import product

import numpy as np

from ._arrays import (
    as_c_casts,
    default_float,
    dtype_of,
    has_64_bits,
    is_complex,
    is_complex_number,
    is_integer,
    is_jax,
)
from ._boundary import checked_mode, positions
from ._implement import implements
from ._jax import Array, jax, jnp
from ._output import result_dtype, why_not_output, working_dtype

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _refuse(call: dict[str, Any]) -> str | None:
    if call["order"] > 1:
        return f"order={call['order']}: JAX interpolates with order=0 and order=1 only"
    if 0 in jnp.shape(call["input"]):
        return "input= has no elements"
    is_complex_array = is_complex(dtype_of(call["input"]))
    if not is_complex_array and is_complex_number(call["cval"]):
        return "cval= is complex, and the array is not"
    return why_not_output(call["output"], is_complex_array)


@implements(
    "scipy_dispatch.ndimage:map_coordinates", "input", "coordinates", "cval", refuse=_refuse
)
def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Array:
    """Supports tracing, and differentiation for arrays and coordinates. Only for order 0 or 1."""
    order = operator.index(order)
    if order < 0:
        raise RuntimeError("spline order not supported")
    x, where = jnp.asarray(input), jnp.asarray(coordinates)
    if is_complex(where.dtype):
        raise TypeError("Complex type not supported")
    if x.ndim < 1 or where.ndim < 2:
        raise RuntimeError("input and output rank must be > 0")
    if where.shape[0] != x.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    dtype = result_dtype(output, x.dtype, is_complex(x.dtype))
    working = working_dtype(x.dtype, dtype, is_complex_anyway=is_complex(dtype))
    where = where.astype(default_float())
    fill = cval if is_jax(cval) else np.asarray(cval).astype(working)
    values = _interpolate(x.astype(working), where, fill, order, checked_mode(mode))
    if is_integer(dtype) and dtype != np.bool_:
        values = _rounded(values, dtype)
    return as_c_casts(values, dtype)


def _rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """Round halves away from zero; replace values out of range by the nearest limit."""
    limits = np.iinfo(dtype)
    if dtype.itemsize < (8 if has_64_bits() else 4):  # only for these are the limits exact
        values = jnp.clip(values, limits.min, limits.max)
    elif dtype.kind == "u":
        values = jnp.maximum(values, 0)
    return jnp.trunc(values + jnp.where(values < 0, -0.5, 0.5))


@partial(jax.jit, static_argnames=("order", "mode"))
def _interpolate(x: Array, coordinates: Array, cval: Array, order: int, mode: str) -> Array:
    nodes = []
    outside = jnp.zeros(coordinates.shape[1:], bool)
    for where, length in zip(coordinates, x.shape, strict=True):
        if mode == "constant":
            outside |= ~((where >= 0) & (where <= length - 1))  # true for NaN as well
        where = _moved_inside(where, length, mode)
        first = jnp.floor(where if order else where + 0.5)
        fraction = (where - first).astype(jnp.finfo(x.dtype).dtype)
        if mode == "grid-wrap":
            # Take the remainder after the fraction, which it would round, but before int32
            # overflows.
            first %= length
        index = first.astype(np.int32)
        weighted = [(index, 1 - fraction), (index + 1, fraction)] if order else [(index, None)]
        nodes.append([_node(each, weight, length, mode) for each, weight in weighted])
    total = jnp.zeros(outside.shape, x.dtype)
    for corner in product(*nodes):
        value = x[tuple(index for index, _, _ in corner)]
        for _, is_outside, _ in corner:
            if is_outside is not None:
                value = jnp.where(is_outside, cval.astype(x.dtype), value)
        for _, _, weight in corner:
            if weight is not None:
                value = value * weight.astype(value.dtype)
        total = total + value
    return jnp.where(outside, cval.astype(x.dtype), total)


def _node(
    index: Array, weight: Array | None, length: int, mode: str
) -> tuple[Array, Array | None, Array | None]:
    """Return the positions to read, a mask of positions outside the array, and the weights."""
    is_outside = None
    if mode == "grid-constant":
        is_outside = (index < 0) | (index >= length)
        mode = "nearest"
    elif mode in ("constant", "wrap"):
        mode = "nearest"
    return positions(index, length, mode), is_outside, weight


def _moved_inside(where: Array, length: int, mode: str) -> Array:
    """Return the coordinates moved inside, with SciPy's arithmetic, which is less exact."""
    if mode == "wrap":
        # In this mode, SciPy identifies the last element with the first: the period is one less.
        period = max(length - 1, 1)
        inside = jnp.where(where < 0, where + period * (jnp.trunc(-where / period) + 1), where)
        inside = jnp.where(where > length - 1, where - period * jnp.trunc(where / period), inside)
        return jnp.zeros_like(where) if length == 1 else inside
    if mode in ("nearest", "constant"):
        return jnp.clip(where, 0, length - 1)
    if mode == "mirror" and length > 1:
        period = 2 * length - 2
        turned = jnp.where(where < 0, -where, where) % period
        # Between the last element and the next, SciPy reflects coordinates that were negative.
        return jnp.where(turned >= length - (where < 0), period - turned, turned)
    if mode in ("reflect", "grid-mirror"):
        turned = jnp.where(where < 0, -1 - where, where) % (2 * length)
        return jnp.where(turned >= length, 2 * length - 1 - turned, turned)
    return where
