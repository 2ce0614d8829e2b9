"""One call of every function of the backend, for tests that apply to all of them."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from comparison import scipy_function
from scipy import signal

from scipy_dispatch_dask._table import TABLES

ONES = np.ones((3, 3))
SECOND = np.random.default_rng(4).random((20, 20))
LABELS = np.arange(400).reshape(20, 20) // 90
B, A = signal.butter(3, 0.2)
SOS = signal.butter(3, 0.2, output="sos")


def spread(windows: Any, axis: Any = None) -> Any:
    return np.max(windows, axis=axis) - np.min(windows, axis=axis)


def copied(line: Any, out: Any) -> None:
    out[...] = line[: len(out)]


# The arguments other than the array, which is the first argument unless ARRAY names another.
ARRAY = {
    "signal.lfilter": "x",
    "signal.filtfilt": "x",
    "signal.sosfilt": "x",
    "signal.sosfiltfilt": "x",
    "signal.upfirdn": "x",
}

CALLS: dict[str, dict[str, Any]] = {
    "ndimage.convolve": {"weights": ONES},
    "ndimage.convolve1d": {"weights": [1, 2, 1]},
    "ndimage.correlate": {"weights": ONES},
    "ndimage.correlate1d": {"weights": [1, 2, 1]},
    "ndimage.gaussian_filter": {"sigma": 1},
    "ndimage.gaussian_filter1d": {"sigma": 1},
    "ndimage.gaussian_gradient_magnitude": {"sigma": 1},
    "ndimage.gaussian_laplace": {"sigma": 1},
    "ndimage.generic_filter": {"function": spread, "size": 3},
    "ndimage.generic_filter1d": {"function": copied, "filter_size": 3},
    "ndimage.laplace": {},
    "ndimage.maximum_filter": {"size": 3},
    "ndimage.maximum_filter1d": {"size": 3},
    "ndimage.median_filter": {"size": 3},
    "ndimage.minimum_filter": {"size": 3},
    "ndimage.minimum_filter1d": {"size": 3},
    "ndimage.percentile_filter": {"percentile": 20, "size": 3},
    "ndimage.prewitt": {},
    "ndimage.rank_filter": {"rank": 2, "size": 3},
    "ndimage.sobel": {},
    "ndimage.uniform_filter": {},
    "ndimage.uniform_filter1d": {"size": 3},
    "ndimage.vectorized_filter": {"function": spread, "size": 3},
    "ndimage.fourier_gaussian": {"sigma": 1},
    "ndimage.fourier_shift": {"shift": 1},
    "ndimage.fourier_uniform": {"size": 3},
    "ndimage.affine_transform": {"matrix": np.array([[0.9, 0.1], [-0.1, 0.9]])},
    "ndimage.map_coordinates": {"coordinates": np.indices((15, 12)) * 1.25},
    "ndimage.rotate": {"angle": 30},
    "ndimage.shift": {"shift": 1.5},
    "ndimage.zoom": {"zoom": 1.5},
    "ndimage.spline_filter": {},
    "ndimage.spline_filter1d": {},
    "ndimage.center_of_mass": {},
    "ndimage.label": {},
    "ndimage.maximum": {"labels": LABELS, "index": [1, 2]},
    "ndimage.mean": {"labels": LABELS, "index": [1, 2]},
    "ndimage.median": {"labels": LABELS, "index": [1, 2]},
    "ndimage.minimum": {"labels": LABELS, "index": [1, 2]},
    "ndimage.standard_deviation": {"labels": LABELS},
    "ndimage.sum": {"labels": LABELS, "index": 2},
    "ndimage.sum_labels": {"labels": LABELS, "index": [1, 2]},
    "ndimage.variance": {},
    "ndimage.binary_closing": {},
    "ndimage.binary_dilation": {},
    "ndimage.binary_erosion": {},
    "ndimage.binary_hit_or_miss": {},
    "ndimage.binary_opening": {},
    "ndimage.black_tophat": {"size": 3},
    "ndimage.grey_closing": {"size": 3},
    "ndimage.grey_dilation": {"size": 3},
    "ndimage.grey_erosion": {"size": 3},
    "ndimage.grey_opening": {"size": 3},
    "ndimage.morphological_gradient": {"size": 3},
    "ndimage.morphological_laplace": {"size": 3},
    "ndimage.white_tophat": {"size": 3},
    "signal.convolve": {"in2": ONES},
    "signal.convolve2d": {"in2": ONES},
    "signal.correlate": {"in2": ONES},
    "signal.correlate2d": {"in2": ONES},
    "signal.fftconvolve": {"in2": ONES},
    "signal.oaconvolve": {"in2": ONES},
    "signal.gauss_spline": {"n": 3},
    "signal.decimate": {"q": 2, "ftype": "fir"},
    "signal.detrend": {},
    "signal.filtfilt": {"b": B, "a": A},
    "signal.hilbert": {},
    "signal.hilbert2": {},
    "signal.lfilter": {"b": B, "a": A},
    "signal.medfilt": {},
    "signal.medfilt2d": {},
    "signal.order_filter": {"domain": ONES, "rank": 4},
    "signal.resample": {"num": 10},
    "signal.resample_poly": {"up": 3, "down": 2},
    "signal.savgol_filter": {"window_length": 5, "polyorder": 2},
    "signal.sosfilt": {"sos": SOS},
    "signal.sosfiltfilt": {"sos": SOS},
    "signal.upfirdn": {"h": [1.0, 2.0, 1.0]},
    "signal.chirp": {"f0": 1, "t1": 10, "f1": 2},
    "signal.gausspulse": {},
    "signal.sawtooth": {},
    "signal.square": {},
    "signal.czt": {},
    "signal.coherence": {"y": SECOND, "nperseg": 8, "detrend": False},
    "signal.csd": {"y": SECOND, "nperseg": 8},
    "signal.periodogram": {},
    "signal.spectrogram": {"nperseg": 8},
    "signal.stft": {"nperseg": 8},
    "signal.welch": {"nperseg": 8},
    "signal.zoom_fft": {"fn": 0.2},
    **{
        f"fft.{inverse}{kind}fft{dimensions}": {}
        for inverse in ("", "i")
        for kind in ("", "r", "h")
        for dimensions in ("", "2", "n")
    },
    **{f"fft.{name}": {} for name in ("dct", "idct", "dst", "idst")},
    **{f"fft.{name}n": {} for name in ("dct", "idct", "dst", "idst")},
    "fft.fht": {"dln": 0.1, "mu": 0.5},
    "fft.ifht": {"dln": 0.1, "mu": 0.5},
    "fft.fftshift": {},
    "fft.ifftshift": {},
}


def an_array(name: str) -> np.ndarray:
    """Return a suitable array for the function `name`."""
    x = np.random.default_rng(3).random((20, 20))
    # Random features for morphology; values away from 0 for functions that divide by a sum.
    return x > 0.4 if name.startswith("ndimage.binary_") or name == "ndimage.label" else x


def arguments(name: str, x: Any) -> dict[str, Any]:
    """Return all arguments of the call by name."""
    first = ARRAY.get(name) or next(iter(signature(scipy_function(name)).parameters))
    return {first: x, **CALLS[name]}


def in_table() -> set[str]:
    return {
        f"{module.removeprefix('scipy_dispatch.')}.{name}"
        for module, table in TABLES.items()
        for name in table
    }


def present(name: str) -> bool:
    """Return whether the installed SciPy has the function."""
    try:
        scipy_function(name)
    except AttributeError:
        return False
    return True


SERVED = sorted(name for name in in_table() if present(name))
