"""Interpolation of `scipy_dispatch.ndimage` by splines.

Coordinates that are known while JAX traces, as those of `zoom`, are computed by NumPy in double
precision. Coordinates that are JAX arrays may be traced and differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from ._arrays import as_c_casts, default_float, is_complex, is_jax, is_traced, known
from ._axes import for_each, one_axis, some_axes
from ._boundary import checked_mode
from ._implement import Call, implements, require, warn_caller
from ._jax import Array, jnp
from ._output import result_dtype, working_dtype
from ._sampling import checked_order, sampled
from ._spline import coefficients


@implements("ndimage", "input coordinates:bifh cval")
def map_coordinates(call: Call) -> Array:
    """Differentiable for the coordinates, too."""
    x, where = call.input, jnp.asarray(call.coordinates)
    require(where.ndim > 1 and where.shape[0] == x.ndim)
    return sampled(call, x, list(where.astype(default_float())))


def _on_grid(call: Call, shape: Sequence[int], scales: Any, shifts: Any) -> Array:
    """Return the values at ``scale * (index + shift)`` along every axis."""
    where = []
    for length, scale, shift in zip(shape, scales, shifts, strict=True):
        index = np.arange(length, dtype=default_float() if is_jax(shift) else np.float64)
        where.append((index + shift) * scale)
    return sampled(call, call.input, where, separable=True)


def _numbers(value: Any) -> Any:
    """Return an array of doubles, or a JAX array as it is if it is traced."""
    if is_traced(value):
        return value.astype(default_float())
    return np.asarray(known(value), np.float64)


@implements("ndimage", "input shift:bifh cval")
def shift(call: Call) -> Array:
    """Differentiable for the shift, too."""
    x = call.input
    require(x.ndim)
    shifts = [-each for each in for_each(_numbers(call.shift), x.ndim)]
    return _on_grid(call, x.shape, (1,) * x.ndim, shifts)


@implements("ndimage", "input cval")
def zoom(call: Call) -> Array:
    x = call.input
    require(x.ndim)
    factors = for_each(call.zoom, x.ndim)
    shape = [round(float(n * factor)) for n, factor in zip(x.shape, factors, strict=True)]
    checked_order(call)
    if call.prefilter and all(factor == 1 for factor in factors):
        return as_c_casts(x, result_dtype(call.output, x.dtype))
    if call.grid_mode and call.mode in ("constant", "wrap"):
        warn_caller(
            f"It is recommended to use mode = grid-{call.mode} instead of {call.mode} "
            "when grid_mode is True."
        )
    less, half = (0, 0.5) if call.grid_mode else (1, 0.0)
    where = []
    for old, new in zip(x.shape, shape, strict=True):
        scale = (old - less) / (new - less) if new != less else 1.0
        where.append((np.arange(new) + half) * scale - half)
    return sampled(call, x, where, separable=True)


def _at_affine(call: Call, x: Array, matrix: Any, offset: Any, shape: Sequence[int]) -> Array:
    is_known = not is_jax(matrix) and not is_jax(offset)
    grid = np.indices(shape, dtype=np.float64 if is_known else default_float())
    grid = grid if is_known else jnp.asarray(grid)
    where = [
        sum(row[k] * grid[k] for k in range(len(shape))) + offset[axis]
        for axis, row in enumerate(matrix)
    ]
    return sampled(call, x, where)


def _refuse_matrix(call: Call) -> str | None:
    if call.output_shape is not None and 0 in np.atleast_1d(call.output_shape):
        return "output_shape= has a length of 0"
    return None


@implements("ndimage", "input matrix:bifh offset:bifh cval", _refuse_matrix)
def affine_transform(call: Call) -> Array:
    """Differentiable for the matrix and the offset, too."""
    x, matrix, offset = call.input, _numbers(call.matrix), _numbers(call.offset)
    n, shape = x.ndim, tuple(x.shape if call.output_shape is None else call.output_shape)
    if matrix.ndim == 2 and matrix.shape in ((n, n + 1), (n + 1, n + 1)):
        bottom = [0] * n + [1]
        require(matrix.shape[0] == n or is_jax(matrix) or (matrix[-1] == bottom).all())
        matrix, offset = matrix[:n, :n], matrix[:n, n]
    require(shape and matrix.shape in ((n,), (n, len(shape))))
    offset = for_each(offset, n)
    if matrix.ndim == 2:
        return _at_affine(call, x, matrix, offset, shape)
    require(len(shape) == n)
    shifts = [each / scale for each, scale in zip(offset, matrix, strict=True)]
    return _on_grid(call, shape, matrix, shifts)


def _refuse_angle(call: Call) -> str | None:
    if is_traced(call.angle) and call.reshape:
        return "angle= is traced, and decides the shape of the result; pass reshape=False"
    return None


@implements("ndimage", "input angle:bifh cval", _refuse_angle)
def rotate(call: Call) -> Array:
    """Differentiable for the angle, too, with ``reshape=False``."""
    x = call.input
    require(x.ndim > 1 and len(call.axes) == 2)
    axes = sorted(some_axes(list(map(int, call.axes)), x.ndim))
    if is_traced(call.angle):
        turn = jnp.deg2rad(call.angle.astype(default_float()))
        matrix = jnp.asarray([[jnp.cos(turn), jnp.sin(turn)], [-jnp.sin(turn), jnp.cos(turn)]])
    else:
        angle = known(call.angle)
        c, s = special.cosdg(angle), special.sindg(angle)
        matrix = np.array([[c, s], [-s, c]])
    plane = shape = np.array([x.shape[axis] for axis in axes])
    if call.reshape:
        bounds = matrix @ [[0, 0, plane[0], plane[0]], [0, plane[1], 0, plane[1]]]
        shape = (np.ptp(bounds, axis=1) + 0.5).astype(int)
    centre = ((shape - 1) / 2).astype(matrix.dtype)
    offset = ((plane - 1) / 2).astype(matrix.dtype) - matrix @ centre
    moved = jnp.moveaxis(x, axes, (0, 1))
    return jnp.moveaxis(_at_affine(call, moved, matrix, offset, tuple(shape)), (0, 1), axes)


@implements("ndimage", "input")
def spline_filter1d(call: Call) -> Array:
    return _filtered(call, checked_order(call), [one_axis(call.axis, call.input.ndim)])


@implements("ndimage", "input")
def spline_filter(call: Call) -> Array:
    return _filtered(call, checked_order(call, 2), range(call.input.ndim))


def _filtered(call: Call, order: int, axes: Any) -> Array:
    x, mode = call.input, checked_mode(call.mode)
    dtype = result_dtype(call.output, x.dtype)
    working = working_dtype(x.dtype, dtype, is_complex_anyway=is_complex(dtype))
    for axis in axes:
        x = as_c_casts(coefficients(x.astype(working), order, axis, mode), dtype)
    return as_c_casts(x, dtype)
