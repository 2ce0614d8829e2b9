"""Short transforms of `scipy_dispatch.signal`: spectrograms, and signals from them."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.signal import get_window

from ._arrays import (
    as_inexact,
    default_float,
    dtype_of,
    is_complex,
    is_traced,
    promoted,
    times_line,
)
from ._axes import one_axis
from ._implement import Call, implements
from ._jax import Array, jax, jnp
from ._spectrum import (
    Cut,
    both_sides,
    cut_of,
    cut_signal,
    frequencies_of,
    is_name,
    real_of,
    refuse,
    signal_of,
    transformed,
    why_not_settings,
)
from ._warning import warn_caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def ends(x: Array, count: int, boundary: Any) -> Array:
    """Return lines extended at both ends."""
    widths = [(0, 0)] * (x.ndim - 1) + [(count, count)]
    if boundary is None or not count:
        return x
    if boundary == "zeros":
        return jnp.pad(x, widths)
    if boundary == "constant":
        return jnp.pad(x, widths, "edge")
    if boundary not in ("even", "odd"):
        raise ValueError(f"Unknown boundary option '{boundary}'")
    if count > x.shape[-1] - 1:
        raise ValueError("The extension length n is too big.")
    before, after = x[..., count:0:-1], x[..., -2 : -(count + 2) : -1]
    if boundary == "odd":
        before, after = 2 * x[..., :1] - before, 2 * x[..., -1:] - after
    return jnp.concatenate([before, x, after], -1)


def _checked_scaling(call: Call) -> None:
    if call.scaling not in ("psd", "spectrum"):
        raise ValueError(f"Parameter scaling={call.scaling!r} not in ['spectrum', 'psd']!")


def _times(count: int, cut: Cut, fs: float, earlier: float = 0.0) -> Array:
    """Return the times of the centres of segments."""
    return jnp.asarray(
        (cut.length / 2 + cut.step * np.arange(count)) / fs - earlier, default_float()
    )


@implements("signal", "x window", refuse)
def stft(call: Call) -> tuple[Array, Array, Array]:
    _checked_scaling(call)
    x, fs = jnp.asarray(call.x), float(call.fs)
    axis, onesided = one_axis(call.axis, x.ndim), bool(call.return_onesided)
    cut, window = cut_signal(call, x.shape[axis])
    settings = onesided, call.boundary, bool(call.padded), axis, call.scaling
    result = _stft(x, window, fs, cut, call.detrend, *settings)
    earlier = 0.0 if call.boundary is None else cut.length / 2 / fs
    times = _times(result.shape[-1], cut, fs, earlier)
    return frequencies_of(cut.padded, fs, onesided), times, result


@partial(
    jax.jit,
    static_argnames=("cut", "detrend", "onesided", "boundary", "padded", "axis", "scaling"),
)
def _stft(
    x: Array,
    window: Any,
    fs: Any,
    cut: Cut,
    detrend: Any,
    onesided: bool,
    boundary: Any,
    padded: bool,
    axis: int,
    scaling: str,
) -> Array:
    signal = signal_of(x, axis)
    window = jnp.asarray(window).astype(real_of(signal))
    signal = ends(signal, cut.length // 2, boundary)
    if padded:
        missing = (-(signal.shape[-1] - cut.length) % cut.step) % cut.length
        signal = jnp.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, missing)])
    result = transformed(signal, window, cut, detrend, onesided)
    if scaling == "spectrum":
        result = result / window.sum().astype(result.dtype)
    else:
        result = result / jnp.sqrt((window**2).sum() * fs).astype(result.dtype)
    result = jnp.moveaxis(jnp.swapaxes(result, -1, -2), -2, axis)
    return result.astype(promoted(x.dtype, np.complex64))


def _refuse_segments(call: Call) -> str | None:
    if call.mode in ("angle", "phase"):
        return f"mode={call.mode!r} depends on the last bits where a transform is close to 0"
    return refuse(call)


@implements("signal", "x window", _refuse_segments)
def spectrogram(call: Call) -> tuple[Array, Array, Array]:
    if call.mode not in ("psd", "complex", "magnitude"):
        raise ValueError(f"unknown value for mode {call.mode}")
    if call.scaling not in ("density", "spectrum"):
        raise ValueError(f"Unknown scaling: {call.scaling!r}")
    x, fs, onesided = jnp.asarray(call.x), float(call.fs), bool(call.return_onesided)
    axis = one_axis(call.axis, x.ndim)
    cut, window = cut_signal(call, x.shape[axis], 8)
    scale = "psd" if call.scaling == "density" else "spectrum"
    result = _stft(x, window, fs, cut, call.detrend, onesided, None, False, axis, scale)
    if call.mode == "magnitude":
        result = jnp.abs(result)
    elif call.mode == "psd":
        result = result.real**2 + result.imag**2
        if onesided:
            result = jnp.moveaxis(both_sides(jnp.moveaxis(result, axis, -1), cut.padded), -1, axis)
    frequencies = frequencies_of(cut.padded, fs, onesided)
    return frequencies, _times(result.shape[-1], cut, fs), result


def _refuse_inverse(call: Call) -> str | None:
    if reason := why_not_settings(call):
        return reason
    if 0 in jnp.shape(call.Zxx):
        return "Zxx= has no elements"
    if is_traced(call.window):
        return "window= is traced, and SciPy warns of some windows; pass a NumPy array"
    if not is_name(call.window) and is_complex(dtype_of(call.window)):
        return "window= is complex"
    if np.shape(call.Zxx)[call.freq_axis] == 1 and not call.nfft:
        return "Zxx= has one frequency, of which no length follows; pass nfft="
    return None


@implements("signal", "Zxx window", _refuse_inverse)
def istft(call: Call) -> tuple[Array, Array]:
    """Differentiable for the transforms."""
    z, fs, onesided = jnp.asarray(call.Zxx), float(call.fs), bool(call.input_onesided)
    if z.ndim < 2:
        raise ValueError("Input stft must be at least 2d!")
    if call.freq_axis == call.time_axis:
        raise ValueError("Must specify differing time and frequency axes!")
    _checked_scaling(call)
    time_axis, freq_axis = one_axis(call.time_axis, z.ndim), one_axis(call.freq_axis, z.ndim)
    if freq_axis == time_axis:
        # SciPy raises different errors, depending on the axis.
        error = IndexError if time_axis == z.ndim - 1 else ValueError
        raise error("time_axis= and freq_axis= are the same axis")
    count = z.shape[freq_axis]
    whole = 2 * (count - 1) if onesided else count
    length = whole if call.nperseg is None else int(call.nperseg)
    nfft = call.nfft
    if nfft is None:
        nfft = length if onesided and length == whole + 1 else whole
    cut = cut_of(length, length // 2 if call.noverlap is None else int(call.noverlap), int(nfft))
    win = get_window(call.window, length) if is_name(call.window) else np.asarray(call.window)
    if win.shape != (length,):
        raise ValueError(f"window must be 1-D and have length of {length}")
    starts = cut.step * np.arange(z.shape[time_axis])
    norm = np.zeros(int(starts[-1]) + length)
    for start in starts:
        norm[start : start + length] += win**2
    # Empty if half a segment has no elements, as in SciPy.
    kept = slice(length // 2, -(length // 2)) if call.boundary else slice(None)
    if not (norm[kept] > 1e-10).all():
        hint = "" if call.boundary else " Possibly due to missing boundary"
        warn_caller(f"NOLA condition failed, STFT may not be invertible.{hint}")
    factor = win.sum() if call.scaling == "spectrum" else np.sqrt(fs * np.sum(win**2))
    weights = 1 / np.where(norm > 1e-10, norm, 1.0)
    settings = cut, onesided, kept.indices(norm.size)[:2], time_axis, freq_axis
    x = _inverse(z, win * factor, weights, *settings)
    return jnp.asarray(np.arange(x.shape[0]) / fs, default_float()), x


@partial(jax.jit, static_argnames=("cut", "onesided", "kept", "time_axis", "freq_axis"))
def _inverse(
    z: Array,
    window: Any,
    weights: Any,
    cut: Cut,
    onesided: bool,
    kept: tuple[int, int],
    time_axis: int,
    freq_axis: int,
) -> Array:
    """Add the windowed segments at their positions, and divide by the sums of the windows."""
    z = as_inexact(jnp.moveaxis(z, (freq_axis, time_axis), (-2, -1)))
    z = z.astype(promoted(z.dtype, np.complex64))
    inverse = jnp.fft.irfft if onesided else jnp.fft.ifft
    segments = jnp.swapaxes(inverse(z, cut.padded, -2)[..., : cut.length, :], -1, -2)
    real = real_of(segments)
    segments = times_line(segments, jnp.asarray(window).astype(real))
    where = cut.step * np.arange(segments.shape[-2])[:, None] + np.arange(cut.length)
    x = jnp.zeros((*segments.shape[:-2], weights.size), segments.dtype)
    x = times_line(x.at[..., where].add(segments), jnp.asarray(weights).astype(real))
    x = x[..., slice(*kept)]
    return x if x.ndim == 1 else jnp.moveaxis(x, -1, time_axis - (freq_axis < time_axis))
