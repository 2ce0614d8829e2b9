"""Spectral densities of `scipy_dispatch.signal`: windowed segments and their transforms."""

from __future__ import annotations

from functools import partial
from types import NoneType
from typing import NamedTuple

import numpy as np
from scipy.signal import get_window

from ._arrays import as_inexact, default_float, dtype_of, is_complex, is_jax, promoted, times_line
from ._axes import one_axis
from ._implement import Call, implements
from ._jax import Array, jax, jnp, lax
from ._trend import without_trend
from ._warning import warn_caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Cut(NamedTuple):
    """The length and overlap of segments, and the length to which they are padded."""

    length: int
    overlap: int
    padded: int

    @property
    def step(self) -> int:
        return self.length - self.overlap


def cut_of(length: int, overlap: int, padded: int) -> Cut:
    """Return a segmentation after checking it."""
    if length < 1:
        raise ValueError("nperseg must be a positive integer")
    if padded < length:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    if overlap >= length:
        raise ValueError("noverlap must be less than nperseg.")
    return Cut(length, overlap, padded)


def is_name(window: Any) -> bool:
    """Return whether SciPy makes the window by its name."""
    return isinstance(window, (str, tuple))


def why_not_settings(call: Call) -> str | None:
    """Return why settings are not supported."""
    if np.ndim(call.fs) or not call.fs > 0:
        return "fs= is no number greater than 0"
    for name in ("detrend", "boundary", "scaling", "average"):
        if not isinstance(getattr(call, name, None), (str, bool, NoneType)):
            return f"{name}= is no name"
    return None


def refuse(call: Call) -> str | None:
    """Reject signals of types and lengths for which releases of SciPy differ."""
    if callable(call.detrend):
        return "detrend= is a function, which SciPy calls with NumPy arrays"
    if reason := why_not_settings(call):
        return reason
    names = [name for name in ("x", "y") if hasattr(call, name)]
    for name in names:
        shape, dtype = jnp.shape(getattr(call, name)), dtype_of(getattr(call, name))
        if not shape or 0 in shape:
            return f"{name}= has no elements, or no axis"
        if getattr(call, "return_onesided", True) and is_complex(dtype):
            return f"{name}= is complex; pass return_onesided=False"
        if dtype.kind not in "biufc" or dtype == np.float16:
            return (
                f"{name}= is of {dtype}, of which SciPy makes single or double precision by "
                f"release; pass {name}.astype('float32')"
            )
    if getattr(call, "boundary", None) == "odd" and dtype_of(call.x).kind in "iu":
        return "boundary='odd' of integers: SciPy's differences leave their range; pass floats"
    shapes = [jnp.shape(getattr(call, name)) for name in names]
    lengths = [shape[call.axis] for shape in shapes]
    if len(set(lengths)) > 1:
        return "x= and y= are not of the same length"
    if len(set(map(len, shapes))) > 1:
        return "x= and y= are not of the same number of dimensions"
    window = call.window
    if not is_name(window) and window is not None:
        if len(jnp.shape(window)) != 1 or len(window) > lengths[0]:
            return "window= is no line that fits the signal"
        if is_complex(dtype_of(window)):
            return "window= is complex"
    return None


def cut_signal(call: Call, available: int, part: int = 2) -> tuple[Cut, Any]:
    """Return the segmentation of a signal of `available` elements, and the window as an array.

    Segments overlap by default by one of `part` parts of their length.
    """
    window, nperseg = call.window, call.nperseg
    if is_name(window):
        length = 256 if nperseg is None else int(nperseg)
        if length > available:
            warn_caller(
                f"nperseg={length} is greater than signal length max(len(x), len(y)) = "
                f"{available}, using nperseg = {available}"
            )
            length = available
        if length < 1:
            raise ValueError("nperseg must be a positive integer")
        window = get_window(window, length)
    else:
        length = len(window) if nperseg is None else int(nperseg)
        if length != len(window):
            raise ValueError("value specified for nperseg is different from length of window")
    overlap = length // part if call.noverlap is None else int(call.noverlap)
    cut = cut_of(length, overlap, length if call.nfft is None else int(call.nfft))
    return cut, window if is_jax(window) else np.asarray(window)


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


def signal_of(x: Any, axis: int) -> Array:
    """Return an array of at least single precision with an axis moved to the end."""
    x = as_inexact(x)
    return jnp.moveaxis(x, one_axis(axis, x.ndim), -1)


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
    if call.scaling not in ("density", "spectrum"):
        raise ValueError(f"Unknown scaling: {call.scaling!r}")
    if call.average not in ("mean", "median"):
        raise ValueError(f"average must be 'median' or 'mean', got {call.average}")
    x, y = jnp.asarray(call.x), None if y is None else jnp.asarray(y)
    axis, onesided = one_axis(call.axis, x.ndim), bool(call.return_onesided)
    cut, window = cut_signal(call, x.shape[axis])
    settings = cut, call.detrend, onesided, call.scaling, axis, call.average
    density = _compiled_density(x, y, window, float(call.fs), *settings)
    return frequencies_of(cut.padded, call.fs, onesided), density


@partial(jax.jit, static_argnames=("cut", "detrend", "onesided", "scaling", "axis", "average"))
def _compiled_density(
    x: Array,
    y: Array | None,
    window: Any,
    fs: Any,
    cut: Cut,
    detrend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    average: str,
) -> Array:
    """Return the spectral density of one signal, or the cross density of two."""
    same = y is None
    first = signal_of(x, axis)
    second = first if y is None else signal_of(y, axis)
    dtype = promoted(first.dtype, second.dtype)
    window = jnp.asarray(window).astype(jnp.finfo(dtype).dtype)
    result = transformed(first.astype(dtype), window, cut, detrend, onesided)
    if y is None:
        result = result.real**2 + result.imag**2
    else:
        other = transformed(second.astype(dtype), window, cut, detrend, onesided)
        result = result.conj() * other
    sums = window.sum() ** 2 if scaling == "spectrum" else (window**2).sum() * fs
    if onesided:
        result = both_sides(result, cut.padded)
    result = result / sums.astype(result.dtype)
    if average == "mean" or result.shape[-2] == 1:
        result = result.mean(-2)
    else:
        result = _median(result)
    # SciPy returns single precision for narrow integers.
    complex_dtype = promoted(x.dtype, x.dtype if y is None else y.dtype, np.complex64)
    real_dtype = jnp.finfo(complex_dtype).dtype
    return jnp.moveaxis(result, -1, axis).astype(real_dtype if same else complex_dtype)


def _median(x: Array) -> Array:
    evens = 2 * np.arange(1.0, (x.shape[-2] - 1) // 2 + 1)
    bias = 1 + np.sum(1.0 / (evens + 1) - 1.0 / evens)
    if is_complex(x.dtype):
        return lax.complex(jnp.median(x.real, -2), jnp.median(x.imag, -2)) / float(bias)
    return jnp.median(x, -2) / float(bias)


@implements("signal", "x window", refuse)
def welch(call: Call) -> tuple[Array, Array]:
    return _density(call)


@implements("signal", "x y window", refuse)
def csd(call: Call) -> tuple[Array, Array]:
    return _density(call, call.y)


@implements("signal", "x y window", refuse)
def coherence(call: Call) -> tuple[Array, Array]:
    call = call.but(return_onesided=True, scaling="density", average="mean")
    frequencies, across = _density(call, call.y)
    (_, first), (_, second) = _density(call), _density(call.but(x=call.y))
    return frequencies, (across.real**2 + across.imag**2) / first / second


@implements("signal", "x window", refuse)
def periodogram(call: Call) -> tuple[Array, Array]:
    x, nfft = jnp.asarray(call.x), call.nfft
    axis = one_axis(call.axis, x.ndim)
    if nfft is not None and nfft < x.shape[axis]:
        x, nfft = lax.slice_in_dim(x, 0, nfft, axis=axis), None
    window, length = "boxcar" if call.window is None else call.window, x.shape[axis]
    if not is_name(window) and len(window) != length:
        raise ValueError("the size of the window must be that of the input along the axis")
    whole = {"nperseg": length, "noverlap": 0, "nfft": nfft, "average": "mean"}
    return _density(call.but(x=x, window=window, **whole))
