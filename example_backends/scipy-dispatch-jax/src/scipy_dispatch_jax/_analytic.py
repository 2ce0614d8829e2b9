"""Analytic signals of `scipy_dispatch.signal`, whose negative frequencies are zero."""

from __future__ import annotations

import numpy as np

from ._arrays import as_inexact, dtype_of, is_complex, promoted, times_line
from ._axes import one_axis
from ._implement import Call, implements
from ._jax import Array, jnp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _refuse(call: Call) -> str | None:
    dtype = dtype_of(call.x)
    if 0 in jnp.shape(call.x) or not jnp.shape(call.x):
        return "x= has no elements, or no axis"
    if is_complex(dtype) or dtype == np.float16:
        return f"x= is of {dtype}, and SciPy takes real numbers of single or double precision"
    return None


def _positive(x: Array, axis: int, length: Any, middle: float) -> Array:
    """Double the positive frequencies along an axis, and remove the negative ones."""
    length = x.shape[axis] if length is None else length
    if length <= 0:
        raise ValueError("N must be positive.")
    factors = np.zeros(length)
    factors[0], factors[1 : (length + 1) // 2] = 1, 2
    if length % 2 == 0:
        factors[length // 2] = middle
    spectrum = jnp.fft.fft(jnp.moveaxis(x, axis, -1), length)
    real = jnp.asarray(factors, jnp.finfo(spectrum.dtype).dtype)
    return jnp.moveaxis(jnp.fft.ifft(times_line(spectrum, real)), -1, axis)


def _complex(x: Any) -> Array:
    x = as_inexact(x)
    return x.astype(promoted(x.dtype, np.complex64))


@implements("signal", "x", _refuse)
def hilbert(call: Call) -> Array:
    x = _complex(call.x)
    return _positive(x, one_axis(call.axis, x.ndim), call.N, 1)


@implements("signal", "x", _refuse)
def hilbert2(call: Call) -> Array:
    x = _complex(call.x)
    x = x[None] if x.ndim < 2 else x
    axes = [one_axis(axis, x.ndim) for axis in call.axes or (-2, -1)]
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError("axes must contain 2 distinct axes")
    lengths = call.N if isinstance(call.N, (tuple, list)) else (call.N, call.N)
    for axis, length in zip(axes, lengths, strict=True):
        x = _positive(x, axis, length, 0)
    return x
