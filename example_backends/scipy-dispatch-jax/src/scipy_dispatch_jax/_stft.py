"""Short transforms of `scipy_dispatch.signal`: spectrograms, and signals from them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.signal import get_window

from ._arrays import as_inexact, default_float, is_traced, promoted, times_line
from ._axes import some_axes
from ._implement import Call, implements, require, warn_caller
from ._jax import Array, jax, jnp
from ._recursive import extended
from ._spectrum import (
    ONE,
    Cut,
    both_sides,
    cut_of,
    cut_signal,
    frequencies_of,
    is_name,
    real_of,
    refuse,
    transformed,
    why_not_settings,
)


def _spectra(
    call: Call, part: int, boundary: Any, padded: bool, scaling: str
) -> tuple[Cut, Array, Array, Array]:
    """Return the segmentation, and the frequencies, times and transforms of the segments."""
    (axis,), onesided, fs = some_axes([call.axis], call.x.ndim), bool(call.return_onesided), call.fs
    cut, window = cut_signal(call, call.x.shape[axis], part)
    settings = cut, call.detrend, onesided, boundary, padded, axis, scaling
    result = _compiled_spectra(call.x, window, float(fs), settings)
    earlier = 0.0 if boundary is None else cut.length / 2 / fs
    times = (cut.length / 2 + cut.step * np.arange(result.shape[-1])) / fs - earlier
    times = jnp.asarray(times, default_float())
    return cut, frequencies_of(cut.padded, fs, onesided), times, result


@partial(jax.jit, static_argnames="how")
def _compiled_spectra(x: Array, window: Any, fs: Any, how: tuple[Any, ...]) -> Array:
    cut, detrend, onesided, boundary, padded, axis, scaling = how
    signal = extended(jnp.moveaxis(as_inexact(x), axis, 0), cut.length // 2, boundary)
    signal = jnp.moveaxis(signal, 0, -1)
    window = jnp.asarray(window).astype(real_of(signal))
    if padded:
        missing = (-(signal.shape[-1] - cut.length) % cut.step) % cut.length
        signal = jnp.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, missing)])
    result = transformed(signal, window, cut, detrend, onesided)
    scale = window.sum() if scaling == "spectrum" else jnp.sqrt((window**2).sum() * fs)
    result = result / scale.astype(result.dtype)
    result = jnp.moveaxis(jnp.swapaxes(result, -1, -2), -2, axis)
    return result.astype(promoted(x.dtype, np.complex64))


@implements("signal", ONE, refuse)
def stft(call: Call) -> tuple[Array, Array, Array]:
    require(call.scaling in ("psd", "spectrum"))
    return _spectra(call, 2, call.boundary, bool(call.padded), call.scaling)[1:]


def _refuse_segments(call: Call) -> str | None:
    if call.mode in ("angle", "phase"):
        return f"mode={call.mode!r} depends on the last bits where a transform is close to 0"
    return refuse(call)


@implements("signal", ONE, _refuse_segments)
def spectrogram(call: Call) -> tuple[Array, Array, Array]:
    require(call.mode in ("psd", "complex", "magnitude"))
    scaling = {"density": "psd", "spectrum": "spectrum"}[call.scaling]
    cut, frequencies, times, result = _spectra(call, 8, None, False, scaling)
    if call.mode == "magnitude":
        result = jnp.abs(result)
    elif call.mode == "psd":
        result = result.real**2 + result.imag**2
        if call.return_onesided:
            axis = call.axis % call.x.ndim
            result = jnp.moveaxis(both_sides(jnp.moveaxis(result, axis, -1), cut.padded), -1, axis)
    return frequencies, times, result


def _refuse_inverse(call: Call) -> str | None:
    if is_traced(call.window):
        return "window= is traced, and SciPy warns of some windows; pass a NumPy array"
    if np.shape(call.Zxx)[call.freq_axis] == 1 and not call.nfft:
        return "Zxx= has one frequency, of which no length follows; pass nfft="
    return why_not_settings(call)


@implements("signal", "Zxx:bifc window:bif", _refuse_inverse)
def istft(call: Call) -> tuple[Array, Array]:
    """Differentiable for the transforms."""
    z, fs, onesided = call.Zxx, float(call.fs), bool(call.input_onesided)
    require(z.ndim > 1 and call.scaling in ("psd", "spectrum"))
    time_axis, freq_axis = some_axes([call.time_axis, call.freq_axis], z.ndim)
    whole = 2 * (z.shape[freq_axis] - 1) if onesided else z.shape[freq_axis]
    length = whole if call.nperseg is None else int(call.nperseg)
    nfft = call.nfft
    if nfft is None:
        nfft = length if onesided and length == whole + 1 else whole
    cut = cut_of(length, 2, call.noverlap, nfft)
    window = get_window(call.window, length) if is_name(call.window) else np.asarray(call.window)
    require(window.shape == (length,))
    starts = cut.step * np.arange(z.shape[time_axis])
    norm = np.zeros(int(starts[-1]) + length)
    for start in starts:
        norm[start : start + length] += window**2
    # Empty if half a segment has no elements, as in SciPy.
    kept = slice(length // 2, -(length // 2)) if call.boundary else slice(None)
    if not (norm[kept] > 1e-10).all():
        hint = "" if call.boundary else " Possibly due to missing boundary"
        warn_caller(f"NOLA condition failed, STFT may not be invertible.{hint}")
    factor = window.sum() if call.scaling == "spectrum" else np.sqrt(fs * np.sum(window**2))
    weights = 1 / np.where(norm > 1e-10, norm, 1.0)
    settings = cut, onesided, kept.indices(norm.size)[:2], time_axis, freq_axis
    x = _inverse(z, window * factor, weights, settings)
    return jnp.asarray(np.arange(x.shape[0]) / fs, default_float()), x


@partial(jax.jit, static_argnames="how")
def _inverse(z: Array, window: Any, weights: Any, how: tuple[Any, ...]) -> Array:
    """Add the windowed segments at their positions, and divide by the sums of the windows."""
    cut, onesided, kept, time_axis, freq_axis = how
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
