"""Other sampling rates: functions of `scipy_dispatch.signal` that change the length of signals."""

from __future__ import annotations

import operator
from functools import partial
from math import gcd
from typing import Any

import numpy as np
from scipy import signal as scipy_signal

from ._arrays import as_inexact, dtype_of, is_complex, is_integer, is_jax, promoted, times_line
from ._axes import one_axis
from ._implement import Call, implements, require
from ._jax import Array, jax, jnp, lax
from ._recursive import sosfilt, sosfiltfilt

# The most elements of all frames of a signal that are multiplied at once.
_FRAMED = 2**23
_BACKGROUNDS = {"mean": jnp.mean, "median": jnp.median, "minimum": jnp.min, "maximum": jnp.max}


def _refuse_upfirdn(call: Call) -> str | None:
    if call.mode != "constant" or is_jax(call.cval) or call.cval != 0:
        return f"mode={call.mode!r} or cval={call.cval!r}: JAX extends signals by zeros"
    return None


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


def _rates(call: Call) -> tuple[int, int]:
    up, down = call.up, call.down
    require(up == int(up) and down == int(down) and up > 0 and down > 0)
    return int(up), int(down)


@implements("signal", "x:bifc h:bifc", _refuse_upfirdn)
def upfirdn(call: Call) -> Array:
    """Differentiable for the filter, too."""
    h = jnp.asarray(call.h)
    require(h.ndim == 1 and h.size)
    return _stepped(h, call.x, *_rates(call), one_axis(call.axis, call.x.ndim))


def _refuse_poly(call: Call) -> str | None:
    if call.padtype not in ("constant", *_BACKGROUNDS):
        return f"padtype={call.padtype!r}: JAX extends signals by a constant"
    if call.padtype == "constant" and call.cval:
        return f"cval={call.cval!r}: JAX extends signals by zeros"
    return None


@implements("signal", "x:bifc window:fc", _refuse_poly)
def resample_poly(call: Call) -> Array:
    require(call.cval is None or call.padtype == "constant")
    background = None
    if call.padtype != "constant":
        background = _BACKGROUNDS[call.padtype](call.x, axis=call.axis, keepdims=True)
        call = call.but(x=call.x - background)
    y = _polyphase(call.x, *_rates(call), one_axis(call.axis, call.x.ndim), call.window)
    return y if background is None else y + background.astype(y.dtype)


def _polyphase(x: Array, up: int, down: int, axis: int, window: Any) -> Array:
    up, down = up // gcd(up, down), down // gcd(up, down)
    if up == down == 1:
        return x
    if isinstance(window, (str, tuple)):
        half = 10 * max(up, down)
        h: Any = scipy_signal.firwin(2 * half + 1, 1.0 / max(up, down), window=window)
        h = h.astype(x.dtype) if np.dtype(x.dtype).kind in "fc" else h
    else:
        require(window.ndim == 1)
        h, half = window, (window.shape[0] - 1) // 2
    h = jnp.pad(jnp.asarray(h) * up, (down - half % down, 0))
    first, count = (half + down - half % down) // down, -(-x.shape[axis] * up // down)
    # The result is to be long enough for the elements that are kept.
    missing = (first + count - 1) * down + 1 - ((x.shape[axis] - 1) * up + h.size)
    h = jnp.pad(h, (0, max(missing, 0)))
    return lax.slice_in_dim(_stepped(h, x, up, down, axis), first, first + count, axis=axis)


def _refuse_decimate(call: Call) -> str | None:
    if not isinstance(call.ftype, str):
        return "ftype= is a system, not a name"
    if call.zero_phase and call.ftype == "iir" and is_integer(dtype_of(call.x)):
        return "x= is of integers, whose differences at the ends SciPy lets overflow; pass floats"
    return None


@implements("signal", "x:bifc", _refuse_decimate)
def decimate(call: Call) -> Array:
    x, q = as_inexact(call.x), operator.index(call.q)
    order = None if call.n is None else operator.index(call.n)
    axis = one_axis(call.axis, x.ndim)
    require(call.ftype in ("fir", "iir"))
    if call.ftype == "fir":
        order = 20 * q if order is None else order
        b = jnp.asarray(scipy_signal.firwin(order + 1, 1.0 / q, window="hamming"), x.dtype)
        if call.zero_phase:
            return _polyphase(x, 1, q, axis, b)
        y = _stepped(b, x, 1, q, axis)
        return lax.slice_in_dim(y, 0, -(-x.shape[axis] // q), axis=axis)
    sos = scipy_signal.cheby1(8 if order is None else order, 0.05, 0.8 / q, output="sos")
    sos = sos.astype(jnp.finfo(x.dtype).dtype)
    y = (sosfiltfilt if call.zero_phase else sosfilt)(sos, x, axis=axis)
    return lax.slice_in_dim(y, 0, x.shape[axis], q, axis)


def _refuse_resample(call: Call) -> str | None:
    if call.domain == "freq" or callable(call.window):
        return "domain='freq' and functions as window= are left to SciPy"
    return "t= has fewer than two elements" if call.t is not None and call.t.size < 2 else None


@implements("signal", "x:bifc t:bifc window:bif", _refuse_resample)
def resample(call: Call) -> Any:
    require(call.domain == "time")
    x, num, window = as_inexact(call.x), operator.index(call.num), call.window
    axis = one_axis(call.axis, x.ndim)
    moved = jnp.moveaxis(x, axis, -1)
    length = moved.shape[-1]
    spectrum = jnp.fft.fft(moved)
    if window is not None:
        if isinstance(window, (str, tuple)):
            window = np.fft.fftshift(scipy_signal.get_window(window, length))
        require(window.shape == (length,))
        real = jnp.finfo(spectrum.dtype).dtype
        spectrum = times_line(spectrum, jnp.asarray(window).astype(real))
    result = jnp.moveaxis(jnp.fft.ifft(_stretched(spectrum, num)) * (num / length), -1, axis)
    result = result if is_complex(x.dtype) else result.real
    if call.t is None:
        return result
    t = as_inexact(call.t)
    steps = jnp.arange(num).astype(t.dtype)
    return result, t[0] + (t[1] - t[0]) * (length / num) * steps


def _stretched(spectrum: Array, num: int) -> Array:
    """Return a spectrum of `num` frequencies, without the highest, or with zeros for higher ones.

    The middle one of an even number stands for a positive and a negative frequency.
    """
    length = spectrum.shape[-1]
    few, middle = min(num, length), min(num, length) // 2
    zeros = jnp.zeros((*spectrum.shape[:-1], num - few), spectrum.dtype)
    first, last = spectrum[..., : few - middle], spectrum[..., length - middle :]
    if few % 2 == 0 and num != length:
        other = spectrum[..., middle : middle + 1]
        both = last[..., :1] + other if num < length else last[..., :1] / 2
        last = jnp.concatenate([both, last[..., 1:]], -1)
        if num > length:
            first, zeros = jnp.concatenate([first, both], -1), zeros[..., 1:]
    return jnp.concatenate([first, zeros, last], -1)
