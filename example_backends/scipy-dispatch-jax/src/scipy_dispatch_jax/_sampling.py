"""Values of splines at points, for the interpolation of `scipy_dispatch.ndimage`.

Coordinates that NumPy has computed stay in double precision until their nodes and weights are
known. Coordinates that are JAX arrays may be traced and differentiated.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ._arrays import as_c_casts, has_64_bits, is_complex, is_integer, is_jax
from ._boundary import checked_mode, positions
from ._implement import Call
from ._jax import Array, jax, jnp
from ._output import result_dtype, working_dtype
from ._spline import prefiltered, weights_at


def checked_order(call: Call, least: int = 0) -> int:
    """Return the order of the spline after checking that it is valid."""
    order = operator.index(call.order)
    if not least <= order <= 5:
        raise RuntimeError("spline order not supported")
    return order


def sampled(call: Call, x: Array, where: Sequence[Any], separable: bool = False) -> Array:
    """Return the values of the spline at coordinates along the first axes of an array.

    If they are `separable`, the coordinates of an axis are a line, and the points are all
    combinations. The call has ``order``, ``mode``, ``cval``, ``prefilter`` and ``output``.
    """
    order, mode = checked_order(call), checked_mode(call.mode)
    dtype = result_dtype(call.output, x.dtype)
    working = working_dtype(x.dtype, dtype, is_complex_anyway=is_complex(dtype))
    fill = jnp.asarray(call.cval if is_jax(call.cval) else np.asarray(call.cval).astype(working))
    x, pad = x.astype(working), 0
    if call.prefilter:
        x, pad = prefiltered(x, order, mode, fill, len(where))
    work = _interpolated if any(map(is_jax, where)) else _interpolate
    values = work(x, tuple(where), fill.astype(working), order, mode, pad, separable)
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


def _interpolate(
    x: Array, where: Any, cval: Array, order: int, mode: str, pad: int, separable: bool
) -> Array:
    nodes = [
        _nodes(each + pad, length, order, mode)
        for each, length in zip(where, x.shape, strict=False)
    ]
    return (_along_axes if separable else _at_points)(x, nodes, cval)


_interpolated: Any = jax.jit(_interpolate, static_argnames=("order", "mode", "pad", "separable"))


def _nodes(where: Any, length: int, order: int, mode: str) -> Any:
    """Return where coordinates are outside, and the positions and weights of coefficients.

    With each position comes a mask of those outside the array, for modes that have any.
    """
    xp: Any = np if isinstance(where, np.ndarray) else jnp
    outside = ~((where >= 0) & (where <= length - 1)) if mode == "constant" else None
    where = _moved_inside(xp, where, length, mode)
    first = xp.floor(where if order % 2 else where + 0.5)
    fraction = where - first + (0 if order % 2 else 0.5)
    if mode == "grid-wrap":
        # Take the remainder after the fraction, which it would round, but before int32
        # overflows.
        first %= length
    index = first.astype(np.int32) - order // 2
    weights = weights_at(fraction, order) if order else [None]
    beyond = {"constant": "mirror", "wrap": "mirror", "grid-constant": "nearest"}.get(mode, mode)
    nodes = []
    for number, weight in enumerate(weights):
        each = index + number
        gap = (each < 0) | (each >= length) if mode == "grid-constant" else None
        nodes.append((positions(each, length, beyond), gap, weight))
    return outside, nodes


@partial(jax.jit)
def _at_points(x: Array, nodes: Any, cval: Array) -> Array:
    """Return the weighted sums of coefficients around points."""
    trailing = x.ndim - len(nodes)

    def wide(array: Any) -> Array:
        return jnp.reshape(array, (*jnp.shape(array), *(1,) * trailing))

    total: Any = None
    for corner in product(*(each for _, each in nodes)):
        value = x[tuple(index for index, _, _ in corner)]
        for _, gap, _ in corner:
            value = value if gap is None else jnp.where(wide(gap), cval, value)
        for _, _, weight in corner:
            value = value if weight is None else value * wide(weight).astype(value.dtype)
        total = value if total is None else total + value
    for outside, _ in nodes:
        total = total if outside is None else jnp.where(wide(outside), cval, total)
    return total


@partial(jax.jit)
def _along_axes(x: Array, nodes: Any, cval: Array) -> Array:
    """Return the weighted sums for all combinations of coordinates, axis by axis."""

    def along(array: Any, axis: int) -> Array:
        return jnp.reshape(array, [-1 if each == axis else 1 for each in range(x.ndim)])

    for axis, (_, several) in enumerate(nodes):
        total: Any = None
        for index, gap, weight in several:
            value = jnp.take(x, index, axis)
            value = value if gap is None else jnp.where(along(gap, axis), cval, value)
            if weight is not None:
                value = value * along(weight, axis).astype(value.dtype)
            total = value if total is None else total + value
        x = total
    for axis, (outside, _) in enumerate(nodes):
        x = x if outside is None else jnp.where(along(outside, axis), cval, x)
    return x


def _moved_inside(xp: Any, where: Any, length: int, mode: str) -> Any:
    """Return the coordinates moved inside, with SciPy's arithmetic, which is less exact."""
    if mode == "wrap":
        # In this mode, SciPy identifies the last element with the first: the period is one less.
        period = max(length - 1, 1)
        inside = xp.where(where < 0, where + period * (xp.trunc(-where / period) + 1), where)
        inside = xp.where(where > length - 1, where - period * xp.trunc(where / period), inside)
        return xp.zeros_like(where) if length == 1 else inside
    if mode in ("nearest", "constant"):
        # Not to the ends: with "nearest", SciPy repeats the outermost coefficients.
        return xp.clip(where, -8, length + 7)
    if mode == "mirror" and length > 1:
        period = 2 * length - 2
        turned = xp.where(where < 0, -where, where) % period
        # Between the last element and the next, SciPy reflects coordinates that were negative.
        return xp.where(turned >= length - (where < 0), period - turned, turned)
    if mode in ("reflect", "grid-mirror"):
        turned = xp.where(where < 0, -1 - where, where) % (2 * length)
        return xp.where(turned >= length, 2 * length - 1 - turned, turned)
    return where
