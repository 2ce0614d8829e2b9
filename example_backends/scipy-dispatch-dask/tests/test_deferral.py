"""Calls that the backend leaves to SciPy, and the reasons shown to the user."""

from __future__ import annotations

import re
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from comparison import computed, dispatchable, lazily, scipy_function, why_deferred
from scipy import ndimage

from spatch_core import BackendDeferredError

X = np.arange(42.0).reshape(6, 7) % 5
LAZY = da.from_array(X, chunks=(3, 4))
ONES = np.ones((3, 3))
LABELS = (X > 1) * 2
UNKNOWN = LAZY[LAZY[:, 0] > 1]

REASONS: list[tuple[str, dict[str, Any], str]] = [
    ("ndimage.sobel", {"input": LAZY, "output": np.zeros((6, 7))}, "output= is an array"),
    ("ndimage.sobel", {"input": UNKNOWN}, ".compute_chunk_sizes()"),
    ("ndimage.correlate", {"input": LAZY, "weights": LAZY}, "weights= is a Dask array"),
    ("ndimage.correlate", {"input": X, "weights": LAZY}, "weights= is a Dask array"),
    ("ndimage.gaussian_filter", {"input": LAZY, "sigma": [1, da.ones(())]}, "sigma= is a Dask"),
    ("ndimage.binary_erosion", {"input": LAZY, "iterations": 0}, "the whole array"),
    ("ndimage.binary_dilation", {"input": LAZY > 1, "iterations": 0}, "the whole array"),
    ("ndimage.uniform_filter", {"input": LAZY, "axes": (1, 0)}, "out of order"),
    ("ndimage.uniform_filter", {"input": LAZY, "size": 0}, "a window of 0 elements"),
    ("ndimage.median_filter", {"input": LAZY, "size": 3, "footprint": ONES}, "ignores size"),
    *(
        (f"ndimage.{name}", {"input": LAZY, "sigma": 1, "mode": ["wrap", "mirror"]}, "wrap around")
        for name in ("gaussian_laplace", "gaussian_gradient_magnitude")
    ),
    ("ndimage.zoom", {"input": LAZY, "zoom": 0.01}, "the result is empty"),
    ("ndimage.zoom", {"input": LAZY + 0j, "zoom": 2, "grid_mode": True}, "for complex numbers"),
    ("ndimage.rotate", {"input": LAZY > 1, "angle": 9}, "every rounding error"),
    ("ndimage.shift", {"input": LAZY, "shift": np.inf}, "not finite"),
    ("ndimage.map_coordinates", {"input": LAZY, "coordinates": LAZY[:2]}, "coordinates= is a Dask"),
    ("signal.csd", {"x": LAZY, "y": X[0]}, "different shapes"),
    ("ndimage.binary_opening", {"input": LAZY, "mask": X[:3]}, "another shape"),
    ("ndimage.binary_erosion", {"input": LAZY, "mask": list(LAZY > 1)}, "mask= is a list of Dask"),
    ("ndimage.binary_erosion", {"input": [LAZY[0]], "mask": LAZY[:1] > 1}, "input= is a list of"),
    ("ndimage.mean", {"input": LAZY, "labels": [tuple(LAZY[0]), X[0]]}, "labels= is a list of"),
    ("ndimage.label", {"input": LAZY, "output": np.int64}, "too many features"),
    ("ndimage.label", {"input": LAZY.astype(complex)}, "complex"),
    ("ndimage.minimum", {"input": LAZY, "labels": X > 1}, "no element has the label"),
    ("ndimage.mean", {"input": LAZY.astype(complex)}, "complex128"),
    ("ndimage.mean", {"input": LAZY.astype(np.float16)}, "float16 is not measured here"),
    ("ndimage.median", {"input": LAZY.astype(np.longdouble)}, " is not measured here"),
    ("ndimage.mean", {"input": LAZY, "labels": X[0]}, "another shape"),
    ("ndimage.mean", {"input": LAZY, "labels": X > 1, "index": [[1]]}, "index="),
    ("ndimage.mean", {"input": LAZY, "labels": X > 1, "index": da.ones(2)}, "index= is a Dask"),
    ("ndimage.mean", {"input": LAZY, "labels": X > 1, "index": [da.ones(())]}, "index= is a Dask"),
    (
        "ndimage.mean",
        {"input": LAZY, "labels": X, "index": da.zeros((), dtype=complex)},
        "complex128",
    ),
    ("ndimage.mean", {"input": LAZY, "labels": X > 1, "index": []}, "index= is empty"),
    *(
        ("ndimage.mean", {"input": LAZY, "labels": labels, "index": index}, reason)
        for labels, index, reason in (
            (LABELS, [0.5, 1.5], "floats, of which SciPy makes integers"),
            (LABELS, ["1"], "a list of the data type <U1"),
            (LABELS, 1j, "neither a number nor a flat list"),
            (LABELS, [2**63 + 1], "none of the data type int64"),
            (LABELS.astype(np.uint64), [-1, 1], "none of the data type uint64"),
            (LABELS.astype(complex), [1], "labels= are of the data type complex128"),
        )
    ),
    ("ndimage.fourier_shift", {"input": LAZY, "shift": 1, "n": 4}, "real transform"),
    ("ndimage.fourier_uniform", {"input": LAZY, "size": 0}, "size="),
    ("ndimage.fourier_uniform", {"input": LAZY, "size": [2, -1]}, "size="),
    ("fft.fftshift", {"x": LAZY[0, 0]}, "scalar"),
    ("fft.irfftn", {"x": LAZY[:, :1]}, "one element"),
    ("fft.irfft2", {"x": LAZY[:, :1]}, "one element"),
    ("fft.hfftn", {"x": LAZY[:1], "axes": (1, 0)}, "one element"),
    ("signal.welch", {"x": LAZY[:0]}, "x= is empty"),
    ("signal.convolve", {"in1": LAZY, "in2": LAZY}, "in2= is a Dask array"),
    ("signal.convolve", {"in1": LAZY, "in2": ONES[0]}, "numbers of dimensions"),
    ("signal.convolve", {"in1": LAZY, "in2": np.ones((9, 1)), "mode": "valid"}, "exchanges"),
    ("signal.convolve", {"in1": LAZY[:1], "in2": ONES}, "one element"),
    ("signal.fftconvolve", {"in1": LAZY, "in2": ONES, "axes": 0}, "not among axes="),
    ("signal.convolve2d", {"in1": LAZY, "in2": np.ones((9, 1)), "boundary": "wrap"}, "repeats"),
    ("signal.convolve2d", {"in1": LAZY, "in2": ONES, "boundary": "reflect"}, "not known"),
    ("signal.lfilter", {"b": [1.0], "a": [1.0], "x": LAZY, "zi": np.zeros((6, 0))}, "zi="),
    ("signal.resample", {"x": LAZY, "num": 3, "t": np.arange(6)}, "t="),
    ("signal.sawtooth", {"t": LAZY, "width": np.full((6, 7), 0.5)}, "width= is an array"),
    ("signal.gausspulse", {"t": LAZY, "retquad": True}, "more than one result"),
]


@pytest.mark.parametrize(("name", "arguments", "reason"), REASONS, ids=lambda each: str(each)[:25])
def test_the_reason_is_told(name: str, arguments: dict[str, Any], reason: str) -> None:
    """The reason is found without computing anything; a call that is forced raises with it."""
    assert reason in (why_deferred(name, **arguments) or "it was not deferred")
    with pytest.raises(BackendDeferredError, match=re.escape(reason)):
        lazily(name, **arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ndimage.sum", {"input": LAZY, "labels": X > 1, "index": []}),
        ("ndimage.center_of_mass", {"input": LAZY, "labels": X > 1, "index": []}),
        ("ndimage.fourier_uniform", {"input": LAZY, "size": 0}),
        ("ndimage.fourier_uniform", {"input": LAZY, "size": -1}),
        ("fft.irfftn", {"x": LAZY[:, :1]}),
        ("fft.hfft2", {"x": LAZY[:, :1]}),
    ],
    ids=lambda each: str(each)[:25],
)
def test_arguments_that_would_be_in_vain_are_still_honoured(
    name: str, arguments: dict[str, Any]
) -> None:
    """SciPy returns a result for them."""
    expected = scipy_function(name)(**_computed(arguments))
    with dask.config.set(scheduler="synchronous"):
        np.testing.assert_array_equal(dispatchable(name)(**arguments), expected)


ERRORS: list[tuple[str, dict[str, Any]]] = [
    ("ndimage.sobel", {"input": LAZY, "mode": "sideways"}),
    ("ndimage.sobel", {"input": LAZY, "no_such_argument": 2}),
    ("ndimage.minimum_filter", {"input": LAZY.astype(complex), "size": 3}),
    ("ndimage.gaussian_filter", {"input": LAZY, "sigma": "wide"}),
    ("ndimage.binary_erosion", {"input": LAZY, "iterations": "many"}),
    ("fft.fft", {"x": LAZY, "n": 0}),
    ("fft.fftn", {"x": LAZY, "axes": (0, 0)}),
    ("fft.dct", {"x": LAZY, "type": 7}),
    ("signal.savgol_filter", {"x": LAZY, "window_length": 99, "polyorder": 2}),
    ("signal.medfilt", {"volume": LAZY, "kernel_size": 2}),
]


@pytest.mark.parametrize(("name", "arguments"), ERRORS, ids=lambda each: str(each)[:25])
def test_errors_come_at_once_and_are_scipy_s(name: str, arguments: dict[str, Any]) -> None:
    """Errors are raised immediately, not when the result is computed."""
    eager = {key: X if value is LAZY else value for key, value in arguments.items()}
    with pytest.raises(Exception) as expected:  # noqa: PT011 - compare any error that SciPy raises
        scipy_function(name)(**_computed(eager))
    with pytest.raises(type(expected.value)):
        dispatchable(name)(**arguments)


def _computed(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value.compute(scheduler="synchronous") if isinstance(value, da.Array) else value
        for key, value in arguments.items()
    }


def several(windows: Any, axis: Any) -> Any:
    return np.stack([windows.min(axis=axis), windows.max(axis=axis)], axis=-1)


@pytest.mark.skipif(not hasattr(ndimage, "vectorized_filter"), reason="new in SciPy 1.16")
def test_several_results_a_window_are_left_to_scipy() -> None:
    """Only the function determines their number, and the probe shows it."""
    with dask.config.set(scheduler="synchronous"):
        result = dispatchable("ndimage.vectorized_filter")(LAZY, several, size=3)
    assert isinstance(result, np.ndarray)
    assert result.shape == (6, 7, 2)


def test_numpy_arrays_become_dask_arrays_where_dask_is_asked_for() -> None:
    """With ``type=``, NumPy arrays count as Dask arrays."""
    result = dispatchable("ndimage.sobel").invoke(type=da.Array)(X)
    np.testing.assert_array_equal(computed(result), scipy_function("ndimage.sobel")(X))
    assert isinstance(lazily("ndimage.label", [[0, 1], [1, 0]])[0], da.Array)
