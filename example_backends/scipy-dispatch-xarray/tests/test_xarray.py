"""DataArrays in and out: the values are SciPy's, everything else is the argument's."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import dask.array as da
import numpy as np
import pytest
import xarray as xr

from scipy_dispatch import backend_opts, fft, ndimage, signal
from scipy_dispatch.testing import SAMPLES
from scipy_dispatch_xarray._wrapping import KEPT
from spatch_core import BackendDeferredError

VALUES = np.random.default_rng(0).random((12, 10))
ONES = np.ones((3, 3))


def data_array(values: Any) -> xr.DataArray:
    """Return an array with coordinates of all kinds, a name and attributes."""
    dims = ("z", "y", "x")[-values.ndim :]
    shape = dict(zip(dims, values.shape, strict=True))
    return xr.DataArray(
        values,
        dims=dims,
        coords={
            "x": [f"x{number}" for number in range(shape["x"])],
            "lat": (dims, np.arange(float(values.size)).reshape(values.shape)),
            "time": 7,
        },
        name="height",
        attrs={"units": "m"},
    )


def functions(identifier: str) -> tuple[Any, Any]:
    module, _, name = identifier.partition(":")
    function = getattr(import_module(module), name, None)
    if function is None:
        pytest.skip(f"this SciPy has no {name}")
    return function, getattr(import_module(module.replace("_dispatch.", ".")), name)


def sample(identifier: str, scipys: Any) -> tuple[Any, dict[str, Any]]:
    """Return the array and the other arguments of a call whose result has the array's shape."""
    args, kwargs = SAMPLES[identifier.removeprefix("scipy_dispatch.").replace(":", ".")].fresh()
    signature = inspect.signature(scipys)
    arguments = dict(signature.bind(*args, **kwargs).arguments)
    for other_results in ("zi", "return_indices", "return_distances"):
        arguments.pop(other_results, None)
    if "in2" in arguments:
        arguments["mode"] = "same"
    if "reshape" in signature.parameters:
        arguments["reshape"] = False
    return arguments.pop(KEPT[identifier]), arguments


def assert_kept(result: Any, expected: Any, array: xr.DataArray) -> None:
    assert isinstance(result, xr.DataArray)
    assert result.dtype == expected.dtype
    xr.testing.assert_identical(result.compute(), array.compute().copy(data=expected))


@pytest.mark.parametrize("identifier", KEPT)
def test_everything_but_the_values_stays(identifier: str) -> None:
    """For every function in the table, and in every part of a result with several."""
    function, scipys = functions(identifier)
    values, arguments = sample(identifier, scipys)
    array = data_array(values.copy())
    expected = scipys(**{KEPT[identifier]: values.copy()}, **arguments)
    result = function(**{KEPT[identifier]: array}, **arguments)
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
        ndimage.binary_dilation(array, mask=mask.assign_coords(x=list("abcdefghij")))


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
