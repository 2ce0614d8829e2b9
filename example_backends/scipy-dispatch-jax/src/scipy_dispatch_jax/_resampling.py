"""Other sampling rates: functions of `scipy_dispatch.signal` that change the length of signals."""

from __future__ import annotations

import operator
from functools import partial
from math import gcd

import numpy as np
from scipy import signal as scipy_signal

from ._arrays import as_inexact, dtype_of, is_complex, is_integer, is_jax, promoted, times_line
from ._axes import one_axis
from ._implement import Call, implements
from ._jax import Array, jax, jnp, lax
from ._recursive import sosfilt, sosfiltfilt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The most elements of all frames of a signal that are multiplied at once.
_FRAMED = 2**23
_BACKGROUNDS = {"mean": jnp.mean, "median": jnp.median, "minimum": jnp.min, "maximum": jnp.max}


def _why_not_x(call: Call) -> str | None:
    if 0 in jnp.shape(call.x):
        return "x= has no elements"
    dtype = dtype_of(call.x)
    is_half = dtype.kind == "V" or dtype == np.float16
    return f"x= is of {dtype}; pass x.astype('float32')" if is_half else None


def _refuse_upfirdn(call: Call) -> str | None:
    if call.mode != "constant" or is_jax(call.cval) or call.cval != 0:
        return f"mode={call.mode!r} or cval={call.cval!r}: JAX extends signals by zeros"
    return _why_not_x(call)


def _stepped(h: Array, x: Array, up: int, down: int, axis: int) -> Array:
    """Return every `down`-th sum of a filter over a signal with zeros between its elements."""
    dtype = promoted(h.dtype, x.dtype, np.float32)
    x = jnp.moveaxis(x.astype(dtype), axis, -1)
    return jnp.moveaxis(_by_frames(h.astype(dtype), x, up, down), -1, axis)


@partial(jax.jit, static_argnames=("up", "down"))
def _by_frames(h: Array, x: Array, up: int, down: int) -> Array:
    """Multiply frames of the signal with a table of the filter.

    The zeros between elements are left out. A frame has the elements for several results, whose
    weights repeat from frame to frame.
    """
    common, taps = gcd(up, down), -(-h.size // up)
    step, phases = down // common, np.arange(up // common) * down
    first, phase = phases // up, phases % up
    width = taps + int(first[-1])
    index = phase + (first + taps - 1 - np.arange(width)[:, None]) * up
    table = jnp.append(h, jnp.zeros(1, h.dtype))
    table = table[np.where((index >= 0) & (index < h.size), index, h.size)]
    count = ((x.shape[-1] - 1) * up + h.size - 1) // down + 1
    frames = -(-count // phases.size)
    together = min(frames, max(1, _FRAMED * x.shape[-1] // (width * x.size)))
    rounds = -(-frames // together)
    missing = max(0, (rounds * together - 1) * step + width - taps + 1 - x.shape[-1])
    x = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(taps - 1, missing)])

    def products(start: Any) -> Array:
        places = (start + jnp.arange(together)[:, None]) * step + jnp.arange(width)[None]
        return jnp.matmul(x[..., places], table, precision=lax.Precision.HIGHEST)

    if rounds == 1:
        y = products(0)
    else:
        y = jnp.moveaxis(lax.map(products, together * jnp.arange(rounds)), 0, -3)
    return y.reshape(*x.shape[:-1], -1)[..., :count]


def _rates(up: Any, down: Any) -> tuple[int, int]:
    if up != int(up) or down != int(down) or up < 1 or down < 1:
        raise ValueError("up and down must be integers >= 1")
    return int(up), int(down)


@implements("signal", "h x", _refuse_upfirdn)
def upfirdn(call: Call) -> Array:
    """Differentiable for the filter, too."""
    h, x = jnp.asarray(call.h), jnp.asarray(call.x)
    if h.ndim != 1 or not h.size:
        raise ValueError("h must be 1-D with non-zero length")
    return _stepped(h, x, *_rates(call.up, call.down), one_axis(call.axis, x.ndim))


def _refuse_poly(call: Call) -> str | None:
    if call.padtype not in ("constant", *_BACKGROUNDS):
        return f"padtype={call.padtype!r}: JAX extends signals by a constant"
    if call.padtype == "constant" and call.cval:
        return f"cval={call.cval!r}: JAX extends signals by zeros"
    if not isinstance(call.window, (str, tuple)) and dtype_of(call.window).kind not in "fc":
        return "window= is no line of real or complex numbers"
    return _why_not_x(call)


@implements("signal", "x window", _refuse_poly)
def resample_poly(call: Call) -> Array:
    x, window = jnp.asarray(call.x), call.window
    up, down = _rates(call.up, call.down)
    if call.cval is not None and call.padtype != "constant":
        raise ValueError("cval has no effect when padtype is ", call.padtype)
    up, down = up // gcd(up, down), down // gcd(up, down)
    if up == down == 1:
        return x
    axis = one_axis(call.axis, x.ndim)
    if isinstance(window, (str, tuple)):
        half = 10 * max(up, down)
        h: Any = scipy_signal.firwin(2 * half + 1, 1.0 / max(up, down), window=window)
        h = h.astype(x.dtype) if np.dtype(x.dtype).kind in "fc" else h
    else:
        h, half = window, (window.shape[0] - 1) // 2
        if h.ndim != 1:
            raise ValueError("window must be 1-D")
    h = jnp.pad(jnp.asarray(h) * up, (down - half % down, 0))
    first, count = (half + down - half % down) // down, -(-x.shape[axis] * up // down)
    # The result is to be long enough for the elements that are kept.
    missing = (first + count - 1) * down + 1 - ((x.shape[axis] - 1) * up + h.size)
    h = jnp.pad(h, (0, max(missing, 0)))
    background = None
    if call.padtype != "constant":
        background = _BACKGROUNDS[call.padtype](x, axis=axis, keepdims=True)
        x = x - background
    y = lax.slice_in_dim(_stepped(h, x, up, down, axis), first, first + count, axis=axis)
    return y if background is None else y + background.astype(y.dtype)


def _refuse_decimate(call: Call) -> str | None:
    if not isinstance(call.ftype, str):
        return "ftype= is a system, not a name"
    if call.zero_phase and call.ftype == "iir" and is_integer(dtype_of(call.x)):
        return "x= is of integers, whose differences at the ends SciPy lets overflow; pass floats"
    return _why_not_x(call)


@implements("signal", "x", _refuse_decimate)
def decimate(call: Call) -> Array:
    x, q = as_inexact(call.x), operator.index(call.q)
    order = None if call.n is None else operator.index(call.n)
    axis = one_axis(call.axis, x.ndim)
    if call.ftype == "fir":
        order = 20 * q if order is None else order
        b = jnp.asarray(scipy_signal.firwin(order + 1, 1.0 / q, window="hamming"), x.dtype)
        if call.zero_phase:
            return resample_poly(x, 1, q, axis=axis, window=b)
        y, step = _stepped(b, x, 1, q, axis), 1
        count = -(-x.shape[axis] // q)
    elif call.ftype == "iir":
        sos = scipy_signal.cheby1(8 if order is None else order, 0.05, 0.8 / q, output="sos")
        real = jnp.finfo(x.dtype).dtype
        y = (sosfiltfilt if call.zero_phase else sosfilt)(sos.astype(real), x, axis=axis)
        count, step = x.shape[axis], q
    else:
        raise ValueError("invalid ftype")
    return lax.slice_in_dim(y, 0, count, step, axis)


def _refuse_resample(call: Call) -> str | None:
    if call.t is not None and jnp.size(call.t) < 2:
        return "t= has fewer than two elements"
    return _why_not_x(call)


@implements("signal", "x t window", _refuse_resample)
def resample(call: Call) -> Any:
    if call.domain not in ("time", "freq"):
        raise ValueError(f"Parameter domain={call.domain!r} not in ('time', 'freq')!")
    x, num = as_inexact(call.x), operator.index(call.num)
    axis = one_axis(call.axis, x.ndim)
    x = jnp.moveaxis(x, axis, -1)
    length = x.shape[-1]
    few = min(num, length)
    window = _window_of(call, length)
    is_real = call.domain == "time" and not is_complex(x.dtype)
    spectrum = (jnp.fft.rfft(x) if is_real else jnp.fft.fft(x)) if call.domain == "time" else x
    if window is not None:
        if is_real:
            window = (window + jnp.roll(jnp.flip(window), 1)) / 2
        line = window[: spectrum.shape[-1]].astype(jnp.finfo(spectrum.dtype).dtype)
        spectrum = times_line(spectrum, line)
    kept = spectrum[..., : few // 2 + 1]
    if is_real:
        if few % 2 == 0 and num != length:
            kept = kept.at[..., few // 2].multiply(2.0 if num < length else 0.5)
        result = jnp.fft.irfft(kept, num)
    else:
        whole = jnp.zeros((*x.shape[:-1], num), spectrum.dtype)
        whole = whole.at[..., : few // 2 + 1].set(kept)
        if few > 2:
            negative = few // 2 + 1 - few
            whole = whole.at[..., negative:].set(spectrum[..., negative:])
        if few % 2 == 0 and num < length:
            whole = whole.at[..., -few // 2].add(spectrum[..., -few // 2])
        elif few % 2 == 0 and num > length:
            middle = whole[..., few // 2] / 2
            whole = whole.at[..., few // 2].set(middle).at[..., num - few // 2].set(middle)
        result = jnp.fft.ifft(whole)
    result = jnp.moveaxis(result * (num / length), -1, axis)
    if call.t is None:
        return result
    t = as_inexact(call.t)
    steps = jnp.arange(num).astype(t.dtype)
    return result, t[0] + (t[1] - t[0]) * (length / num) * steps


def _window_of(call: Call, length: int) -> Any:
    """Return the weights of frequencies as an array, or None."""
    window = call.window
    if window is None:
        return None
    if callable(window):
        return jnp.asarray(window(np.fft.fftfreq(length)))
    if isinstance(window, (str, tuple)):
        return jnp.asarray(np.fft.fftshift(scipy_signal.get_window(window, length)))
    if window.shape != (length,):
        raise ValueError(f"window.shape={window.shape} != ({length},)")
    return jnp.asarray(window)
