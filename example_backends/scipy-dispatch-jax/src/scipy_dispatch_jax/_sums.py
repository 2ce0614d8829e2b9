"""Weighted sums and means of windows, with derivatives.

Each function is compiled as a whole: the extension at the boundaries, the sum, and the
conversion of the result. So a call outside of `jit` has the overhead of one operation for each
function, not for each step.
"""

from __future__ import annotations

from functools import partial
from math import isqrt
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ._arrays import as_c_casts, is_complex, is_integer, is_jax
from ._windows import WRITTEN_OUT, Windows, running, working_dtype


@partial(jax.jit, static_argnames="windows")
def weighted_sum(x: Array, weights: Any, cval: Any, windows: Windows) -> Array:
    """Return the sums of the elements of windows times their weights, one for every offset.

    `cval` comes from `Windows.fill`.
    """
    x = windows.over(x, cval)
    weights = jnp.ravel(jnp.asarray(weights))
    dtype = windows.working
    if not is_complex(weights.dtype) and not is_integer(dtype):
        dtype = jnp.finfo(dtype).dtype
    weights = weights.astype(dtype)
    if is_integer(x.dtype):
        return as_c_casts(_sum(WRITTEN_OUT, windows, x, weights), windows.dtype)
    return as_c_casts(_differentiable(windows, x, weights), windows.dtype)


def _sum(limit: int, windows: Windows, x: Array, weights: Array) -> Array:
    """Add the products, unrolled up to a limit.

    Many terms are added in groups, because the rounding error would grow with their number.
    """

    def added(total: Array, first: Any, count: int) -> Array:
        def step(number: Any, total: Array) -> Array:
            return total + windows.part(x, first + number) * weights[first + number]

        if count <= limit and isinstance(first, int):
            for number in range(count):
                total = step(number, total)
            return total
        # Without a checkpoint, the gradient would keep all shifted arrays.
        return lax.fori_loop(0, count, jax.checkpoint(step), total)

    def group(number: Any, total: Array) -> Array:
        return total + added(jnp.zeros_like(total), number * width, width)

    count, total = windows.count, windows.zeros(x)
    if count <= WRITTEN_OUT:
        return added(total, 0, count)
    width = isqrt(count)
    whole = count // width
    total = lax.fori_loop(0, whole, jax.checkpoint(group), total)
    return added(total, whole * width, count - whole * width)


# Fewer terms are unrolled for derivatives, because each element becomes an array.
_WRITTEN_OUT_FOR_SLOPES = 8


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _differentiable(windows: Windows, x: Array, weights: Array) -> Array:
    """Return a sum with a derivative that compiles quickly."""
    return _sum(WRITTEN_OUT, windows, x, weights)


@_differentiable.defjvp
def _slope(
    windows: Windows, arrays: tuple[Array, ...], slopes: tuple[Array, ...]
) -> tuple[Array, Array]:
    summed = partial(_sum, _WRITTEN_OUT_FOR_SLOPES, windows)
    return _differentiable(windows, *arrays), jax.jvp(summed, arrays, slopes)[1]


@partial(jax.jit, static_argnames="windows")
def mean(x: Array, cval: Any, windows: Windows) -> Array:
    """Return the means of windows that are longer than one element along a single axis."""
    axis = int(np.argmax(windows.shape))
    total = running(lax.add, windows.over(x, cval), windows.shape[axis], axis)
    return as_c_casts(total / windows.shape[axis], windows.dtype)


def correlated(
    x: Array,
    weights: Any,
    axes: tuple[int, ...],
    origin: Any,
    mode: Any,
    cval: Any,
    dtype: np.dtype[Any],
    mirrored: bool = False,
    is_line: bool = False,
) -> Array:
    """Correlate along some axes; convolve, if the weights are to be mirrored."""
    if mirrored:
        weights = weights[(slice(None, None, -1),) * weights.ndim]
    footprint = np.ones(weights.shape, bool)
    if not is_line and not is_jax(weights):
        # SciPy's n-d filters skip weights this small, whatever the elements are.
        footprint = np.abs(weights * 1.0) > np.finfo(np.float64).eps
        weights = weights[footprint]
        if not weights.size:
            return jnp.zeros(x.shape, dtype)
    if mirrored:  # the windows mirror it back
        footprint = np.flip(footprint)
    types = working_dtype(x.dtype, dtype), dtype
    windows = Windows.of(x.ndim, footprint, axes, origin, mode, types, mirrored)
    return weighted_sum(x, weights, windows.fill(cval), windows)
