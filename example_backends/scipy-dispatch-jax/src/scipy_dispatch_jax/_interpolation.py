"""Interpolation of `scipy_dispatch.ndimage` by splines.

Coordinates that are known while JAX traces, as those of `zoom`, are computed by NumPy in double
precision. Coordinates that are JAX arrays may be traced and differentiated.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from ._arrays import (
    as_c_casts,
    default_float,
    dtype_of,
    is_complex,
    is_complex_number,
    is_jax,
    is_traced,
    known,
)
from ._axes import for_each, one_axis
from ._boundary import checked_mode
from ._implement import Call, implements
from ._jax import Array, jnp
from ._output import result_dtype, why_not_output, working_dtype
from ._sampling import checked_order, sampled
from ._spline import coefficients
from ._warning import warn_caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def _refuse(call: Call) -> str | None:
    if 0 in jnp.shape(call.input):
        return "input= has no elements"
    is_complex_array = is_complex(dtype_of(call.input))
    if not is_complex_array and is_complex_number(getattr(call, "cval", 0)):
        return "cval= is complex, and the array is not"
    return why_not_output(call.output, is_complex_array)


def _image(call: Call) -> Array:
    x = jnp.asarray(call.input)
    if x.ndim < 1:
        raise RuntimeError("input and output rank must be > 0")
    return x


@implements("ndimage", "input coordinates cval", _refuse)
def map_coordinates(call: Call) -> Array:
    """Differentiable for the coordinates, too."""
    x, where = _image(call), jnp.asarray(call.coordinates)
    if is_complex(where.dtype):
        raise TypeError("Complex type not supported")
    if where.ndim < 2:
        raise RuntimeError("input and output rank must be > 0")
    if where.shape[0] != x.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    return sampled(call, x, list(where.astype(default_float())))


def _on_grid(call: Call, x: Array, shape: Sequence[int], scales: Any, shifts: Any) -> Array:
    """Return the values at ``scale * (index + shift)`` along every axis."""
    where = []
    for length, scale, shift in zip(shape, scales, shifts, strict=True):
        index = np.arange(length, dtype=np.float64 if not is_jax(shift) else default_float())
        where.append((index + shift) * scale)
    return sampled(call, x, where, separable=True)


def _numbers(value: Any) -> Any:
    """Return an array of doubles, or a JAX array as it is if it is traced."""
    value = value if is_traced(value) else known(value)
    return value.astype(default_float()) if is_jax(value) else np.asarray(value, np.float64)


@implements("ndimage", "input shift cval", _refuse)
def shift(call: Call) -> Array:
    """Differentiable for the shift, too."""
    x = _image(call)
    shifts = [-each for each in for_each(_numbers(call.shift), x.ndim)]
    return _on_grid(call, x, x.shape, (1,) * x.ndim, shifts)


@implements("ndimage", "input cval", _refuse)
def zoom(call: Call) -> Array:
    x = _image(call)
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
    less = 0 if call.grid_mode else 1
    where = []
    for old, new in zip(x.shape, shape, strict=True):
        scale = (old - less) / (new - less) if new != less else 1.0
        half = 0.5 if call.grid_mode else 0.0
        where.append((np.arange(new) + half) * scale - half)
    return sampled(call, x, where, separable=True)


def _at_affine(call: Call, x: Array, matrix: Any, offset: Any, shape: Sequence[int]) -> Array:
    xp: Any = jnp if is_jax(matrix) or is_jax(offset) else np
    grid = np.indices(shape, dtype=np.float64)
    if xp is jnp:
        grid = grid.astype(default_float())
    where = [
        sum(row[k] * grid[k] for k in range(len(shape))) + offset[axis]
        for axis, row in enumerate(matrix)
    ]
    return sampled(call, x, where)


def _refuse_matrix(call: Call) -> str | None:
    if call.output_shape is not None and 0 in np.atleast_1d(call.output_shape):
        return "output_shape= has a length of 0"
    return _refuse(call)


@implements("ndimage", "input matrix offset cval", _refuse_matrix)
def affine_transform(call: Call) -> Array:
    """Differentiable for the matrix and the offset, too."""
    x, matrix, offset = _image(call), _numbers(call.matrix), _numbers(call.offset)
    shape = tuple(x.shape if call.output_shape is None else call.output_shape)
    if matrix.ndim not in (1, 2) or matrix.shape[0] < 1 or not shape:
        raise RuntimeError("no proper affine matrix provided")
    if matrix.ndim == 2 and matrix.shape[1] == x.ndim + 1 and matrix.shape[0] - x.ndim in (0, 1):
        bottom = [0] * x.ndim + [1]
        if matrix.shape[0] > x.ndim and not is_jax(matrix) and (matrix[-1] != bottom).any():
            raise ValueError(f"the bottom row of the matrix is not {bottom}")
        matrix, offset = matrix[: x.ndim, : x.ndim], matrix[: x.ndim, x.ndim]
    if matrix.shape[0] != x.ndim or (matrix.ndim == 2 and matrix.shape[1] != len(shape)):
        raise RuntimeError("affine matrix has a wrong shape")
    offset = for_each(offset, x.ndim)
    if matrix.ndim == 2:
        return _at_affine(call, x, matrix, offset, shape)
    if len(shape) != x.ndim:
        raise RuntimeError("affine matrix has a wrong shape")
    shifts = [each / scale for each, scale in zip(offset, matrix, strict=True)]
    return _on_grid(call, x, shape, matrix, shifts)


def _refuse_angle(call: Call) -> str | None:
    if is_traced(call.angle) and call.reshape:
        return "angle= is traced, and decides the shape of the result; pass reshape=False"
    return _refuse(call)


@implements("ndimage", "input angle cval", _refuse_angle)
def rotate(call: Call) -> Array:
    """Differentiable for the angle, too, with ``reshape=False``."""
    x = _image(call)
    if x.ndim < 2 or len(call.axes) != 2:
        raise ValueError("rotate takes an array of two or more dimensions, and two axes")
    try:
        axes = sorted(one_axis(int(axis), x.ndim) for axis in call.axes)
    except np.exceptions.AxisError:
        raise ValueError("invalid rotation plane specified") from None
    if is_traced(call.angle):
        turn = jnp.deg2rad(call.angle.astype(default_float()))
        xp, c, s = jnp, jnp.cos(turn), jnp.sin(turn)
    else:
        angle = known(call.angle)
        xp, c, s = np, special.cosdg(angle), special.sindg(angle)
    matrix = xp.asarray([[c, s], [-s, c]])
    plane = shape = np.array([x.shape[axis] for axis in axes])
    if call.reshape:
        bounds = matrix @ [[0, 0, plane[0], plane[0]], [0, plane[1], 0, plane[1]]]
        shape = (np.ptp(bounds, axis=1) + 0.5).astype(int)
    centre = ((shape - 1) / 2).astype(matrix.dtype)
    offset = ((plane - 1) / 2).astype(matrix.dtype) - matrix @ centre
    moved = jnp.moveaxis(x, axes, (0, 1))
    return jnp.moveaxis(_at_affine(call, moved, matrix, offset, tuple(shape)), (0, 1), axes)


@implements("ndimage", "input", _refuse)
def spline_filter1d(call: Call) -> Array:
    x = jnp.asarray(call.input)
    return _filtered(call, x, checked_order(call), [one_axis(call.axis, x.ndim)])


@implements("ndimage", "input", _refuse)
def spline_filter(call: Call) -> Array:
    x = jnp.asarray(call.input)
    return _filtered(call, x, checked_order(call, 2), range(x.ndim))


def _filtered(call: Call, x: Array, order: int, axes: Any) -> Array:
    dtype, mode = result_dtype(call.output, x.dtype), checked_mode(call.mode)
    working = working_dtype(x.dtype, dtype, is_complex_anyway=is_complex(dtype))
    for axis in axes:
        x = as_c_casts(coefficients(x.astype(working), order, axis, mode), dtype)
    return as_c_casts(x, dtype)
