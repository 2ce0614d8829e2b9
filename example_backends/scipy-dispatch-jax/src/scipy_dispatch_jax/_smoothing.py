"""Filters of `scipy_dispatch.signal` that smooth: by polynomials, ranks and local variances."""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy as np
from scipy import signal as scipy_signal

from ._arrays import default_float, promoted
from ._axes import for_each, one_axis
from ._convolution import convolved
from ._filters import line
from ._implement import Call, implements, require, warn_caller
from ._jax import Array, jnp
from ._order import in_windows
from ._trend import as_single_or_double


@implements("signal", "x:bifh cval")
def savgol_filter(call: Call) -> Array:
    mode, is_fitted = call.mode, call.mode == "interp"
    require(mode in ("mirror", "constant", "nearest", "interp", "wrap"))
    x, length = as_single_or_double(call.x), operator.index(call.window_length)
    axis, dtype = one_axis(call.axis, x.ndim), np.dtype(x.dtype)
    settings: dict[str, Any] = {"deriv": call.deriv, "delta": call.delta}
    weights = scipy_signal.savgol_coeffs(length, call.polyorder, **settings)
    mode, cval = ("constant", 0.0) if is_fitted else (mode, call.cval)
    y = line(x, weights, axis, dtype, mode, cval, mirrored=True)
    if not is_fitted:
        return y
    require(length <= x.shape[axis])
    # At the ends, the values of the polynomial that fits the whole of the last window.
    half, x, y = length // 2, jnp.moveaxis(x, axis, -1), jnp.moveaxis(y, axis, -1)
    settings["use"] = "dot"

    def fitted(window: Array, places: range) -> Array:
        rows = [
            scipy_signal.savgol_coeffs(length, call.polyorder, pos=place, **settings)
            for place in places
        ]
        return jnp.matmul(window, jnp.asarray(np.transpose(rows), dtype))

    first = fitted(x[..., :length], range(half))
    last = fitted(x[..., -length:], range(length - half, length))
    y = jnp.concatenate([first, y[..., half : y.shape[-1] - half], last], -1)
    return jnp.moveaxis(y, -1, axis)


def _ranked(x: Array, rank: int, size: Any, footprint: Any) -> Array:
    settings: dict[str, Any] = {"output": None, "mode": "constant", "cval": 0, "origin": 0}
    call = Call(input=x, size=size, footprint=footprint, axes=None, **settings)
    return in_windows(call, lambda count: rank)


def _median(x: Array, size: Any) -> Array:
    x = jnp.atleast_1d(x)
    sizes = [int(each) for each in for_each(3 if size is None else size, x.ndim)]
    require(all(each % 2 for each in sizes))
    if any(each > length for each, length in zip(sizes, x.shape, strict=True)):
        warn_caller("kernel_size exceeds volume extent: the volume will be zero-padded.")
    return _ranked(x, prod(sizes) // 2, sizes, None)


@implements("signal", "volume:if")
def medfilt(call: Call) -> Array:
    return _median(call.volume, call.kernel_size)


@implements("signal", "input:if")
def medfilt2d(call: Call) -> Array:
    require(call.input.ndim == 2)
    return _median(call.input, call.kernel_size)


@implements("signal", "a:if")
def order_filter(call: Call) -> Array:
    domain = np.asarray(call.domain)
    require(all(length % 2 for length in domain.shape))
    return _ranked(call.a, operator.index(call.rank), None, domain)


def _refuse_numbers(call: Call) -> str | None:
    return None if jnp.ndim(call.im) else "im= has no axis"


@implements("signal", "im:f noise:bif", _refuse_numbers)
def wiener(call: Call) -> Array:
    """Differentiable for the noise, too."""
    x = call.im.astype(promoted(call.im.dtype, default_float()))
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
