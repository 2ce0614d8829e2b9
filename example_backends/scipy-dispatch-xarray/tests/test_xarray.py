"""DataArrays in and out: the values are SciPy's, everything else is the argument's."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import xarray as xr

from scipy_dispatch import backend_opts, fft, ndimage, signal
from scipy_dispatch_xarray._wrapping import KEPT
from spatch_core import BackendDeferredError

VALUES = np.random.default_rng(0).random((12, 10))
ONES = np.ones((3, 3))

SIZE = {"size": 3}


ARGUMENTS: dict[str, dict[str, Any]] = {
    "affine_transform": {"matrix": np.eye(2) * 0.9},
    "chirp": {"f0": 1, "t1": 10, "f1": 2},
    "filtfilt": {"b": [1.0], "a": [1.0, 0.3], "padlen": 3},
    "gaussian_filter": {"sigma": 1},
    "gaussian_filter1d": {"sigma": 1},
    "gaussian_gradient_magnitude": {"sigma": 1},
    "gaussian_laplace": {"sigma": 1},
    "generic_filter": {"function": np.mean, "size": 3},
    "generic_filter1d": {
        "function": lambda line, out: np.copyto(out, line[1:-1]),
        "filter_size": 3,
    },
    "generic_gradient_magnitude": {"derivative": lambda x, *args: x.copy()},
    "generic_laplace": {"derivative2": lambda x, *args: x.copy()},
    "lfilter": {"b": [1.0], "a": [1.0, 0.3]},
    "order_filter": {"domain": ONES, "rank": 4},
    "uniform_filter1d": SIZE,
    "maximum_filter1d": SIZE,
    "minimum_filter1d": SIZE,
    "percentile_filter": {"percentile": 20, "size": 3},
    "rank_filter": {"rank": 2, "size": 3},
    "rotate": {"angle": 30, "reshape": False},
    "savgol_filter": {"window_length": 5, "polyorder": 2},
    "shift": {"shift": 1.5},
    "sosfilt": {"sos": [[1.0, 0, 0, 1, 0.3, 0]]},
    "sosfiltfilt": {"sos": [[1.0, 0, 0, 1, 0.3, 0]], "padlen": 3},
    "vectorized_filter": {"function": np.mean, "size": 3},
    "watershed_ift": {"markers": np.eye(12, 10, dtype=np.int16)},
    "convolve1d": {"weights": [1.0, 2, 1]},
    "correlate1d": {"weights": [1.0, 2, 1]},
    "fourier_ellipsoid": SIZE,
    "fourier_uniform": SIZE,
    "fourier_gaussian": {"sigma": 1},
    "fourier_shift": {"shift": 1},
}
WITH_SIZE = (
    "grey_",
    "morphological_",
    "_tophat",
    "maximum_filter",
    "minimum_filter",
    "median_filter",
)


def given(identifier: str) -> dict[str, Any]:
    module, _, name = identifier.partition(":")
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    if module.endswith("signal") and ("convolve" in name or "correlate" in name):
        return {"in2": ONES, "mode": "same"}
    if name in ("convolve", "correlate"):
        return {"weights": ONES}
    return SIZE if any(part in name for part in WITH_SIZE) else {}


def data_array(values: Any, **more: Any) -> xr.DataArray:
    return xr.DataArray(
        values,
        dims=("y", "x"),
        coords={
            "y": np.arange(12.0),
            "x": list("abcdefghij"),
            "lat": (("y", "x"), VALUES + 50),
            "time": 7,
        },
        name="height",
        attrs={"units": "m"},
        **more,
    )


def functions(identifier: str) -> tuple[Any, Any]:
    module, _, name = identifier.partition(":")
    function = getattr(import_module(module), name, None)
    if function is None:
        pytest.skip(f"this SciPy has no {name}")
    return function, getattr(import_module(module.replace("_dispatch.", ".")), name)


def values_of(name: str) -> Any:
    return (VALUES * 200).astype(np.uint8) if name.endswith("watershed_ift") else VALUES


def assert_kept(result: Any, expected: Any, array: xr.DataArray) -> None:
    assert isinstance(result, xr.DataArray)
    assert result.dtype == expected.dtype
    xr.testing.assert_identical(result.compute(), array.compute().copy(data=expected))


@pytest.mark.parametrize("identifier", KEPT)
def test_everything_but_the_values_stays(identifier: str) -> None:
    """For every function in the table, and in every part of a result with several."""
    function, scipys = functions(identifier)
    values = values_of(identifier)
    array = data_array(values.copy())
    expected = scipys(**{KEPT[identifier]: values.copy()}, **given(identifier))
    result = function(**{KEPT[identifier]: array}, **given(identifier))
    if isinstance(expected, tuple):
        assert result[1:] == expected[1:]
        result, expected = result[0], expected[0]
    assert_kept(result, expected, array)
    xr.testing.assert_identical(array, data_array(values))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (ndimage.gaussian_filter, {"sigma": 1}),
        (ndimage.sobel, {"axis": "y"}),
        (ndimage.binary_erosion, {}),
        (signal.sosfilt, {"sos": [[1.0, 0, 0, 1, 0.3, 0]], "axis": "x"}),
    ],
    ids=["gaussian_filter", "sobel", "binary_erosion", "sosfilt"],
)
def test_dask_inside_stays_lazy_and_in_its_blocks(function: Any, arguments: Any) -> None:
    name = f"{function.__module__}:{function.__name__}"
    array = data_array(da.from_array(VALUES, chunks=(6, 5)))
    with backend_opts(trace=True) as trace:
        result = function(**{KEPT[name]: array}, **arguments)
    assert [event.backend for event in trace if str(event.outcome) == "called"] == [
        "xarray",
        "dask",
    ]
    assert isinstance(result.data, da.Array)
    assert result.data.npartitions > 1
    expected = function(**{KEPT[name]: data_array(VALUES)}, **arguments)
    assert_kept(result, expected.values, array)


def test_jax_inside_stays_in_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")
    pytest.importorskip("scipy_dispatch_jax")
    result = ndimage.gaussian_filter(data_array(jnp.asarray(VALUES, np.float32)), 1)
    assert isinstance(result.data, type(jnp.ones(1)))
    assert result.dims == ("y", "x")


def test_axes_may_be_named() -> None:
    array = data_array(VALUES)
    for named, numbered in (
        (ndimage.sobel(array, axis="y"), ndimage.sobel(array, axis=0)),
        (
            ndimage.rotate(array, 20, axes=("y", "x"), reshape=False),
            ndimage.rotate(array, 20, axes=(0, 1), reshape=False),
        ),
        (signal.savgol_filter(array, 5, 2, axis="x"), signal.savgol_filter(array, 5, 2)),
    ):
        xr.testing.assert_identical(named, numbered)
    with pytest.raises(ValueError, match="'z' not found in array dimensions"):
        ndimage.sobel(array, axis="z")


def test_other_arrays_are_put_into_the_same_order() -> None:
    array, mask = data_array(VALUES > 0.4), data_array(VALUES > 0.2)
    expected = ndimage.binary_dilation(array, mask=mask.values)
    xr.testing.assert_identical(ndimage.binary_dilation(array, mask=mask.T), expected)
    kernel = xr.DataArray(ONES, dims=("a", "b"))
    xr.testing.assert_identical(ndimage.correlate(array, kernel), ndimage.correlate(array, ONES))
    with pytest.raises(ValueError, match="exact"):
        ndimage.binary_dilation(array, mask=mask.assign_coords(y=np.arange(12.0) + 1))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda f, x: f(ndimage.zoom)(x, 2), "other coordinates"),
        (lambda f, x: f(fft.fft)(x), "other coordinates"),
        (lambda f, x: f(signal.convolve)(x, ONES), "mode='full' has another shape"),
        (lambda f, x: f(signal.hilbert)(x, 5), "another shape with N="),
        (
            lambda f, x: f(ndimage.affine_transform)(x, np.eye(2), output_shape=(3, 3)),
            "output_shape",
        ),
        (lambda f, x: f(ndimage.rotate)(x, 30), "reshape=True"),
        (lambda f, x: f(ndimage.sobel)(x, output=np.ones((12, 10))), "output= is an array"),
        (lambda f, x: f(ndimage.correlate)(VALUES, x), "input= has no coordinates"),
    ],
)
def test_it_says_why_not_also_if_it_is_forced(call: Any, reason: str) -> None:
    array = data_array(VALUES)
    explanation = call(lambda function: function.explain, array)
    (told,) = (each.reason for each in explanation.backends if each.backend == "xarray")
    assert reason in told
    with pytest.raises(BackendDeferredError):
        call(lambda function: function.invoke(backend="xarray", force=True), array)


def test_the_readme_runs() -> None:
    failures, tests = doctest.testfile(
        str(Path(__file__).parents[1] / "README.md"), module_relative=False
    )
    assert tests
    assert not failures
