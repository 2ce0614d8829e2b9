"""Linear filters of `scipy_dispatch.ndimage`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy import ndimage as scipy_ndimage

from ._arrays import (
    dtype_of,
    for_each,
    has_64_bits,
    is_complex,
    is_integer,
    one_axis,
    some_axes,
    spread,
)
from ._calls import Arguments, implements, require
from ._sums import correlated, mean
from ._windows import Windows, finished, passing_dtype, result_dtype, working_dtype


def _refuse_weights(call: Arguments) -> str | None:
    if call.output is not None and is_complex(dtype_of(call.weights)):
        return "weights= is complex, and output= is given"
    return None


def line(
    x: Array,
    weights: Any,
    axis: int,
    dtype: np.dtype[Any],
    mode: str,
    cval: Any,
    origin: int = 0,
    mirrored: bool = False,
) -> Array:
    """Correlate along one axis; convolve, if the weights are to be mirrored."""
    require(weights.ndim == 1 and weights.size and isinstance(mode, str))
    return correlated(x, weights, (axis,), [origin], mode, cval, dtype, mirrored, is_line=True)


def _one_line(call: Arguments, weights: Any, mirrored: bool) -> Array:
    x = call.input
    dtype = result_dtype(call.output, x.dtype, is_complex(weights.dtype))
    axis = one_axis(call.axis, x.ndim)
    return line(x, weights, axis, dtype, call.mode, call.cval, call.origin, mirrored)


@implements("ndimage", "input weights cval", _refuse_weights)
def correlate1d(call: Arguments) -> Array:
    """Differentiable for the weights, too."""
    return _one_line(call, call.weights.conj(), mirrored=False)


@implements("ndimage", "input weights cval", _refuse_weights)
def convolve1d(call: Arguments) -> Array:
    """Differentiable for the weights, too."""
    return _one_line(call, call.weights, mirrored=True)


def _window(call: Arguments, weights: Any, mirrored: bool) -> Array:
    x, axes = call.input, some_axes(call.axes, call.input.ndim)
    require(weights.ndim == len(axes) and weights.size and isinstance(call.mode, str))
    dtype = result_dtype(call.output, x.dtype, is_complex(weights.dtype))
    return correlated(x, weights, axes, call.origin, call.mode, call.cval, dtype, mirrored)


@implements("ndimage", "input weights cval", _refuse_weights)
def correlate(call: Arguments) -> Array:
    """Differentiable for the weights, too."""
    return _window(call, call.weights.conj(), mirrored=False)


@implements("ndimage", "input weights cval", _refuse_weights)
def convolve(call: Arguments) -> Array:
    """Differentiable for the weights, too."""
    return _window(call, call.weights, mirrored=True)


@implements("ndimage", "input cval")
def gaussian_filter1d(call: Arguments) -> Array:
    x = call.input
    weights = gaussian_weights(call.sigma, call.order, call.truncate, call.radius)
    dtype = result_dtype(call.output, x.dtype)
    return line(x, weights, one_axis(call.axis, x.ndim), dtype, call.mode, call.cval)


@implements("ndimage", "input cval")
def gaussian_filter(call: Arguments) -> Array:
    return _gaussian(call, call.truncate, call.radius, call.axes)


def _gaussian(
    call: Arguments, truncate: float = 4.0, radius: Any = None, axes: Any = None
) -> Array:
    x, dtype = call.input, result_dtype(call.output, call.input.dtype)
    axes = some_axes(axes, x.ndim)
    each = (for_each(each, len(axes)) for each in (call.sigma, call.order, call.mode, radius))
    for axis, sigma, order, mode, reach in zip(axes, *each, strict=True):
        if sigma > 1e-15:
            weights = gaussian_weights(sigma, order, truncate, reach)
            x = line(x, weights, axis, passing_dtype(dtype), mode, call.cval)
    return finished(x, dtype)


def _mean(x: Array, size: int, axis: int, dtype: Any, mode: str, cval: Any, origin: int) -> Array:
    footprint, types = np.ones(int(size), bool), (working_dtype(x.dtype, dtype), dtype)
    windows = Windows.of(x.ndim, footprint, (axis,), [origin], mode, types)
    return mean(x, windows.fill(cval), windows)


@implements("ndimage", "input cval")
def uniform_filter1d(call: Arguments) -> Array:
    x, size = call.input, operator.index(call.size)
    require(size >= 1 and isinstance(call.mode, str))
    dtype = result_dtype(call.output, x.dtype)
    return _mean(x, size, one_axis(call.axis, x.ndim), dtype, call.mode, call.cval, call.origin)


@implements("ndimage", "input cval")
def uniform_filter(call: Arguments) -> Array:
    x, dtype = call.input, result_dtype(call.output, call.input.dtype)
    axes = some_axes(call.axes, x.ndim)
    settings = [for_each(each, len(axes)) for each in (call.size, call.mode, call.origin)]
    for axis, size, mode, origin in zip(axes, *settings, strict=True):
        if size > 1:
            x = _mean(x, size, axis, passing_dtype(dtype), mode, call.cval, origin)
    return finished(x, dtype)


def _derivative(call: Arguments, across: list[int]) -> Array:
    x, dtype = call.input, result_dtype(call.output, call.input.dtype)
    axis, modes = one_axis(call.axis, x.ndim), for_each(call.mode, x.ndim)
    for each in (axis, *(other for other in range(x.ndim) if other != axis)):
        weights = np.array([-1, 0, 1] if each == axis else across)
        x = line(x, weights, each, passing_dtype(dtype), modes[each], call.cval)
    return finished(x, dtype)


@implements("ndimage", "input cval")
def prewitt(call: Arguments) -> Array:
    return _derivative(call, [1, 1, 1])


@implements("ndimage", "input cval")
def sobel(call: Arguments) -> Array:
    return _derivative(call, [1, 2, 1])


def _over_axes(
    call: Arguments,
    derivative: Callable[[Array, int, Any, str], Array],
    finish: Callable[[Array], Array] = lambda total: total,
) -> Array:
    """Sum a derivative along every axis; return the array itself if there are no axes."""
    x, dtype = call.input, result_dtype(call.output, call.input.dtype)
    axes = some_axes(call.axes, x.ndim)
    total = None
    for axis, mode in zip(axes, for_each(call.mode, len(axes)) if axes else [], strict=True):
        term = derivative(x, axis, dtype, mode)
        total = term if total is None else (total | term if dtype == np.bool_ else total + term)
    return finished(x, dtype) if total is None else finish(total)


@implements("ndimage", "input cval")
def laplace(call: Arguments) -> Array:
    weights = np.array([1, -2, 1])
    return _over_axes(
        call, lambda x, axis, dtype, mode: line(x, weights, axis, dtype, mode, call.cval)
    )


@implements("ndimage", "input cval")
def gaussian_laplace(call: Arguments) -> Array:
    ndim = call.input.ndim
    axes = some_axes(call.axes, ndim)
    sigma = for_each(call.sigma, len(axes))
    sigma = spread(sigma, axes, ndim, 0) if len(axes) < ndim else sigma

    def derivative(x: Array, axis: int, dtype: Any, mode: str) -> Array:
        order = spread([2], (axis,), ndim, 0)
        one = call.but(input=x, sigma=sigma, order=order, mode=mode, output=dtype)
        return _gaussian(one, **call.kwargs)

    return _over_axes(call, derivative)


def _refuse_magnitudes(call: Arguments) -> str | None:
    dtype = result_dtype(call.output, dtype_of(call.input))
    if not has_64_bits() and dtype in (np.uint16, np.uint32):
        # Negative derivatives wrap around before they are smoothed and squared.
        return f"squares of {dtype} wrap round otherwise; set jax_enable_x64"
    return None


@implements("ndimage", "input cval", _refuse_magnitudes)
def gaussian_gradient_magnitude(call: Arguments) -> Array:
    """The derivative is 0 where the gradient is."""

    def square(x: Array, axis: int, dtype: Any, mode: str) -> Array:
        order = spread([1], (axis,), x.ndim, 0)
        one = call.but(input=x, order=order, mode=mode, output=dtype)
        slope = _gaussian(one, **call.kwargs)
        return slope & slope if dtype == np.bool_ else slope * slope

    return _over_axes(call, square, _square_root)


def _square_root(x: Array) -> Array:
    if x.dtype == np.bool_:
        return x
    if not is_integer(x.dtype):
        # The derivative of the root at 0 is infinite; that of the magnitude is defined as 0.
        is_zero = x == 0
        return jnp.where(is_zero, x, jnp.sqrt(jnp.where(is_zero, jnp.ones_like(x), x)))
    # The root of an integer just below a square may be rounded up to the next integer.
    x = jnp.maximum(x, 0)
    root = jnp.sqrt(x).astype(x.dtype)
    return root - (root > x // jnp.maximum(root, 1)).astype(x.dtype)


def gaussian_weights(sigma: float, order: int, truncate: float, radius: Any) -> Any:
    """Return the weights of a Gaussian, or of a derivative of it, in double precision.

    They are what SciPy's own filter makes of a single 1, backwards.
    """
    reach = int(truncate * float(sigma) + 0.5) if radius is None else operator.index(radius)
    impulse = np.zeros(2 * max(reach, 0) + 1)
    impulse[reach] = 1
    settings: dict[str, Any] = {"truncate": truncate, "radius": radius, "mode": "constant"}
    return scipy_ndimage.gaussian_filter1d(impulse, sigma, order=order, **settings)[::-1]
