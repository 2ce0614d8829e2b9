"""Filters of `scipy_dispatch.signal` that smooth: by polynomials, ranks and local variances."""

from __future__ import annotations

import operator
from math import prod

import numpy as np
from scipy import signal as scipy_signal

from ._arrays import default_float, dtype_of, is_complex, is_floating, promoted
from ._axes import for_each, one_axis
from ._convolution import convolved
from ._filters import convolved_line
from ._implement import Call, implements
from ._jax import Array, jnp
from ._order import in_windows
from ._trend import as_single_or_double
from ._warning import warn_caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _refuse_lines(call: Call) -> str | None:
    if 0 in jnp.shape(call.x):
        return "x= has no elements"
    return "x= is complex" if is_complex(dtype_of(call.x)) else None


@implements("signal", "x cval", _refuse_lines)
def savgol_filter(call: Call) -> Array:
    if call.mode not in ("mirror", "constant", "nearest", "interp", "wrap"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest', 'wrap' or 'interp'.")
    x, length = as_single_or_double(call.x), operator.index(call.window_length)
    axis = one_axis(call.axis, x.ndim)
    settings = {"deriv": call.deriv, "delta": call.delta}
    weights = scipy_signal.savgol_coeffs(length, call.polyorder, **settings)
    mode = "constant" if call.mode == "interp" else call.mode
    cval = 0.0 if call.mode == "interp" else call.cval
    y = convolved_line(x, weights, axis, np.dtype(x.dtype), mode, cval)
    if call.mode != "interp":
        return y
    if length > x.shape[axis]:
        raise ValueError("window_length must be less than or equal to the size of x.")
    # At the ends, the values of the polynomial that fits the whole of the last window.
    half, count = length // 2, x.shape[axis]
    fits = np.polyfit(np.arange(length), np.eye(length), call.polyorder)
    for power in range(call.deriv):
        fits = fits[:-1] * np.arange(call.polyorder - power, 0, -1)[:, None]
    parts = []
    for window, places in (
        (slice(length), np.arange(half)),
        (slice(count - length, count), np.arange(length - half, length)),
    ):
        values = np.vander(places, len(fits)) @ fits / call.delta**call.deriv
        ends = jnp.moveaxis(x, axis, -1)[..., window]
        parts.append(ends @ jnp.asarray(values.T, x.dtype))
    middle = jnp.moveaxis(y, axis, -1)[..., half : count - half]
    return jnp.moveaxis(jnp.concatenate([parts[0], middle, parts[1]], -1), -1, axis)


def _refuse_ranks(name: str) -> Any:
    def refuse(call: Call) -> str | None:
        dtype = dtype_of(getattr(call, name))
        if dtype.kind not in "iuf" or dtype == np.float16:
            return f"{name}= is of {dtype}, which SciPy refuses or computes by release"
        return None

    return refuse


def _ranked(x: Any, rank: int, size: Any, footprint: Any) -> Array:
    settings: dict[str, Any] = {"output": None, "mode": "constant", "cval": 0, "origin": 0}
    call = Call(input=x, size=size, footprint=footprint, axes=None, **settings)
    return in_windows(call, lambda count: rank)


def _median(x: Any, size: Any) -> Array:
    x = jnp.asarray(x)
    x = x.reshape(1) if x.ndim == 0 else x
    sizes = [int(each) for each in for_each(3 if size is None else size, x.ndim)]
    if any(each % 2 != 1 for each in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    if any(each > length for each, length in zip(sizes, x.shape, strict=True)):
        warn_caller("kernel_size exceeds volume extent: the volume will be zero-padded.")
    return _ranked(x, prod(sizes) // 2, sizes, None)


@implements("signal", "volume", _refuse_ranks("volume"))
def medfilt(call: Call) -> Array:
    return _median(call.volume, call.kernel_size)


@implements("signal", "input", _refuse_ranks("input"))
def medfilt2d(call: Call) -> Array:
    if np.ndim(call.input) != 2:
        raise ValueError("object of too small depth for desired array")
    return _median(call.input, call.kernel_size)


@implements("signal", "a", _refuse_ranks("a"))
def order_filter(call: Call) -> Array:
    domain = np.asarray(call.domain)
    if any(length % 2 != 1 for length in domain.shape):
        raise ValueError("Each dimension of domain argument should have an odd length.")
    return _ranked(call.a, operator.index(call.rank), None, domain)


def _refuse_noise(call: Call) -> str | None:
    dtype = dtype_of(call.im)
    if not is_floating(dtype) or dtype.itemsize < 4:
        return f"im= is of {dtype}; pass im.astype('float32')"
    return "im= has no elements" if 0 in jnp.shape(call.im) or not jnp.shape(call.im) else None


@implements("signal", "im noise", _refuse_noise)
def wiener(call: Call) -> Array:
    """Differentiable for the noise, too."""
    x = jnp.asarray(call.im)
    x = x.astype(promoted(x.dtype, default_float()))
    sizes = for_each(3 if call.mysize is None else call.mysize, x.ndim)
    ones = jnp.ones(sizes, x.dtype)

    def local(x: Array) -> Array:
        return convolved(x, ones, "same", "auto") / prod(sizes)

    mean = local(x)
    variance = local(x**2) - mean**2
    noise = variance.mean() if call.noise is None else call.noise
    noise = jnp.asarray(noise).astype(x.dtype)
    is_flat = variance < noise
    share = 1 - noise / jnp.where(is_flat, jnp.ones_like(x), variance)
    return jnp.where(is_flat, mean, (x - mean) * share + mean)
