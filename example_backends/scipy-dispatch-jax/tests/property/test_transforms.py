"""Transforms, convolutions and spectra with samples of settings, compared with SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from comparison import check, has_64_bits
from hypothesis import given, settings
from hypothesis import strategies as st

NORMS = st.sampled_from([None, "backward", "ortho", "forward"])
FOURIER = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")


@st.composite
def arrays(draw: Any, shape: tuple[int, ...], *, is_complex: bool | None = None) -> np.ndarray:
    random = np.random.default_rng(draw(st.integers(0, 99)))
    real, complex_ = (np.float64, np.complex128) if has_64_bits() else (np.float32, np.complex64)
    if is_complex is None:
        is_complex = draw(st.booleans())
    if is_complex:
        return (random.normal(size=shape) * (1 - 2j) + 1j).astype(complex_)
    dtype = draw(st.sampled_from([real, real, np.int16, np.uint8]))
    return random.uniform(0, 50, shape).astype(dtype)


@pytest.mark.parametrize("name", FOURIER)
@given(data=st.data())
def test_fourier_transforms(name: str, double: bool, data: Any) -> None:
    x = data.draw(arrays((3, 4, 2, 5), is_complex=False if name in ("rfft", "ihfft") else None))
    axes = data.draw(st.permutations(range(4)))[: data.draw(st.integers(1, 4))]
    lengths = st.lists(st.sampled_from([-1, 1, 3, 6]), min_size=len(axes), max_size=len(axes))
    s, norm = data.draw(st.none() | lengths), data.draw(NORMS)
    if s is not None and name in ("irfft", "hfft"):
        s[-1] = 6  # releases of SciPy differ for -1 there
    check(f"fft.{name}n", x, s, axes, norm)
    n = data.draw(st.sampled_from([None, 2, 7]))
    check(f"fft.{name}", x, n=n, axis=axes[0] - 4, norm=norm)
    if len(axes) == 2:
        check(f"fft.{name}2", x, s=s, axes=axes, norm=norm)


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@settings(max_examples=12)
@given(data=st.data())
def test_cosine_transforms(name: str, double: bool, data: Any) -> None:
    x = data.draw(arrays((3, 4, 2)))
    orthogonalize = None if np.iscomplexobj(x) else data.draw(st.sampled_from([None, True, False]))
    type, axis, norm = data.draw(st.integers(1, 4)), data.draw(st.integers(-3, 2)), data.draw(NORMS)
    if data.draw(st.booleans()):
        n = data.draw(st.sampled_from([None, 3, 6]))
        check(f"fft.{name}", x, type, n, axis, norm, orthogonalize=orthogonalize)
    else:
        axes = data.draw(st.permutations(range(3)))[:2]
        check(f"fft.{name}n", x, type, (3, 5), axes, norm, orthogonalize=orthogonalize)


CONVOLUTIONS = ["convolve", "correlate", "fftconvolve", "convolve2d", "correlate2d"]


@pytest.mark.parametrize("name", CONVOLUTIONS)
@given(data=st.data())
def test_convolutions(name: str, double: bool, data: Any) -> None:
    shapes = st.sampled_from([(4, 5), (2, 3), (1, 4), (6, 1)])
    first = data.draw(shapes.flatmap(arrays))
    second = data.draw(shapes.flatmap(arrays))
    mode = data.draw(st.sampled_from(["full", "same", "valid"]))
    given: dict[str, Any] = {}
    if name.endswith("2d"):
        fits = all(k <= n for n, k in zip(first.shape, second.shape, strict=True))
        boundary = data.draw(st.sampled_from(["fill", "wrap", "symm"] if fits else ["fill"]))
        given = {"boundary": boundary, "fillvalue": data.draw(st.integers(-1, 1))}
        if "u" in (first.dtype.kind, second.dtype.kind):
            given["fillvalue"] = 1
    elif name == "fftconvolve":
        given = {"axes": data.draw(st.sampled_from([None, 0, (1,), (-1, 0)]))}
    else:
        given = {"method": data.draw(st.sampled_from(["auto", "direct", "fft"]))}
    check(f"signal.{name}", first, second, mode=mode, **given)


@settings(max_examples=8)
@given(data=st.data())
def test_trends(double: bool, data: Any) -> None:
    x = data.draw(arrays((4, 9, 2)))
    kind = data.draw(st.sampled_from(["linear", "constant"]))
    axis, breaks = data.draw(st.sampled_from([(1, 0), (1, [3, 7]), (-2, 4), (0, 2), (-1, 1)]))
    check("signal.detrend", x, axis, kind, breaks)


WINDOWS = st.sampled_from(["hann", ("kaiser", 2.0), np.hanning(10)[1:9]])


@pytest.mark.parametrize("name", ["welch", "csd", "stft", "periodogram", "spectrogram"])
@given(data=st.data())
def test_spectra(name: str, double: bool, data: Any) -> None:
    shape, axis = data.draw(st.sampled_from([((25,), -1), ((2, 25), 1), ((25, 2), 0)]))
    x = data.draw(arrays(shape, is_complex=False))
    others = [data.draw(arrays(shape, is_complex=False))] if name == "csd" else []
    window = data.draw(WINDOWS)
    given: dict[str, Any] = {
        "fs": data.draw(st.sampled_from([1.0, 4])),
        "window": window.astype(x.dtype) if hasattr(window, "dtype") else window,
        "nperseg": 8,
        "noverlap": data.draw(st.sampled_from([None, 0, 3])),
        "nfft": data.draw(st.sampled_from([None, 11])),
        "detrend": data.draw(st.sampled_from([False, "constant", "linear"])),
        "return_onesided": data.draw(st.booleans()),
        "axis": axis,
    }
    if name == "stft":
        boundaries = [None, "zeros", "even", "constant"]
        boundaries += ["odd"] if x.dtype.kind == "f" else []
        given["boundary"] = data.draw(st.sampled_from(boundaries))
        given["padded"] = data.draw(st.booleans())
        given["scaling"] = data.draw(st.sampled_from(["spectrum", "psd"]))
    else:
        given["scaling"] = data.draw(st.sampled_from(["density", "spectrum"]))
    if name == "spectrogram":
        given["mode"] = data.draw(st.sampled_from(["psd", "complex", "magnitude"]))
    if name == "periodogram":
        del given["nperseg"], given["noverlap"]
        given["window"] = data.draw(st.sampled_from(["hann", None]))
    if name in ("welch", "csd"):
        given["average"] = data.draw(st.sampled_from(["mean", "median"]))
    if hasattr(window, "dtype") and x.dtype.kind != "f":
        given["window"] = "hann"
    check(f"signal.{name}", x, *others, **given)


@settings(max_examples=8)
@given(data=st.data())
def test_signals_of_spectra(double: bool, data: Any) -> None:
    """The windows have a sum other than 0 everywhere."""
    onesided = data.draw(st.booleans())
    order = data.draw(st.permutations(range(3)))
    z = data.draw(arrays((2, 5 if onesided else 8, 6), is_complex=True)).transpose(order)
    check(
        "signal.istft",
        z,
        fs=data.draw(st.sampled_from([1.0, 4])),
        window=data.draw(st.sampled_from(["boxcar", "hamming"])),
        noverlap=data.draw(st.sampled_from([None, 5])),
        nfft=data.draw(st.sampled_from([None, 10])),
        nperseg=8,
        input_onesided=onesided,
        boundary=data.draw(st.booleans()),
        time_axis=order.index(2),
        freq_axis=order.index(1) - data.draw(st.sampled_from([0, 3])),
        scaling=data.draw(st.sampled_from(["spectrum", "psd"])),
    )
