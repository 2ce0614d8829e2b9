"""Signals: convolution with small kernels, filters along lines, resampling, and spectra."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from comparison import (
    FLOATS,
    INTEGERS,
    assert_same,
    check,
    computed,
    dask_arrays,
    lazily,
    scipy_function,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

from scipy_dispatch.testing import EXACT, Tolerance

LAPLACIAN = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])

convolution_modes = st.sampled_from(("full", "same", "valid"))


def a_kernel(draw: Any, ndim: int, largest: int = 5) -> np.ndarray:
    shape = draw(st.lists(st.integers(1, largest), min_size=ndim, max_size=ndim))
    dtype = draw(st.sampled_from((np.int64, np.float32, np.float64, np.complex128)))
    return (np.random.default_rng(draw(st.integers(0, 999))).normal(size=shape) * 9).astype(dtype)


def check_unless_deferred(name: str, x: Any, lazy: Any, kernel: Any, **arguments: Any) -> None:
    reason = check(name, x, lazy, kernel, may_defer=True, **arguments)
    assert reason is None or "in2= is longer than in1=" in reason


# SciPy casts uninitialized memory and warns about its values.
@pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered in cast")
@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve", "oaconvolve"])
@given(data=st.data())
def test_convolution(name: str, data: Any) -> None:
    """Another order of the terms or another transform length leads to other rounding errors."""
    x, lazy = data.draw(dask_arrays((*INTEGERS, *FLOATS, np.complex64)))
    kernel = a_kernel(data.draw, x.ndim)
    arguments = {"mode": data.draw(convolution_modes)}
    if name in ("convolve", "correlate"):
        arguments["method"] = data.draw(st.sampled_from(("auto", "direct", "fft")))
    check_unless_deferred(f"signal.{name}", x, lazy, kernel, **arguments)


@pytest.mark.parametrize("name", ["fftconvolve", "oaconvolve"])
@given(data=st.data())
def test_convolution_along_some_axes(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays(FLOATS, min_dims=2, max_dims=2))
    kernel = np.array([[1.0, -2.0, 3.0]])
    arguments = {
        "mode": data.draw(convolution_modes),
        "axes": data.draw(st.sampled_from((1, [-1]))),
    }
    check_unless_deferred(f"signal.{name}", x, lazy, kernel, **arguments)


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
@given(data=st.data())
def test_convolution_in_the_plane(name: str, data: Any) -> None:
    """Each element is summed in the same order, so that results are equal bit for bit."""
    x, lazy = data.draw(dask_arrays((*INTEGERS, *FLOATS), min_dims=2, max_dims=2))
    boundary = data.draw(st.sampled_from(("fill", "wrap", "symm")))
    arguments = {
        "mode": data.draw(convolution_modes),
        "boundary": boundary,
        "fillvalue": data.draw(st.sampled_from((0, 2.5))),
    }
    kernel = a_kernel(data.draw, 2, largest=4)
    check_unless_deferred(f"signal.{name}", x, lazy, kernel, **arguments)


def test_a_kernel_larger_than_a_block_does_not_warn() -> None:
    """SciPy warns about a kernel larger than the array, not larger than a block."""
    x = np.arange(40.0).reshape(4, 10) % 7
    lazy = dask.array.from_array(x, chunks=(4, 1))
    check("signal.medfilt", x, lazy, (3, 7))
    with pytest.warns(UserWarning, match="exceeds volume extent"):
        computed(lazily("signal.medfilt", lazy, (5, 3)))


@given(data=st.data())
def test_order_filter(data: Any) -> None:
    x, lazy = data.draw(dask_arrays((np.uint8, *FLOATS), min_dims=2, max_dims=2))
    domain = np.random.default_rng(data.draw(st.integers(0, 99))).random((3, 5)) > 0.4
    domain[1, 2] = True
    check("signal.order_filter", x, lazy, domain, data.draw(st.integers(0, 1)))


SOS = signal.butter(4, 0.3, output="sos")
B, A = signal.butter(3, 0.2)

# The function, the array's parameter, other arguments, and a tolerance if these make it exact.
LINES: list[tuple[str, str, dict[str, Any], Tolerance | None]] = [
    ("lfilter", "x", {"b": B, "a": A}, EXACT),
    ("filtfilt", "x", {"b": B, "a": A}, EXACT),
    ("filtfilt", "x", {"b": B, "a": A, "method": "gust"}, None),
    ("sosfilt", "x", {"sos": SOS}, EXACT),
    ("sosfiltfilt", "x", {"sos": SOS}, EXACT),
    ("savgol_filter", "x", {"window_length": 7, "polyorder": 2}, None),
    ("savgol_filter", "x", {"window_length": 5, "polyorder": 3, "mode": "wrap"}, EXACT),
    ("detrend", "data", {}, None),
    ("detrend", "data", {"type": "constant"}, None),
    ("detrend", "data", {"bp": [4, 9]}, None),
    ("hilbert", "x", {}, None),
    ("hilbert", "x", {"N": 24}, None),
    ("resample", "x", {"num": 11}, None),
    ("resample", "x", {"num": 90, "window": "hann"}, None),
    ("resample_poly", "x", {"up": 3, "down": 2}, EXACT),
    ("resample_poly", "x", {"up": 4, "down": 6, "padtype": "line"}, EXACT),
    ("resample_poly", "x", {"up": 5, "down": 5}, EXACT),
    ("decimate", "x", {"q": 2}, EXACT),
    ("decimate", "x", {"q": 3, "ftype": "fir"}, EXACT),
    ("decimate", "x", {"q": 3, "ftype": "fir", "zero_phase": False}, EXACT),
    ("upfirdn", "x", {"h": [1.0, 2.0, -1.0], "up": 3, "down": 2}, EXACT),
    ("upfirdn", "x", {"h": [1.0, 2.0, -1.0, 4.0], "down": 5, "mode": "smooth"}, EXACT),
    ("czt", "x", {"m": 7}, None),
    ("czt", "x", {}, None),
    ("zoom_fft", "x", {"fn": [0.1, 0.4], "m": 9}, None),
]


@pytest.mark.parametrize(("name", "parameter", "arguments", "tolerance"), LINES)
@settings(max_examples=8)
@given(data=st.data())
def test_along_lines(
    name: str, parameter: str, arguments: dict[str, Any], tolerance: Tolerance | None, data: Any
) -> None:
    """Lines are not split, so each is filtered as in SciPy."""
    x, lazy = data.draw(dask_arrays((np.int16, np.float64), min_side=31, max_side=33, max_dims=2))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    check(
        f"signal.{name}",
        x,
        lazy,
        **arguments,
        axis=axis,
        tolerance=tolerance,
        parameter=parameter,
    )


@settings(max_examples=8)
@given(data=st.data())
def test_single_precision(data: Any) -> None:
    """The data type equals SciPy's for functions that preserve single precision."""
    x, lazy = data.draw(dask_arrays((np.float32,), min_side=31, max_side=33, max_dims=2))
    sos = SOS.astype(np.float32)
    check("signal.sosfilt", x, lazy, sos=sos, parameter="x")
    check("signal.resample_poly", x, lazy, 3, 2)
    check("signal.savgol_filter", x, lazy, 5, 2, mode="nearest")
    check("signal.hilbert", x, lazy)


@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero) encountered")
@pytest.mark.parametrize(
    "name", ["periodogram", "spectrogram", "stft", "welch", "csd", "coherence"]
)
@given(data=st.data())
def test_spectra(name: str, data: Any) -> None:
    """The frequencies and times are computed immediately, the spectrum lazily."""
    x, lazy = data.draw(dask_arrays((np.int16, *FLOATS), min_side=31, max_side=33, max_dims=3))
    arguments: dict[str, Any] = {
        "fs": data.draw(st.sampled_from((1.0, 50.0))),
        "axis": data.draw(st.integers(-x.ndim, x.ndim - 1)),
        "nfft": data.draw(st.sampled_from((None, 64))),
        "window": data.draw(st.sampled_from(("boxcar", "hann"))),
    }
    if name == "coherence":
        arguments["detrend"] = False  # or the power at frequency 0 is a rounding error
    else:
        arguments["return_onesided"] = data.draw(st.booleans())
    if name != "periodogram":
        arguments["nperseg"] = 12
    if name == "spectrogram":
        arguments["mode"] = data.draw(st.sampled_from(("psd", "complex", "magnitude")))
    second: list[Any] = []
    if name in ("csd", "coherence"):
        second = [np.random.default_rng(5).normal(size=x.shape)]
    expected = scipy_function(f"signal.{name}")(x, *second, **arguments)
    for others in ([], [da.from_array(each, chunks=7) for each in second]):
        results = lazily(f"signal.{name}", lazy, *(others or second), **arguments)
        for scale, each in zip(results[:-1], expected[:-1], strict=True):
            assert_same(scale, each)
        assert_same(computed(results[-1]), expected[-1], f"signal.{name}", x)


def test_the_cross_spectrum_of_an_array_and_itself_is_real() -> None:
    x = np.random.default_rng(5).normal(size=(9, 40))
    lazy = da.from_array(x, chunks=7)
    _, power = lazily("signal.csd", lazy, lazy, nperseg=8)
    assert_same(computed(power), signal.csd(x, x, nperseg=8)[1], "signal.csd", x)
    _, power = lazily("signal.csd", lazy, da.from_array(x.copy(), chunks=7), nperseg=8)
    expected = signal.csd(x, x.copy(), nperseg=8)[1]
    assert_same(computed(power), expected, "signal.csd", x)
