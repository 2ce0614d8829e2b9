"""Spectra of `scipy_dispatch.signal`: windowed segments and their Fourier transforms."""

from __future__ import annotations

from functools import partial
from inspect import signature
from types import NoneType
from typing import NamedTuple

import numpy as np
from scipy import signal as scipy_signal
from scipy.signal import get_window

from ._arrays import default_float, dtype_of, is_complex, is_jax, is_traced, promoted, times_line
from ._axes import one_axis
from ._implement import implements
from ._jax import Array, jax, jnp, lax
from ._trend import without_trend
from ._warning import warn_caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HANN: Any = signature(scipy_signal.welch).parameters["window"].default
"""The default window: ``"hann_periodic"`` in SciPy 1.18, and ``"hann"`` in earlier releases."""


class _Cut(NamedTuple):
    """The length and overlap of segments, and the length to which they are padded."""

    length: int
    overlap: int
    padded: int

    @property
    def step(self) -> int:
        return self.length - self.overlap


def _is_name(window: Any) -> bool:
    return isinstance(window, (str, tuple))


def _why_not_settings(call: dict[str, Any]) -> str | None:
    if np.ndim(call["fs"]) or not call["fs"] > 0:
        return "fs= is no number greater than 0"
    for name in ("detrend", "boundary", "scaling", "average"):
        if not isinstance(call.get(name), (str, bool, NoneType)):
            return f"{name}= is no name"
    return None


def _refuse(call: dict[str, Any]) -> str | None:
    if callable(call["detrend"]):
        return "detrend= is a function, which SciPy calls with NumPy arrays"
    reason = _why_not_settings(call)
    if reason:
        return reason
    names = [name for name in ("x", "y") if name in call]
    for name in names:
        shape, dtype = jnp.shape(call[name]), dtype_of(call[name])
        if not shape or 0 in shape:
            return f"{name}= has no elements, or no axis"
        if call["return_onesided"] and is_complex(dtype):
            return f"{name}= is complex; pass return_onesided=False"
        if dtype.kind not in "biufc" or dtype == np.float16:
            return (
                f"{name}= is of {dtype}, of which SciPy makes single or double precision by "
                f"release; pass {name}.astype('float32')"
            )
    if call.get("boundary") == "odd" and dtype_of(call["x"]).kind in "iu":
        return "boundary='odd' of integers: SciPy's differences leave their range; pass floats"
    window = call["window"]
    shapes = [jnp.shape(call[name]) for name in names]
    lengths = [shape[call["axis"]] for shape in shapes]
    if len(set(lengths)) > 1:
        return "x= and y= are not of the same length"
    if len(set(map(len, shapes))) > 1:
        return "x= and y= are not of the same number of dimensions"
    if not _is_name(window):
        if (window.ndim if is_jax(window) else np.ndim(window)) != 1 or len(window) > lengths[0]:
            return "window= is no line that fits the signal"
        if is_complex(dtype_of(window)):
            return "window= is complex"
    return None


def _cut(available: int, window: Any, nperseg: Any, noverlap: Any, nfft: Any) -> tuple[_Cut, Any]:
    """Return the segmentation of a signal of `available` elements, and the window as an array."""
    if _is_name(window):
        length = 256 if nperseg is None else int(nperseg)
        if length < 1:
            raise ValueError("nperseg must be a positive integer")
        if length > available:
            warn_caller(
                f"nperseg={length} is greater than signal length max(len(x), len(y)) = "
                f"{available}, using nperseg = {available}"
            )
            length = available
        window = get_window(window, length)
    else:
        length = len(window) if nperseg is None else int(nperseg)
        if length != len(window):
            raise ValueError("value specified for nperseg is different from length of window")
    padded = length if nfft is None else int(nfft)
    if padded < length:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    overlap = length // 2 if noverlap is None else int(noverlap)
    if overlap >= length:
        raise ValueError("noverlap must be less than nperseg.")
    return _Cut(length, overlap, padded), window if is_jax(window) else np.asarray(window)


def _transformed(x: Array, window: Array, cut: _Cut, detrend: Any, onesided: bool) -> Array:
    """Return the transforms of the segments, numbered along the second last axis."""
    starts = np.arange(0, x.shape[-1] - cut.length + 1, cut.step)
    segments = x[..., starts[:, None] + np.arange(cut.length)]
    if detrend:
        segments = without_trend(segments, -1, detrend)
    segments = times_line(segments, window)
    return (jnp.fft.rfft if onesided else jnp.fft.fft)(segments, cut.padded)


def _frequencies(count: int, fs: float, onesided: bool) -> Array:
    # Computed by NumPy in double precision.
    values = np.fft.rfftfreq(count, 1 / fs) if onesided else np.fft.fftfreq(count, 1 / fs)
    return jnp.asarray(values, default_float())


def _signal(x: Array, axis: int) -> Array:
    x = jnp.moveaxis(x, one_axis(axis, x.ndim), -1)
    return x.astype(_at_least_single(x))


def _at_least_single(x: Array) -> Any:
    return x.dtype if np.dtype(x.dtype).kind in "fc" else default_float()


def _real(x: Array) -> Any:
    return jnp.finfo(x.dtype).dtype


def _cross(
    x: Any,
    y: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    average: str,
) -> tuple[Array, Array]:
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Unknown scaling: {scaling!r}")
    if average not in ("mean", "median"):
        raise ValueError(f"average must be 'median' or 'mean', got {average}")
    first, second = jnp.asarray(x), None if y is x else jnp.asarray(y)
    axis = one_axis(axis, first.ndim)
    cut, window = _cut(first.shape[axis], window, nperseg, noverlap, nfft)
    density = _density(
        first, second, window, float(fs), cut, detrend, bool(onesided), scaling, axis, average
    )
    return _frequencies(cut.padded, fs, onesided), density


@partial(jax.jit, static_argnames=("cut", "detrend", "onesided", "scaling", "axis", "average"))
def _density(
    x: Array,
    y: Array | None,
    window: Any,
    fs: Any,
    cut: _Cut,
    detrend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    average: str,
) -> Array:
    """Return the spectral density of one signal, or the cross density of two."""
    same = y is None
    first = _signal(x, axis)
    second = first if y is None else _signal(y, axis)
    dtype = promoted(first.dtype, second.dtype)
    first, second = first.astype(dtype), second.astype(dtype)
    window = jnp.asarray(window).astype(_real(first))
    result = _transformed(first, window, cut, detrend, onesided)
    other = result if same else _transformed(second, window, cut, detrend, onesided)
    result = (result.real**2 + result.imag**2) if same else result.conj() * other
    sums = window.sum() ** 2 if scaling == "spectrum" else (window**2).sum() * fs
    if onesided:
        # All frequencies except the first, and the last of an even length, count twice.
        twice = np.full(result.shape[-1], 2.0)
        twice[0] = 1
        if cut.padded % 2 == 0:
            twice[-1] = 1
        result = times_line(result, jnp.asarray(twice, _real(result)))
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


@implements("scipy_dispatch.signal:welch", "x", "window", refuse=_refuse)
def welch(
    x: Any,
    fs: float = 1.0,
    window: Any = HANN,
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Supports tracing and differentiation."""
    return _cross(
        x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )


@implements("scipy_dispatch.signal:csd", "x", "y", "window", refuse=_refuse)
def csd(
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Any = HANN,
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Supports tracing and differentiation."""
    return _cross(
        x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )


def _ends(x: Array, count: int, boundary: Any) -> Array:
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


@implements("scipy_dispatch.signal:stft", "x", "window", refuse=_refuse)
def stft(
    x: Any,
    fs: float = 1.0,
    window: Any = HANN,
    nperseg: Any = 256,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: Any = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> tuple[Array, Array, Array]:
    """Supports tracing and differentiation."""
    if scaling not in ("psd", "spectrum"):
        raise ValueError(f"Parameter scaling={scaling!r} not in ['spectrum', 'psd']!")
    x = jnp.asarray(x)
    last = one_axis(axis, x.ndim)
    cut, window = _cut(x.shape[last], window, nperseg, noverlap, nfft)
    result = _stft(
        x,
        window,
        float(fs),
        cut,
        detrend,
        bool(return_onesided),
        boundary,
        bool(padded),
        last,
        scaling,
    )
    # The times of the centres of the segments.
    times = (cut.length / 2 + cut.step * np.arange(result.shape[-1])) / float(fs)
    if boundary is not None:
        times -= cut.length / 2 / fs
    frequencies = _frequencies(cut.padded, fs, return_onesided)
    return frequencies, jnp.asarray(times, default_float()), result


@partial(
    jax.jit,
    static_argnames=("cut", "detrend", "onesided", "boundary", "padded", "axis", "scaling"),
)
def _stft(
    x: Array,
    window: Any,
    fs: Any,
    cut: _Cut,
    detrend: Any,
    onesided: bool,
    boundary: Any,
    padded: bool,
    axis: int,
    scaling: str,
) -> Array:
    signal = _signal(x, axis)
    window = jnp.asarray(window).astype(_real(signal))
    signal = _ends(signal, cut.length // 2, boundary)
    if padded:
        missing = (-(signal.shape[-1] - cut.length) % cut.step) % cut.length
        signal = jnp.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, missing)])
    result = _transformed(signal, window, cut, detrend, onesided)
    if scaling == "spectrum":
        result = result / window.sum().astype(result.dtype)
    else:
        result = result / jnp.sqrt((window**2).sum() * fs).astype(result.dtype)
    result = jnp.moveaxis(jnp.swapaxes(result, -1, -2), -2, axis)
    return result.astype(promoted(x.dtype, np.complex64))


def _refuse_inverse(call: dict[str, Any]) -> str | None:
    reason = _why_not_settings(call)
    if reason:
        return reason
    if 0 in jnp.shape(call["Zxx"]):
        return "Zxx= has no elements"
    if is_traced(call["window"]):
        return "window= is traced, and SciPy warns of some windows; pass a NumPy array"
    if not _is_name(call["window"]) and is_complex(dtype_of(call["window"])):
        return "window= is complex"
    if np.shape(call["Zxx"])[call["freq_axis"]] == 1 and not call["nfft"]:
        return "Zxx= has one frequency, of which no length follows; pass nfft="
    return None


@implements("scipy_dispatch.signal:istft", "Zxx", "window", refuse=_refuse_inverse)
def istft(
    Zxx: Any,  # noqa: N803  # SciPy's name
    fs: float = 1.0,
    window: Any = HANN,
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Array, Array]:
    """Supports tracing, and differentiation with respect to the transforms."""
    z = jnp.asarray(Zxx)
    if z.ndim < 2:
        raise ValueError("Input stft must be at least 2d!")
    if freq_axis == time_axis:
        raise ValueError("Must specify differing time and frequency axes!")
    if scaling not in ("psd", "spectrum"):
        raise ValueError(f"Parameter scaling={scaling!r} not in ['spectrum', 'psd']!")
    time_axis, freq_axis = one_axis(time_axis, z.ndim), one_axis(freq_axis, z.ndim)
    if freq_axis == time_axis:
        # SciPy raises different errors, depending on the axis.
        error = IndexError if time_axis == z.ndim - 1 else ValueError
        raise error("time_axis= and freq_axis= are the same axis")
    count = z.shape[freq_axis]
    whole = 2 * (count - 1) if input_onesided else count
    length = whole if nperseg is None else int(nperseg)
    if length < 1:
        raise ValueError("nperseg must be a positive integer")
    if nfft is None:
        nfft = length if input_onesided and length == whole + 1 else whole
        if nfft < length:
            raise ValueError(f"nperseg={length} is more than the {nfft} that the frequencies make")
    elif nfft < length:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    overlap = length // 2 if noverlap is None else int(noverlap)
    if overlap >= length:
        raise ValueError("noverlap must be less than nperseg.")
    cut = _Cut(length, overlap, int(nfft))
    win = _synthesis_window(window, length)
    starts = cut.step * np.arange(z.shape[time_axis])
    norm = np.zeros(int(starts[-1]) + length)
    for start in starts:
        norm[start : start + length] += win**2
    # Empty if half a segment has no elements, as in SciPy.
    kept = slice(length // 2, -(length // 2)) if boundary else slice(None)
    first, last, _ = kept.indices(norm.size)
    if not (norm[kept] > 1e-10).all():
        hint = "" if boundary else " Possibly due to missing boundary"
        warn_caller(f"NOLA condition failed, STFT may not be invertible.{hint}")
    factor = win.sum() if scaling == "spectrum" else np.sqrt(fs * np.sum(win**2))
    x = _inverse(
        z,
        win * factor,
        1 / np.where(norm > 1e-10, norm, 1.0),
        cut,
        bool(input_onesided),
        (first, last),
        time_axis,
        freq_axis,
    )
    times = np.arange(x.shape[0]) / float(fs)
    return jnp.asarray(times, default_float()), x


@partial(jax.jit, static_argnames=("cut", "onesided", "kept", "time_axis", "freq_axis"))
def _inverse(
    z: Array,
    window: Any,
    weights: Any,
    cut: _Cut,
    onesided: bool,
    kept: tuple[int, int],
    time_axis: int,
    freq_axis: int,
) -> Array:
    """Add the windowed segments at their positions, and divide by the sums of the windows."""
    z = _as_complex(jnp.moveaxis(z, (freq_axis, time_axis), (-2, -1)))
    inverse = jnp.fft.irfft if onesided else jnp.fft.ifft
    segments = jnp.swapaxes(inverse(z, cut.padded, -2)[..., : cut.length, :], -1, -2)
    real = _real(segments)
    segments = times_line(segments, jnp.asarray(window).astype(real))
    where = cut.step * np.arange(segments.shape[-2])[:, None] + np.arange(cut.length)
    x = jnp.zeros((*segments.shape[:-2], weights.size), segments.dtype)
    x = times_line(x.at[..., where].add(segments), jnp.asarray(weights).astype(real))
    x = x[..., slice(*kept)]
    return x if x.ndim == 1 else jnp.moveaxis(x, -1, time_axis - (freq_axis < time_axis))


def _as_complex(z: Array) -> Array:
    return z.astype(promoted(_at_least_single(z), np.complex64))


def _synthesis_window(window: Any, length: int) -> np.ndarray:
    if _is_name(window):
        return get_window(window, length)
    window = np.asarray(window)
    if window.ndim != 1:
        raise ValueError("window must be 1-D")
    if window.shape[0] != length:
        raise ValueError(f"window must have length of {length}")
    return window


def _refuse_trend(call: dict[str, Any]) -> str | None:
    return "data= has no elements" if 0 in jnp.shape(call["data"]) else None


@implements("scipy_dispatch.signal:detrend", "data", refuse=_refuse_trend)
def detrend(
    data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False
) -> Array:
    """Supports tracing and differentiation."""
    return without_trend(data, axis, type, bp)
