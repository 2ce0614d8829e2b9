"""Spectral densities of `scipy_dispatch.signal`: windowed segments and their transforms."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import get_window

from ._arrays import as_inexact, default_float, dtype_of, is_complex, promoted, times_line
from ._axes import one_axis
from ._implement import Call, implements, require, warn_caller
from ._jax import Array, jax, jnp, lax
from ._trend import without_trend

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


def why_not_settings(call: Call) -> str | None:
    """Return why settings are not supported."""
    if np.ndim(call.fs) or not call.fs > 0:
        return "fs= is no number greater than 0"
    for name in ("detrend", "boundary", "scaling", "average"):
        if not isinstance(getattr(call, name, None), (str, bool, type(None))):
            return f"{name}= is no name"
    return None


def refuse(call: Call) -> str | None:
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


def cut_signal(call: Call, available: int, part: int = 2) -> tuple[Cut, Any]:
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


def _density(call: Call, y: Any = None) -> tuple[Array, Array]:
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
def welch(call: Call) -> tuple[Array, Array]:
    return _density(call)


@implements("signal", TWO, refuse)
def csd(call: Call) -> tuple[Array, Array]:
    # Of a signal with itself, SciPy's is real.
    return _density(call, None if call.y is call.x else call.y)


@implements("signal", TWO, refuse)
def coherence(call: Call) -> tuple[Array, Array]:
    call = call.but(return_onesided=True, scaling="density", average="mean")
    frequencies, across = _density(call, call.y)
    (_, first), (_, second) = _density(call), _density(call.but(x=jnp.asarray(call.y)))
    return frequencies, (across.real**2 + across.imag**2) / first / second


@implements("signal", ONE, refuse)
def periodogram(call: Call) -> tuple[Array, Array]:
    x, nfft = call.x, call.nfft
    axis = one_axis(call.axis, x.ndim)
    if nfft is not None and nfft < x.shape[axis]:
        x, nfft = lax.slice_in_dim(x, 0, nfft, axis=axis), None
    window = "boxcar" if call.window is None else call.window
    whole = {"nperseg": x.shape[axis], "noverlap": 0, "nfft": nfft, "average": "mean"}
    return _density(call.but(x=x, window=window, **whole))
