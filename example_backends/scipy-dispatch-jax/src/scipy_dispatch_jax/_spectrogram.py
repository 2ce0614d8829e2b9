"""Functions of `scipy_dispatch.signal` that are made of those in `_spectrum`, and `hilbert`."""

from __future__ import annotations

from inspect import signature

import numpy as np
from scipy import signal as scipy_signal

from ._arrays import default_float, dtype_of, is_complex, promoted, times_line
from ._axes import one_axis
from ._implement import implements
from ._jax import Array, jnp, lax
from ._spectrum import _cross, _cut, _frequencies, _refuse, _signal, _stft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TUKEY: Any = signature(scipy_signal.spectrogram).parameters["window"].default


def _refuse_whole(call: dict[str, Any]) -> str | None:
    return _refuse({**call, "window": "boxcar"} if call["window"] is None else call)


@implements("scipy_dispatch.signal:periodogram", "x", "window", refuse=_refuse_whole)
def periodogram(
    x: Any,
    fs: float = 1.0,
    window: Any = "boxcar",
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Array, Array]:
    """Supports tracing and differentiation."""
    x = jnp.asarray(x)
    axis = one_axis(axis, x.ndim)
    length = x.shape[axis]
    if nfft is not None and nfft < length:
        x = lax.slice_in_dim(x, 0, nfft, axis=axis)
        length, nfft = nfft, None
    window = "boxcar" if window is None else window
    if hasattr(window, "size") and window.size != length:
        raise ValueError(
            "the size of the window must be the same size of the input on the specified axis"
        )
    return _cross(
        x, x, fs, window, length, 0, nfft, detrend, return_onesided, scaling, axis, "mean"
    )


def _refuse_segments(call: dict[str, Any]) -> str | None:
    if call["mode"] in ("angle", "phase"):
        return f"mode={call['mode']!r} depends on the last bits where a transform is close to 0"
    return _refuse(call)


@implements("scipy_dispatch.signal:spectrogram", "x", "window", refuse=_refuse_segments)
def spectrogram(
    x: Any,
    fs: float = 1.0,
    window: Any = TUKEY,
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> tuple[Array, Array, Array]:
    """Supports tracing and differentiation."""
    if mode not in ("psd", "complex", "magnitude"):
        raise ValueError(f"unknown value for mode {mode}")
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Unknown scaling: {scaling!r}")
    x, onesided = jnp.asarray(x), bool(return_onesided)
    axis = one_axis(axis, x.ndim)
    cut, values = _cut(x.shape[axis], window, nperseg, 0, nfft)
    overlap = cut.length // 8 if noverlap is None else int(noverlap)
    if overlap >= cut.length:
        raise ValueError("noverlap must be less than nperseg.")
    cut = cut._replace(overlap=overlap)
    scale = "psd" if scaling == "density" else "spectrum"
    result = _stft(x, values, float(fs), cut, detrend, onesided, None, False, axis, scale)
    if mode == "magnitude":
        result = jnp.abs(result)
    elif mode == "psd":
        result = result.real**2 + result.imag**2
        if onesided:
            # All frequencies except the first, and the last of an even length, count twice.
            end = result.shape[axis] - (cut.padded % 2 == 0)
            twice = np.r_[1.0, np.full(end - 1, 2.0), np.ones(result.shape[axis] - end)]
            line = jnp.asarray(twice[: result.shape[axis]], result.dtype)
            result = jnp.moveaxis(times_line(jnp.moveaxis(result, axis, -1), line), -1, axis)
    times = (cut.length / 2 + cut.step * np.arange(result.shape[-1])) / float(fs)
    frequencies = _frequencies(cut.padded, fs, onesided)
    return frequencies, jnp.asarray(times, default_float()), result


def _refuse_analytic(call: dict[str, Any]) -> str | None:
    dtype = dtype_of(call["x"])
    if 0 in jnp.shape(call["x"]) or not jnp.shape(call["x"]):
        return "x= has no elements, or no axis"
    if is_complex(dtype) or dtype == np.float16:
        return f"x= is of {dtype}, and SciPy takes real numbers of single or double precision"
    return None


@implements("scipy_dispatch.signal:hilbert", "x", refuse=_refuse_analytic)
def hilbert(x: Any, N: Any = None, axis: int = -1) -> Array:  # noqa: N803  # SciPy's name
    """Supports tracing and differentiation."""
    x = jnp.asarray(x)
    axis = one_axis(axis, x.ndim)
    length = x.shape[axis] if N is None else N
    if length <= 0:
        raise ValueError("N must be positive.")
    factors = np.zeros(length)
    factors[: length // 2 + 1] = 1
    factors[1 : (length + 1) // 2] = 2
    line = _signal(x, axis)
    spectrum = jnp.fft.fft(line, length)
    result = jnp.fft.ifft(times_line(spectrum, jnp.asarray(factors, line.dtype)))
    return jnp.moveaxis(result.astype(promoted(line.dtype, np.complex64)), -1, axis)
