"""Linear filters of `scipy_dispatch.ndimage`."""

from __future__ import annotations

import operator

import numpy as np

from ._arrays import dtype_of, has_64_bits, is_complex, is_complex_number, is_integer, is_jax
from ._axes import checked_origin, for_each, one_axis, some_axes, spread, spread_window
from ._boundary import checked_mode
from ._gaussian import gaussian_weights
from ._implement import Call, implements
from ._jax import Array, jnp
from ._linear import Boundary, as_weights, means, neighbours
from ._output import finished, passing_dtype, result_dtype, why_not_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ORIGIN = "Invalid origin; the window must contain its shifted centre"


def _refuse(call: Call) -> str | None:
    """Reject complex arguments for real results, some of which SciPy supports."""
    dtype, weights = dtype_of(call.input), as_weights(getattr(call, "weights", 0))
    if not is_complex(dtype) and is_complex_number(call.cval):
        return "cval= is complex, and the array is not"
    is_narrow = is_integer(dtype) and not has_64_bits()
    if is_narrow and not is_jax(call.cval) and abs(complex(call.cval)) >= 2**31:
        return "cval= has more than 32 bits; set jax_enable_x64"
    return why_not_output(call.output, is_complex(dtype) or is_complex(weights.dtype))


def _refuse_magnitudes(call: Call) -> str | None:
    dtype = result_dtype(call.output, dtype_of(call.input))
    if not has_64_bits() and dtype in (np.uint16, np.uint32):
        # Negative derivatives wrap around before they are smoothed and squared.
        return f"squares of {dtype} wrap round otherwise; set jax_enable_x64"
    return _refuse(call)


def _refuse_means(call: Call) -> str | None:
    dtype = dtype_of(call.input)
    if not has_64_bits() and is_integer(dtype):
        # The sum of the remainders must fit into 32 bits.
        if (largest := np.max(call.size)) > 46340:
            return f"size={largest} of integers; set jax_enable_x64"
        if dtype == np.uint32 and not is_jax(call.cval) and call.cval < 0:
            return "cval= is less than zero, and the array unsigned; set jax_enable_x64"
    return _refuse(call)


def along(
    work: Callable[[tuple[int, ...], list[int], Boundary], Array],
    x: Array,
    size: int,
    axis: int,
    mode: str,
    cval: Any,
    origin: int,
) -> Array:
    """Return what `work` does with a window along one axis: its shape, origins and boundary."""
    modes = tuple(spread([checked_mode(mode)], (axis,), x.ndim, "nearest"))
    origins = spread([checked_origin(origin, size)], (axis,), x.ndim, 0)
    return work(tuple(spread([size], (axis,), x.ndim, 1)), origins, Boundary(modes, cval))


def _line(
    x: Array, weights: Any, axis: int, dtype: np.dtype[Any], mode: str, cval: Any, origin: int = 0
) -> Array:
    """Correlate along one axis, with the weights in the order for a correlation."""
    weights = as_weights(weights)
    return along(
        lambda shape, origins, boundary: neighbours(
            x, weights, shape, origins, boundary, dtype, is_line=True
        ),
        *(x, weights.shape[0], axis, mode, cval, origin),
    )


def convolved_line(
    x: Array, weights: Any, axis: int, dtype: np.dtype[Any], mode: str, cval: Any, origin: int = 0
) -> Array:
    """Convolve along one axis."""
    origin = -origin - (weights.shape[0] % 2 == 0)
    return _line(x, weights[::-1], axis, dtype, mode, cval, origin)


def _array(call: Call, weights: Any = None) -> tuple[Array, np.dtype[Any]]:
    """Return the array of a call, and the data type of its result."""
    x = jnp.asarray(call.input)
    is_complex_anyway = weights is not None and is_complex(weights.dtype)
    return x, result_dtype(call.output, x.dtype, is_complex_anyway)


def _one_line(call: Call, work: Callable[..., Array]) -> Array:
    weights = as_weights(call.weights)
    if weights.ndim != 1 or weights.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    x, dtype = _array(call, weights)
    axis = one_axis(call.axis, x.ndim)
    return work(x, weights, axis, dtype, call.mode, call.cval, call.origin)


@implements("ndimage", "input weights cval", _refuse)
def correlate1d(call: Call) -> Array:
    """Differentiable for the weights, too."""
    return _one_line(call, lambda x, weights, *others: _line(x, weights.conj(), *others))


@implements("ndimage", "input weights cval", _refuse)
def convolve1d(call: Call) -> Array:
    """Differentiable for the weights, too."""
    return _one_line(call, convolved_line)


def _window(call: Call, flip: bool) -> Array:
    weights = as_weights(call.weights)
    x, dtype = _array(call, weights)
    axes = some_axes(call.axes, x.ndim)
    if weights.ndim != len(axes) or not weights.size:
        raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({len(axes)})")
    modes = (checked_mode(call.mode),) * x.ndim
    shape, origins = spread_window(weights.shape, call.origin, axes, x.ndim)
    if flip:
        weights = weights[(slice(None, None, -1),) * weights.ndim]
        origins = [-each - (size % 2 == 0) for each, size in zip(origins, shape, strict=True)]
    else:
        weights = weights.conj()
    origins = [checked_origin(*each, _ORIGIN) for each in zip(origins, shape, strict=True)]
    return neighbours(x, weights, shape, origins, Boundary(modes, call.cval), dtype)


@implements("ndimage", "input weights cval", _refuse)
def correlate(call: Call) -> Array:
    """Differentiable for the weights, too."""
    return _window(call, flip=False)


@implements("ndimage", "input weights cval", _refuse)
def convolve(call: Call) -> Array:
    """Differentiable for the weights, too."""
    return _window(call, flip=True)


@implements("ndimage", "input cval", _refuse)
def gaussian_filter1d(call: Call) -> Array:
    x, dtype = _array(call)
    weights = gaussian_weights(call.sigma, call.order, call.truncate, call.radius)
    return _line(x, weights, one_axis(call.axis, x.ndim), dtype, call.mode, call.cval)


@implements("ndimage", "input cval", _refuse)
def gaussian_filter(call: Call) -> Array:
    x, dtype = _array(call)
    settings = {name: getattr(call, name) for name in ("truncate", "radius", "axes")}
    return _gaussian(x, call.sigma, call.order, dtype, call.mode, call.cval, **settings)


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
    settings = (for_each(each, len(axes)) for each in (sigma, order, mode, radius))
    for axis, width, derivative, each_mode, reach in zip(axes, *settings, strict=True):
        if width > 1e-15:
            weights = gaussian_weights(width, derivative, truncate, reach)
            x = _line(x, weights, axis, passing_dtype(dtype), each_mode, cval)
    return finished(x, dtype)


def _mean(x: Array, size: int, axis: int, dtype: Any, mode: str, cval: Any, origin: int) -> Array:
    return along(
        lambda shape, origins, boundary: means(x, shape, origins, boundary, dtype),
        x,
        int(size),
        axis,
        mode,
        cval,
        origin,
    )


@implements("ndimage", "input cval", _refuse_means)
def uniform_filter1d(call: Call) -> Array:
    x, dtype = _array(call)
    size = operator.index(call.size)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    return _mean(x, size, one_axis(call.axis, x.ndim), dtype, call.mode, call.cval, call.origin)


@implements("ndimage", "input cval", _refuse_means)
def uniform_filter(call: Call) -> Array:
    x, dtype = _array(call)
    axes = some_axes(call.axes, x.ndim)
    settings = [for_each(each, len(axes)) for each in (call.size, call.mode, call.origin)]
    for axis, size, mode, origin in zip(axes, *settings, strict=True):
        if size > 1:
            x = _mean(x, size, axis, passing_dtype(dtype), mode, call.cval, origin)
    return finished(x, dtype)


def _derivative(call: Call, across: list[int]) -> Array:
    x, dtype = _array(call)
    axis = one_axis(call.axis, x.ndim)
    modes, passing = for_each(call.mode, x.ndim), passing_dtype(dtype)
    x = _line(x, [-1, 0, 1], axis, passing, modes[axis], call.cval)
    for other in range(x.ndim):
        if other != axis:
            x = _line(x, across, other, passing, modes[other], call.cval)
    return finished(x, dtype)


@implements("ndimage", "input cval", _refuse)
def prewitt(call: Call) -> Array:
    return _derivative(call, [1, 1, 1])


@implements("ndimage", "input cval", _refuse)
def sobel(call: Call) -> Array:
    return _derivative(call, [1, 2, 1])


def _over_axes(
    call: Call,
    derivative: Callable[[Array, int, Any, str], Array],
    finish: Callable[[Array], Array] = lambda total: total,
) -> Array:
    """Sum a derivative along every axis; return the array itself if there are no axes."""
    x, dtype = _array(call)
    axes = some_axes(call.axes, x.ndim)
    total = None
    for axis, mode in zip(axes, for_each(call.mode, len(axes)) if axes else [], strict=True):
        term = derivative(x, axis, dtype, mode)
        total = term if total is None else (total | term if dtype == np.bool_ else total + term)
    return finished(x, dtype) if total is None else finish(total)


@implements("ndimage", "input cval", _refuse)
def laplace(call: Call) -> Array:
    return _over_axes(
        call, lambda x, axis, dtype, mode: _line(x, [1, -2, 1], axis, dtype, mode, call.cval)
    )


@implements("ndimage", "input cval", _refuse)
def gaussian_laplace(call: Call) -> Array:
    ndim = np.ndim(call.input)
    axes = some_axes(call.axes, ndim)
    sigma = for_each(call.sigma, len(axes))
    sigma = spread(sigma, axes, ndim, 0) if len(axes) < ndim else sigma

    def derivative(x: Array, axis: int, dtype: Any, mode: str) -> Array:
        order = spread([2], (axis,), ndim, 0)
        return _gaussian(x, sigma, order, dtype, mode, call.cval, **call.kwargs)

    return _over_axes(call, derivative)


@implements("ndimage", "input cval", _refuse_magnitudes)
def gaussian_gradient_magnitude(call: Call) -> Array:
    """The derivative is 0 where the gradient is."""

    def square(x: Array, axis: int, dtype: Any, mode: str) -> Array:
        order = spread([1], (axis,), x.ndim, 0)
        slope = _gaussian(x, call.sigma, order, dtype, mode, call.cval, **call.kwargs)
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
