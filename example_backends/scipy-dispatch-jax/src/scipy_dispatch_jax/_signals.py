"""Filters of `scipy_dispatch.signal`: recursive ones, resampling and smoothing."""

from __future__ import annotations

import operator
from functools import partial
from math import gcd, prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from scipy import signal as scipy_signal

from ._arrays import (
    as_inexact,
    as_single_or_double,
    default_float,
    dtype_of,
    for_each,
    is_complex,
    is_integer,
    is_jax,
    one_axis,
    promoted,
    times_line,
)
from ._calls import Arguments, implements, require, warn_caller
from ._convolution import by_products, convolved
from ._filters import line
from ._ranks import in_windows

_UNROLLED = 8


def _type(call: Arguments) -> np.dtype[Any]:
    given = (getattr(call, name, None) for name in ("b", "a", "sos", "x", "zi"))
    return promoted(*(dtype_of(each) for each in given if each is not None))


def _refuse_recursive(call: Arguments) -> str | None:
    if is_integer(_type(call)):
        return "x= is of integers, as the filter is; pass floats"
    if getattr(call, "padtype", None) == "odd" and is_integer(dtype_of(call.x)):
        return "padtype='odd' of integers: SciPy's differences leave their range; pass floats"
    if getattr(call, "method", "pad") == "gust":
        return "method='gust' is not implemented"
    return None


def _coefficients(call: Arguments, dtype: Any) -> tuple[Any, Any]:
    """Return the numerator and denominator, padded to one length if both have more than one."""
    b, a = (jnp.atleast_1d(jnp.asarray(each)).astype(dtype) for each in (call.b, call.a))
    require(b.ndim == a.ndim == 1 and b.size and a.size)
    require(is_jax(call.a) or np.atleast_1d(call.a)[0] != 0)
    b, a = b / a[0], a / a[0]
    if a.size > 1:
        count = max(b.size, a.size)
        b, a = (jnp.pad(each, (0, count - each.size)) for each in (b, a))
    return b, a


def _beside(line: Array, x: Array) -> Array:
    """Return a line along the first axis of an array."""
    return line.reshape(-1, *(1,) * (x.ndim - 1))


@partial(jax.jit)
def _recursive(b: Array, a: Array, x: Array, state: Array) -> tuple[Array, Array]:
    """Filter along the first axis (direct form II transposed); `state` has an axis in front."""

    def step(state: Array, x: Array) -> tuple[Array, Array]:
        y = state[0] + b[0] * x
        products = _beside(b[1:], state) * x[None] - _beside(a[1:], state) * y[None]
        return jnp.concatenate([state[1:], jnp.zeros_like(state[:1])]) + products, y

    state, y = lax.scan(step, state, x, unroll=_UNROLLED)
    return y, state


def _filtered_once(b: Array, a: Array, x: Array, state: Array) -> tuple[Array, Array]:
    """Return a signal that is filtered along its first axis, and the state at its end."""
    if a.size > 1:
        return _recursive(b, a, x, state)
    y = by_products(x, _beside(b, x), "full")
    y = y.at[: state.shape[0]].add(state)
    return y[: x.shape[0]], y[x.shape[0] :]


@implements("signal", "x:bifc b:bifc a:bifc zi:bifc", _refuse_recursive)
def lfilter(call: Arguments) -> Any:
    """Differentiable for the coefficients, too."""
    dtype, x = _type(call), call.x
    b, a = _coefficients(call, dtype)
    axis = one_axis(call.axis, x.ndim)
    moved = jnp.moveaxis(x, axis, 0).astype(dtype)
    shape = (b.size - 1, *moved.shape[1:])
    state = jnp.zeros(shape, dtype)
    if call.zi is not None:
        zi = jnp.asarray(call.zi).astype(dtype)
        require(zi.ndim == x.ndim and zi.shape[axis] == b.size - 1)
        state = jnp.broadcast_to(jnp.moveaxis(zi, axis, 0), shape)
    y, state = _filtered_once(b, a, moved, state)
    y, state = jnp.moveaxis(y, 0, axis), jnp.moveaxis(state, 0, axis)
    return y if call.zi is None else (y, state)


def _steady(b: Array, a: Array) -> Array:
    """Return the state after a long step of height 1; of a filter with ``a[0] == 1``."""
    count = max(b.size, a.size)
    b, a = (jnp.pad(each, (0, count - each.size)) for each in (b, a))
    return jnp.flip(jnp.cumsum(jnp.flip(b - b.sum() / a.sum() * a)))[1:]


def extended(x: Array, count: int, kind: Any) -> Array:
    """Return an array extended at both ends of its first axis."""
    if kind is None or not count:
        return x
    widths = [(count, count)] + [(0, 0)] * (x.ndim - 1)
    if kind in ("constant", "zeros"):
        return jnp.pad(x, widths, {"constant": "edge", "zeros": "constant"}[kind])
    require(kind in ("even", "odd") and count < x.shape[0])
    return jnp.pad(x, widths, "reflect", reflect_type=kind)


@partial(jax.jit, static_argnames=("edge", "kind"))
def _back_and_forth(x: Array, sections: Any, edge: int, kind: Any) -> Array:
    """Filter along the first axis in both directions, starting from steady states."""
    y = extended(x, edge, kind)
    for _ in range(2):
        gain: Any = 1
        height = y[0]
        for b, a in sections:
            y, _ = _filtered_once(b, a, y, _beside(_steady(b, a) * gain, y) * height[None])
            gain = gain * b.sum() / a.sum()
        y = jnp.flip(y, 0)
    return y[edge : y.shape[0] - edge]


def _both_ways(call: Arguments, sections: Any, taps: int, dtype: Any) -> Array:
    require(call.padtype in ("even", "odd", "constant", None))
    axis = one_axis(call.axis, call.x.ndim)
    edge = 3 * taps if call.padlen is None else call.padlen
    edge = 0 if call.padtype is None else edge
    require(call.x.shape[axis] > edge)
    moved = jnp.moveaxis(call.x, axis, 0).astype(dtype)
    return jnp.moveaxis(_back_and_forth(moved, sections, edge, call.padtype), 0, axis)


@implements("signal", "x:bifc b:bifc a:bifc", _refuse_recursive)
def filtfilt(call: Arguments) -> Array:
    """Differentiable for the coefficients, too."""
    dtype, taps = _type(call), max(jnp.size(call.b), jnp.size(call.a))
    return _both_ways(call, [_coefficients(call, dtype)], taps, dtype)


def _sections(call: Arguments, dtype: Any) -> list[tuple[Array, Array]]:
    sos = jnp.asarray(call.sos)
    require(sos.ndim == 2 and sos.shape[1] == 6)
    require(is_jax(call.sos) or (np.asarray(call.sos)[:, 3] == 1).all())
    return [(row[:3], row[3:]) for row in sos.astype(dtype)]


@implements("signal", "x:bifc sos:bifc zi:bifc", _refuse_recursive)
def sosfilt(call: Arguments) -> Any:
    """Differentiable for the sections, too."""
    dtype, x = _type(call), call.x
    sections, axis = _sections(call, dtype), one_axis(call.axis, x.ndim)
    y = jnp.moveaxis(x, axis, 0).astype(dtype)
    shape = (len(sections), 2, *y.shape[1:])
    states = jnp.zeros(shape, dtype)
    if call.zi is not None:
        states = jnp.moveaxis(jnp.asarray(call.zi).astype(dtype), axis + 1, 1)
        require(states.shape == shape)
    last = []
    for (b, a), state in zip(sections, states, strict=True):
        y, state = _filtered_once(b, a, y, state)
        last.append(state)
    y = jnp.moveaxis(y, 0, axis)
    return y if call.zi is None else (y, jnp.moveaxis(jnp.stack(last), 1, axis + 1))


@implements("signal", "x:bifc", _refuse_recursive)
def sosfiltfilt(call: Arguments) -> Array:
    """The sections must be known, because they decide how far signals are extended."""
    sos, dtype = np.asarray(call.sos), _type(call)
    taps = 2 * len(sos) + 1 - min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())
    return _both_ways(call, _sections(call, dtype), int(taps), dtype)


# The most elements of all frames of a signal that are multiplied at once.
_FRAMED = 2**23
_BACKGROUNDS: dict[str, Any] = {
    "mean": jnp.mean,
    "median": jnp.median,
    "minimum": jnp.min,
    "maximum": jnp.max,
}


def _refuse_upfirdn(call: Arguments) -> str | None:
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


def _rates(call: Arguments) -> tuple[int, int]:
    up, down = call.up, call.down
    require(up == int(up) and down == int(down) and up > 0 and down > 0)
    return int(up), int(down)


@implements("signal", "x:bifc h:bifc", _refuse_upfirdn)
def upfirdn(call: Arguments) -> Array:
    """Differentiable for the filter, too."""
    h = jnp.asarray(call.h)
    require(h.ndim == 1 and h.size)
    return _stepped(h, call.x, *_rates(call), one_axis(call.axis, call.x.ndim))


def _refuse_poly(call: Arguments) -> str | None:
    if call.padtype not in ("constant", *_BACKGROUNDS):
        return f"padtype={call.padtype!r}: JAX extends signals by a constant"
    if call.padtype == "constant" and call.cval:
        return f"cval={call.cval!r}: JAX extends signals by zeros"
    return None


@implements("signal", "x:bifc window:fc", _refuse_poly)
def resample_poly(call: Arguments) -> Array:
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


def _refuse_decimate(call: Arguments) -> str | None:
    if not isinstance(call.ftype, str):
        return "ftype= is a system, not a name"
    if call.zero_phase and call.ftype == "iir" and is_integer(dtype_of(call.x)):
        return "x= is of integers, whose differences at the ends SciPy lets overflow; pass floats"
    return None


@implements("signal", "x:bifc", _refuse_decimate)
def decimate(call: Arguments) -> Array:
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


def _refuse_resample(call: Arguments) -> str | None:
    if call.domain == "freq" or callable(call.window):
        return "domain='freq' and functions as window= are left to SciPy"
    return "t= has fewer than two elements" if call.t is not None and call.t.size < 2 else None


@implements("signal", "x:bifc t:bifc window:bif", _refuse_resample)
def resample(call: Arguments) -> Any:
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


@implements("signal", "x:bifh cval")
def savgol_filter(call: Arguments) -> Array:
    mode, is_fitted = call.mode, call.mode == "interp"
    require(mode in ("mirror", "constant", "nearest", "interp", "wrap"))
    x, length = as_single_or_double(call.x), operator.index(call.window_length)
    axis, dtype = one_axis(call.axis, x.ndim), np.dtype(x.dtype)
    settings: dict[str, Any] = {"deriv": call.deriv, "delta": call.delta}
    weights = scipy_signal.savgol_coeffs(length, call.polyorder, **settings)
    mode, cval = ("constant", 0.0) if is_fitted else (mode, call.cval)
    y = line(x, weights, axis, dtype, mode, cval, mirrored=True)
    require(not is_fitted or length <= x.shape[axis])
    if not is_fitted or length == 1:
        return y
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
    call = Arguments(input=x, size=size, footprint=footprint, axes=None, **settings)
    return in_windows(call, lambda count: rank)


def _median(x: Array, size: Any) -> Array:
    x = jnp.atleast_1d(x)
    sizes = [int(each) for each in for_each(3 if size is None else size, x.ndim)]
    require(all(each % 2 for each in sizes))
    if any(each > length for each, length in zip(sizes, x.shape, strict=True)):
        warn_caller("kernel_size exceeds volume extent: the volume will be zero-padded.")
    return _ranked(x, prod(sizes) // 2, sizes, None)


@implements("signal", "volume:if")
def medfilt(call: Arguments) -> Array:
    return _median(call.volume, call.kernel_size)


@implements("signal", "input:if")
def medfilt2d(call: Arguments) -> Array:
    require(call.input.ndim == 2)
    return _median(call.input, call.kernel_size)


@implements("signal", "a:if")
def order_filter(call: Arguments) -> Array:
    domain = np.asarray(call.domain)
    require(all(length % 2 for length in domain.shape))
    return _ranked(call.a, operator.index(call.rank), None, domain)


def _refuse_numbers(call: Arguments) -> str | None:
    return None if jnp.ndim(call.im) else "im= has no axis"


@implements("signal", "im:f noise:bif", _refuse_numbers)
def wiener(call: Arguments) -> Array:
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
