"""Analytic signals of `scipy_dispatch.signal`, whose negative frequencies are zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import as_inexact, promoted, times_line
from ._axes import one_axis, some_axes
from ._implement import Call, implements, require
from ._jax import Array, jnp


def _positive(x: Array, axis: int, length: Any, middle: float) -> Array:
    """Double the positive frequencies along an axis, and remove the negative ones."""
    length = x.shape[axis] if length is None else length
    require(length > 0)
    factors = np.zeros(length)
    factors[0], factors[1 : (length + 1) // 2] = 1, 2
    if length % 2 == 0:
        factors[length // 2] = middle
    spectrum = jnp.fft.fft(jnp.moveaxis(x, axis, -1), length)
    real = jnp.asarray(factors, jnp.finfo(spectrum.dtype).dtype)
    return jnp.moveaxis(jnp.fft.ifft(times_line(spectrum, real)), -1, axis)


def _complex(x: Array) -> Array:
    x = as_inexact(x)
    return x.astype(promoted(x.dtype, np.complex64))


@implements("signal", "x:bif")
def hilbert(call: Call) -> Array:
    x = _complex(call.x)
    return _positive(x, one_axis(call.axis, x.ndim), call.N, 1)


@implements("signal", "x:bif")
def hilbert2(call: Call) -> Array:
    x = jnp.atleast_2d(_complex(call.x))
    axes = some_axes(call.axes or (-2, -1), x.ndim)
    require(len(axes) == 2)
    lengths = call.N if isinstance(call.N, (tuple, list)) else (call.N, call.N)
    for axis, length in zip(axes, lengths, strict=True):
        x = _positive(x, axis, length, 0)
    return x
