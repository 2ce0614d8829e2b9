"""Spectra of `scipy_dispatch.signal`: trends, windowed segments and their transforms, and back."""

from __future__ import annotations

import operator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from scipy.signal import get_window

from ._arrays import (
    as_inexact,
    as_single_or_double,
    default_float,
    dtype_of,
    is_complex,
    is_traced,
    one_axis,
    promoted,
    some_axes,
    times_line,
)
from ._calls import Arguments, implements, require, warn_caller
from ._signals import extended


def without_trend(x: Array, axis: int, type: str, breaks: Any = 0) -> Array:
    """Return `x` minus its mean, or minus the lines of best fit between the breaks."""
    require(type in ("linear", "l", "constant", "c"))
    x, axis = as_single_or_double(x), one_axis(axis, x.ndim)
    if type in ("constant", "c"):
        return x - x.mean(axis, keepdims=True)
    length = x.shape[axis]
    edges = np.unique([*map(operator.index, np.atleast_1d(breaks)), 0, length])
    require(edges[-1] == length and edges[0] == 0)
    x = jnp.moveaxis(x, axis, -1)
    pieces = [_without_line(x[..., start:stop]) for start, stop in pairwise(edges)]
    return jnp.moveaxis(jnp.concatenate(pieces, -1), -1, axis)


@partial(jax.jit)
def _without_line(x: Array) -> Array:
    """Subtract the projection onto constants and lines."""
    # An orthogonal basis in double precision, so that no linear system has to be solved.
    ramp = np.arange(x.shape[-1]) - (x.shape[-1] - 1) / 2
    line = jnp.asarray(ramp / (np.linalg.norm(ramp) or 1), jnp.finfo(x.dtype).dtype)
    x = x - x.mean(-1, keepdims=True)
    return x - times_line(times_line(x, line).sum(-1, keepdims=True), line)


@implements("signal", "data")
def detrend(call: Arguments) -> Array:
    return without_trend(call.data, call.axis, call.type, call.bp)


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
def hilbert(call: Arguments) -> Array:
    x = _complex(call.x)
    return _positive(x, one_axis(call.axis, x.ndim), call.N, 1)


@implements("signal", "x:bif")
def hilbert2(call: Arguments) -> Array:
    x = jnp.atleast_2d(_complex(call.x))
    axes = some_axes(call.axes or (-2, -1), x.ndim)
    require(len(axes) == 2)
    lengths = call.N if isinstance(call.N, (tuple, list)) else (call.N, call.N)
    for axis, length in zip(axes, lengths, strict=True):
        x = _positive(x, axis, length, 0)
    return x


ONE, TWO = "x:bifc window:bif", "x:bifc y:bifc window:bif"


class Cut(NamedTuple):
    """The length and overlap of segments, and the length to which they are padded."""

    length: int
    overlap: int
    padded: int

    @property
    def step(self) -> int:
        return self.length - self.overlap


def cut_of(length: int, part: int, overlap: Any, padded: Any) -> Cut:
    """Return a segmentation; segments overlap by default by one of `part` parts of their length."""
    overlap = length // part if overlap is None else int(overlap)
    padded = length if padded is None else int(padded)
    require(0 < length <= padded and overlap < length)
    return Cut(length, overlap, padded)


def is_name(window: Any) -> bool:
    """Return whether SciPy makes the window by its name."""
    return isinstance(window, (str, tuple))


def why_not_settings(call: Arguments) -> str | None:
    """Return why settings are not supported."""
    if np.ndim(call.fs) or not call.fs > 0:
        return "fs= is no number greater than 0"
    for name in ("detrend", "boundary", "scaling", "average"):
        if not isinstance(getattr(call, name, None), (str, bool, type(None))):
            return f"{name}= is no name"
    return None


def refuse(call: Arguments) -> str | None:
    """Reject signals of types and lengths for which releases of SciPy differ."""
    if reason := why_not_settings(call):
        return reason
    signals = [getattr(call, name) for name in ("x", "y") if hasattr(call, name)]
    dtypes = [dtype_of(each) for each in signals]
    if getattr(call, "return_onesided", True) and any(map(is_complex, dtypes)):
        return "x= or y= is complex; pass return_onesided=False"
    if getattr(call, "boundary", None) == "odd" and dtypes[0].kind in "iu":
        return "boundary='odd' of integers: SciPy's differences leave their range; pass floats"
    if len({(each.ndim, each.shape[call.axis]) for each in signals}) > 1:
        return "x= and y= are not of the same length and number of dimensions"
    window = call.window
    is_array = not is_name(window) and window is not None
    if is_array and (window.ndim != 1 or len(window) > signals[0].shape[call.axis]):
        return "window= is no line that fits the signal"
    return None


def cut_signal(call: Arguments, available: int, part: int = 2) -> tuple[Cut, Any]:
    """Return the segmentation of a signal of `available` elements, and the window as an array."""
    window, length = call.window, call.nperseg
    if is_name(window):
        length = 256 if length is None else int(length)
        if length > available:
            warn_caller(
                f"nperseg={length} is greater than signal length max(len(x), len(y)) = "
                f"{available}, using nperseg = {available}"
            )
            length = available
        require(length > 0)
        window = get_window(window, length)
    require(length is None or int(length) == len(window))
    return cut_of(len(window), part, call.noverlap, call.nfft), window


def transformed(x: Array, window: Array, cut: Cut, detrend: Any, onesided: bool) -> Array:
    """Return the transforms of the segments, numbered along the second last axis."""
    starts = np.arange(0, x.shape[-1] - cut.length + 1, cut.step)
    segments = x[..., starts[:, None] + np.arange(cut.length)]
    if detrend:
        segments = without_trend(segments, -1, detrend)
    segments = times_line(segments, window)
    return (jnp.fft.rfft if onesided else jnp.fft.fft)(segments, cut.padded)


def frequencies_of(count: int, fs: float, onesided: bool) -> Array:
    """Return the frequencies of transforms, computed by NumPy in double precision."""
    values = np.fft.rfftfreq(count, 1 / fs) if onesided else np.fft.fftfreq(count, 1 / fs)
    return jnp.asarray(values, default_float())


def real_of(x: Array) -> Any:
    """Return the real data type of an array."""
    return jnp.finfo(x.dtype).dtype


def both_sides(x: Array, padded: int) -> Array:
    """Double one side of a spectrum, except for frequencies that have no counterpart."""
    twice = np.full(x.shape[-1], 2.0)
    twice[0] = 1
    if padded % 2 == 0:
        twice[-1] = 1
    return times_line(x, jnp.asarray(twice, real_of(x)))


def _density(call: Arguments, y: Any = None) -> tuple[Array, Array]:
    require(call.scaling in ("density", "spectrum") and call.average in ("mean", "median"))
    x, fs = call.x, float(call.fs)
    axis, onesided = one_axis(call.axis, x.ndim), bool(call.return_onesided)
    cut, window = cut_signal(call, x.shape[axis])
    settings = cut, call.detrend, onesided, call.scaling, axis, call.average
    density = _compiled_density(x, y, window, fs, settings)
    return frequencies_of(cut.padded, fs, onesided), density


@partial(jax.jit, static_argnames="how")
def _compiled_density(x: Array, y: Any, window: Any, fs: Any, how: tuple[Any, ...]) -> Array:
    """Return the spectral density of one signal, or the cross density of two."""
    cut, detrend, onesided, scaling, axis, average = how
    given = [x] if y is None else [x, y]
    signals = [jnp.moveaxis(as_inexact(each), axis, -1) for each in given]
    dtype = promoted(*(each.dtype for each in signals))
    window = jnp.asarray(window).astype(jnp.finfo(dtype).dtype)
    first, *other = (
        transformed(each.astype(dtype), window, cut, detrend, onesided) for each in signals
    )
    result = first.conj() * other[0] if other else first.real**2 + first.imag**2
    sums = window.sum() ** 2 if scaling == "spectrum" else (window**2).sum() * fs
    if onesided:
        result = both_sides(result, cut.padded)
    result = result / sums.astype(result.dtype)
    result = result.mean(-2) if average == "mean" else _median(result)
    # SciPy returns single precision for narrow integers.
    final = promoted(*(each.dtype for each in given), np.complex64)
    return jnp.moveaxis(result, -1, axis).astype(final if other else jnp.finfo(final).dtype)


def _median(x: Array) -> Array:
    evens = 2 * np.arange(1.0, (x.shape[-2] - 1) // 2 + 1)
    bias = float(1 + np.sum(1.0 / (evens + 1) - 1.0 / evens))
    if is_complex(x.dtype):
        return lax.complex(_median(x.real), _median(x.imag))
    return jnp.median(x, -2) / bias


@implements("signal", ONE, refuse)
def welch(call: Arguments) -> tuple[Array, Array]:
    return _density(call)


@implements("signal", TWO, refuse)
def csd(call: Arguments) -> tuple[Array, Array]:
    # Of a signal with itself, SciPy's is real.
    return _density(call, None if call.y is call.x else call.y)


@implements("signal", TWO, refuse)
def coherence(call: Arguments) -> tuple[Array, Array]:
    call = call.but(return_onesided=True, scaling="density", average="mean")
    frequencies, across = _density(call, call.y)
    (_, first), (_, second) = _density(call), _density(call.but(x=jnp.asarray(call.y)))
    return frequencies, (across.real**2 + across.imag**2) / first / second


@implements("signal", ONE, refuse)
def periodogram(call: Arguments) -> tuple[Array, Array]:
    x, nfft = call.x, call.nfft
    axis = one_axis(call.axis, x.ndim)
    if nfft is not None and nfft < x.shape[axis]:
        x, nfft = lax.slice_in_dim(x, 0, nfft, axis=axis), None
    window = "boxcar" if call.window is None else call.window
    whole = {"nperseg": x.shape[axis], "noverlap": 0, "nfft": nfft, "average": "mean"}
    return _density(call.but(x=x, window=window, **whole))


def _spectra(
    call: Arguments, part: int, boundary: Any, padded: bool, scaling: str
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
def stft(call: Arguments) -> tuple[Array, Array, Array]:
    require(call.scaling in ("psd", "spectrum"))
    return _spectra(call, 2, call.boundary, bool(call.padded), call.scaling)[1:]


def _refuse_segments(call: Arguments) -> str | None:
    if call.mode in ("angle", "phase"):
        return f"mode={call.mode!r} depends on the last bits where a transform is close to 0"
    return refuse(call)


@implements("signal", ONE, _refuse_segments)
def spectrogram(call: Arguments) -> tuple[Array, Array, Array]:
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


def _refuse_inverse(call: Arguments) -> str | None:
    if is_traced(call.window):
        return "window= is traced, and SciPy warns of some windows; pass a NumPy array"
    if np.shape(call.Zxx)[call.freq_axis] == 1 and not call.nfft:
        return "Zxx= has one frequency, of which no length follows; pass nfft="
    return why_not_settings(call)


@implements("signal", "Zxx:bifc window:bif", _refuse_inverse)
def istft(call: Arguments) -> tuple[Array, Array]:
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
