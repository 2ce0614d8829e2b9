"""Linear filters of `scipy_dispatch.ndimage`; importing it registers all the module's functions."""

from __future__ import annotations

import operator

import numpy as np

from . import _interpolation, _order  # noqa: F401  # they register their functions
from ._arrays import dtype_of, has_64_bits, is_complex, is_complex_number, is_integer, is_jax
from ._axes import checked_origin, for_each, one_axis, some_axes, spread, spread_window
from ._boundary import checked_mode
from ._gaussian import gaussian_weights
from ._implement import implements
from ._jax import Array, jnp
from ._linear import Boundary, as_weights, means, neighbours
from ._output import finished, passing_dtype, result_dtype, why_not_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ORIGIN_OF_LINES = (
    "Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2"
)
_ORIGIN_OF_WINDOWS = (
    "Invalid origin; origin must satisfy "
    "-(weights.shape[k] // 2) <= origin[k] <= (weights.shape[k]-1) // 2"
)


def _line(
    x: Array, weights: Any, axis: int, dtype: np.dtype[Any], mode: str, cval: Any, origin: int = 0
) -> Array:
    """Correlate along one axis, with the weights in the order for a correlation."""
    checked_mode(mode)
    weights = as_weights(weights)
    shape = spread(weights.shape, (axis,), x.ndim, 1)
    origins = spread([origin], (axis,), x.ndim, 0)
    modes = tuple(spread([mode], (axis,), x.ndim, "nearest"))
    boundary = Boundary(modes, cval)
    return neighbours(x, weights, shape, origins, boundary, dtype, is_line=True)


def _checked_line(weights: Any) -> Any:
    weights = as_weights(weights)
    if weights.ndim != 1 or weights.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    return weights


def _refuse(call: dict[str, Any]) -> str | None:
    """Reject complex arguments for real results, some of which SciPy supports."""
    is_complex_array = is_complex(dtype_of(call["input"]))
    is_complex_sum = is_complex_array or is_complex(as_weights(call.get("weights", 0)).dtype)
    cval = call["cval"]
    if not is_complex_array and is_complex_number(cval):
        return "cval= is complex, and the array is not"
    is_narrow = is_integer(dtype_of(call["input"])) and not has_64_bits()
    if is_narrow and not is_jax(cval) and abs(complex(cval)) >= 2**31:
        return "cval= has more than 32 bits; set jax_enable_x64"
    return why_not_output(call["output"], is_complex_sum)


def _refuse_magnitudes(call: dict[str, Any]) -> str | None:
    dtype = result_dtype(call["output"], dtype_of(call["input"]))
    if not has_64_bits() and dtype in (np.uint16, np.uint32):
        # Negative derivatives wrap around before they are smoothed and squared.
        return f"squares of {dtype} wrap round otherwise; set jax_enable_x64"
    return _refuse(call)


def _refuse_means(call: dict[str, Any]) -> str | None:
    dtype = dtype_of(call["input"])
    if not has_64_bits() and is_integer(dtype):
        # The sum of the remainders must fit into 32 bits.
        largest = max(call["size"]) if np.iterable(call["size"]) else call["size"]
        if largest > 46340:
            return f"size={largest} of integers; set jax_enable_x64"
        if dtype == np.uint32 and not is_jax(call["cval"]) and call["cval"] < 0:
            return "cval= is less than zero, and the array unsigned; set jax_enable_x64"
    return _refuse(call)


@implements("scipy_dispatch.ndimage:correlate1d", "input", "weights", "cval", refuse=_refuse)
def correlate1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Array:
    """Supports tracing, and differentiation with respect to the array and the weights."""
    x, weights = jnp.asarray(input), _checked_line(weights)
    origin = checked_origin(origin, weights.shape[0], _ORIGIN_OF_LINES)
    complex_output = is_complex(x.dtype) or is_complex(weights.dtype)
    dtype = result_dtype(output, x.dtype, complex_output)
    return _line(x, weights.conj(), one_axis(axis, x.ndim), dtype, mode, cval, origin)


@implements("scipy_dispatch.ndimage:convolve1d", "input", "weights", "cval", refuse=_refuse)
def convolve1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Array:
    """Supports tracing, and differentiation with respect to the array and the weights."""
    x, weights = jnp.asarray(input), _checked_line(weights)[::-1]
    origin = -origin - (weights.shape[0] % 2 == 0)
    origin = checked_origin(origin, weights.shape[0], _ORIGIN_OF_LINES)
    complex_output = is_complex(x.dtype) or is_complex(weights.dtype)
    dtype = result_dtype(output, x.dtype, complex_output)
    return _line(x, weights, one_axis(axis, x.ndim), dtype, mode, cval, origin)


def _window(
    input: Any, weights: Any, output: Any, mode: Any, cval: Any, origin: Any, flip: bool, axes: Any
) -> Array:
    x, weights = jnp.asarray(input), as_weights(weights)
    dtype = result_dtype(output, x.dtype, is_complex(x.dtype) or is_complex(weights.dtype))
    axes = some_axes(axes, x.ndim)
    if weights.ndim != len(axes) or not weights.size:
        raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({len(axes)})")
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported")
    checked_mode(mode)
    shape, origins = spread_window(weights.shape, origin, axes, x.ndim)
    if flip:
        weights = weights[(slice(None, None, -1),) * weights.ndim]
        origins = [-each - (size % 2 == 0) for each, size in zip(origins, shape, strict=True)]
    else:
        weights = weights.conj()
    origins = [
        checked_origin(each, size, _ORIGIN_OF_WINDOWS)
        for each, size in zip(origins, shape, strict=True)
    ]
    return neighbours(x, weights, shape, origins, Boundary((mode,) * x.ndim, cval), dtype)


@implements("scipy_dispatch.ndimage:correlate", "input", "weights", "cval", refuse=_refuse)
def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Supports tracing, and differentiation with respect to the array and the weights."""
    return _window(input, weights, output, mode, cval, origin, False, axes)


@implements("scipy_dispatch.ndimage:convolve", "input", "weights", "cval", refuse=_refuse)
def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Supports tracing, and differentiation with respect to the array and the weights."""
    return _window(input, weights, output, mode, cval, origin, True, axes)


@implements("scipy_dispatch.ndimage:gaussian_filter1d", "input", "cval", refuse=_refuse)
def gaussian_filter1d(
    input: Any,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    x = jnp.asarray(input)
    weights = gaussian_weights(sigma, order, truncate, radius)
    dtype = result_dtype(output, x.dtype, is_complex(x.dtype))
    return _line(x, weights, one_axis(axis, x.ndim), dtype, mode, cval)


@implements("scipy_dispatch.ndimage:gaussian_filter", "input", "cval", refuse=_refuse)
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    x = jnp.asarray(input)
    dtype = result_dtype(output, x.dtype)
    return _gaussian(x, sigma, order, dtype, mode, cval, truncate, radius, axes)


def _gaussian(
    x: Array,
    sigma: Any,
    order: Any,
    dtype: np.dtype[Any],
    mode: Any,
    cval: Any,
    truncate: float = 4.0,
    radius: Any = None,
    axes: Any = None,
) -> Array:
    axes = some_axes(axes, x.ndim)
    count = len(axes)
    steps = zip(
        axes,
        for_each(sigma, count),
        for_each(order, count),
        for_each(mode, count),
        for_each(radius, count),
        strict=True,
    )
    for axis, width, derivative, each_mode, reach in steps:
        if width > 1e-15:
            weights = gaussian_weights(width, derivative, truncate, reach)
            x = _line(x, weights, axis, passing_dtype(dtype), each_mode, cval)
    return finished(x, dtype)


@implements("scipy_dispatch.ndimage:uniform_filter1d", "input", "cval", refuse=_refuse_means)
def uniform_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    x = jnp.asarray(input)
    axis, size = one_axis(axis, x.ndim), operator.index(size)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    dtype = result_dtype(output, x.dtype, is_complex(x.dtype))
    return _mean(x, size, axis, dtype, mode, cval, origin)


def _mean(
    x: Array, size: int, axis: int, dtype: np.dtype[Any], mode: str, cval: Any, origin: int
) -> Array:
    checked_mode(mode)
    shape = spread([int(size)], (axis,), x.ndim, 1)
    origins = spread([checked_origin(origin, int(size))], (axis,), x.ndim, 0)
    modes = tuple(spread([mode], (axis,), x.ndim, "nearest"))
    return means(x, shape, origins, Boundary(modes, cval), dtype)


@implements("scipy_dispatch.ndimage:uniform_filter", "input", "cval", refuse=_refuse_means)
def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    x = jnp.asarray(input)
    dtype = result_dtype(output, x.dtype, is_complex(x.dtype))
    axes = some_axes(axes, x.ndim)
    settings = [for_each(each, len(axes)) for each in (size, mode, origin)]
    for axis, width, each_mode, shift in zip(axes, *settings, strict=True):
        if width > 1:
            x = _mean(x, width, axis, passing_dtype(dtype), each_mode, cval, shift)
    return finished(x, dtype)


def _derivative(
    input: Any, axis: int, output: Any, mode: Any, cval: Any, across: list[int]
) -> Array:
    x = jnp.asarray(input)
    axis = one_axis(axis, x.ndim)
    dtype = result_dtype(output, x.dtype, is_complex(x.dtype))
    modes = for_each(mode, x.ndim)
    passing = passing_dtype(dtype)
    x = _line(x, [-1, 0, 1], axis, passing, modes[axis], cval)
    for other in range(x.ndim):
        if other != axis:
            x = _line(x, across, other, passing, modes[other], cval)
    return finished(x, dtype)


@implements("scipy_dispatch.ndimage:prewitt", "input", "cval", refuse=_refuse)
def prewitt(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    return _derivative(input, axis, output, mode, cval, [1, 1, 1])


@implements("scipy_dispatch.ndimage:sobel", "input", "cval", refuse=_refuse)
def sobel(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    return _derivative(input, axis, output, mode, cval, [1, 2, 1])


def _over_axes(
    x: Array,
    dtype: np.dtype[Any],
    mode: Any,
    axes: tuple[int, ...],
    derivative: Callable[[int, str], Array],
    finish: Callable[[Array], Array] = lambda total: total,
) -> Array:
    """Sum a derivative along every axis; return the array itself if there are no axes."""
    modes = for_each(mode, len(axes)) if axes else []
    total = None
    for axis, each_mode in zip(axes, modes, strict=True):
        term = derivative(axis, each_mode)
        total = term if total is None else (total | term if dtype == np.bool_ else total + term)
    return finished(x, dtype) if total is None else finish(total)


@implements("scipy_dispatch.ndimage:laplace", "input", "cval", refuse=_refuse)
def laplace(
    input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    x = jnp.asarray(input)
    dtype = result_dtype(output, x.dtype)
    return _over_axes(
        x,
        dtype,
        mode,
        some_axes(axes, x.ndim),
        lambda axis, each_mode: _line(x, [1, -2, 1], axis, dtype, each_mode, cval),
    )


@implements("scipy_dispatch.ndimage:gaussian_laplace", "input", "cval", refuse=_refuse)
def gaussian_laplace(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    x = jnp.asarray(input)
    dtype = result_dtype(output, x.dtype)
    axes = some_axes(axes, x.ndim)
    sigmas = for_each(sigma, len(axes))
    if len(axes) < x.ndim:
        sigmas = spread(sigmas, axes, x.ndim, 0)

    def derivative(axis: int, each_mode: str) -> Array:
        order = spread([2], (axis,), x.ndim, 0)
        return _gaussian(x, sigmas, order, dtype, each_mode, cval, **kwargs)

    return _over_axes(x, dtype, mode, axes, derivative)


@implements(
    "scipy_dispatch.ndimage:gaussian_gradient_magnitude",
    *("input", "cval"),
    refuse=_refuse_magnitudes,
)
def gaussian_gradient_magnitude(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Array:
    """Supports tracing, and differentiation for the array, with derivative 0 at zero gradients."""
    x = jnp.asarray(input)
    dtype = result_dtype(output, x.dtype)

    def square(axis: int, each_mode: str) -> Array:
        order = spread([1], (axis,), x.ndim, 0)
        slope = _gaussian(x, sigma, order, dtype, each_mode, cval, **kwargs)
        return slope & slope if dtype == np.bool_ else slope * slope

    return _over_axes(x, dtype, mode, some_axes(axes, x.ndim), square, _square_root)


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
