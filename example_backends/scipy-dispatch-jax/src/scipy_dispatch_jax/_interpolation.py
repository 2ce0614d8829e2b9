"""Interpolation of `scipy_dispatch.ndimage`: splines of orders 0 to 5 at points.

Coordinates that are known while JAX traces, as those of `zoom`, are computed by NumPy and stay in
double precision until their nodes and weights are known. Coordinates that are JAX arrays may be
traced and differentiated.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy import special

from ._arrays import (
    as_c_casts,
    default_float,
    for_each,
    has_64_bits,
    is_complex,
    is_integer,
    is_jax,
    is_traced,
    known,
    one_axis,
    some_axes,
    times_line,
)
from ._calls import Arguments, implements, require, warn_caller
from ._windows import checked_mode, extended, is_constant, positions, result_dtype, working_dtype

# The values of a B-spline at 0, 1 and 2, by its order.
_AT_WHOLE = {2: (3 / 4, 1 / 8), 3: (2 / 3, 1 / 6), 4: (115 / 192, 19 / 96, 1 / 384)}
_AT_WHOLE[5] = (11 / 20, 13 / 60, 1 / 120)

# How far SciPy extends an array for boundary modes without exact coefficients.
_PAD = 12


@partial(jax.jit, static_argnames=("order", "axis", "mode"))
def coefficients(x: Array, order: int, axis: int, mode: str) -> Array:
    """Return the coefficients of the spline through the elements of every line.

    SciPy filters every line forward and back. Here the line is extended to a whole period of its
    boundary mode, on which Fourier transforms invert the convolution with a B-spline exactly.
    """
    length = x.shape[axis]
    if order < 2 or length == 1:
        return x
    if is_constant(mode) or mode == "wrap":
        mode = "mirror"
    elif mode == "nearest":
        mode = "reflect"
    period = {"mirror": 2 * length - 2, "grid-wrap": length}.get(mode, 2 * length)
    index = positions(np.arange(period), length, mode)
    line = jnp.moveaxis(jnp.take(x, index.astype(np.int32), axis), axis, -1)
    frequencies = 2 * np.pi * np.arange(period) / period
    first, *others = _AT_WHOLE[order]
    response = first + sum(
        2 * value * np.cos(k * frequencies) for k, value in enumerate(others, start=1)
    )
    if is_complex(x.dtype):
        inverse = jnp.asarray(1 / response, jnp.finfo(x.dtype).dtype)
        line = jnp.fft.ifft(times_line(jnp.fft.fft(line), inverse))
    else:
        inverse = jnp.asarray(1 / response[: period // 2 + 1], x.dtype)
        line = jnp.fft.irfft(times_line(jnp.fft.rfft(line), inverse), period)
    return jnp.moveaxis(line[..., :length], -1, axis)


def prefiltered(x: Array, order: int, mode: str, cval: Any, ndim: int) -> tuple[Array, int]:
    """Return the coefficients along the first `ndim` axes, and by how much these were extended."""
    pad = _PAD if mode in ("nearest", "grid-constant") and order > 1 else 0
    margins = [(pad, pad)] * ndim + [(0, 0)] * (x.ndim - ndim)
    x = extended(x, margins, (mode,) * x.ndim, cval)
    for axis in range(ndim):
        x = coefficients(x, order, axis, mode)
    return x, pad


def weights_at(fraction: Any, order: int) -> list[Any]:
    """Return the weights of the `order` + 1 coefficients around a point (C. de Boor's recursion).

    `fraction` is its position between two knots, from 0 to 1.
    """
    weights = [1 + 0 * fraction]
    for degree in range(1, order + 1):
        carried, raised = 0 * fraction, []
        for number, weight in enumerate(weights):
            part = weight / degree
            raised.append(carried + (number + 1 - fraction) * part)
            carried = (fraction + degree - number - 1) * part
        weights = [*raised, carried]
    return weights


def checked_order(call: Arguments, least: int = 0) -> int:
    """Return the order of the spline after checking that it is valid."""
    order = operator.index(call.order)
    if not least <= order <= 5:
        raise RuntimeError("spline order not supported")
    return order


def sampled(call: Arguments, x: Array, where: Sequence[Any], separable: bool = False) -> Array:
    """Return the values of the spline at coordinates along the first axes of an array.

    If they are `separable`, the coordinates of an axis are a line, and the points are all
    combinations. The call has ``order``, ``mode``, ``cval``, ``prefilter`` and ``output``.
    """
    order, mode = checked_order(call), checked_mode(call.mode)
    dtype = result_dtype(call.output, x.dtype)
    working = working_dtype(x.dtype, dtype)
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


@implements("ndimage", "input coordinates:bifh cval")
def map_coordinates(call: Arguments) -> Array:
    """Differentiable for the coordinates, too."""
    x, where = call.input, jnp.asarray(call.coordinates)
    require(where.ndim > 1 and where.shape[0] == x.ndim)
    return sampled(call, x, list(where.astype(default_float())))


def _on_grid(call: Arguments, shape: Sequence[int], scales: Any, shifts: Any) -> Array:
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
def shift(call: Arguments) -> Array:
    """Differentiable for the shift, too."""
    x = call.input
    require(x.ndim)
    shifts = [-each for each in for_each(_numbers(call.shift), x.ndim)]
    return _on_grid(call, x.shape, (1,) * x.ndim, shifts)


@implements("ndimage", "input cval")
def zoom(call: Arguments) -> Array:
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


def _at_affine(call: Arguments, x: Array, matrix: Any, offset: Any, shape: Sequence[int]) -> Array:
    is_known = not is_jax(matrix) and not is_jax(offset)
    grid = np.indices(shape, dtype=np.float64 if is_known else default_float())
    grid = grid if is_known else jnp.asarray(grid)
    where = [
        sum(row[k] * grid[k] for k in range(len(shape))) + offset[axis]
        for axis, row in enumerate(matrix)
    ]
    return sampled(call, x, where)


def _refuse_matrix(call: Arguments) -> str | None:
    if call.output_shape is not None and 0 in np.atleast_1d(call.output_shape):
        return "output_shape= has a length of 0"
    return None


@implements("ndimage", "input matrix:bifh offset:bifh cval", _refuse_matrix)
def affine_transform(call: Arguments) -> Array:
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


def _refuse_angle(call: Arguments) -> str | None:
    if is_traced(call.angle) and call.reshape:
        return "angle= is traced, and decides the shape of the result; pass reshape=False"
    return None


@implements("ndimage", "input angle:bifh cval", _refuse_angle)
def rotate(call: Arguments) -> Array:
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
def spline_filter1d(call: Arguments) -> Array:
    return _filtered(call, checked_order(call), [one_axis(call.axis, call.input.ndim)])


@implements("ndimage", "input")
def spline_filter(call: Arguments) -> Array:
    return _filtered(call, checked_order(call, 2), range(call.input.ndim))


def _filtered(call: Arguments, order: int, axes: Any) -> Array:
    x, mode = call.input, checked_mode(call.mode)
    dtype = result_dtype(call.output, x.dtype)
    working = working_dtype(x.dtype, dtype)
    for axis in axes:
        x = as_c_casts(coefficients(x.astype(working), order, axis, mode), dtype)
    return as_c_casts(x, dtype)
