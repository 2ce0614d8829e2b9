"""Blocks of other types than NumPy's: each is processed by the backend for its type."""

from __future__ import annotations

import importlib
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from comparison import why_deferred
from scipy import ndimage as scipy_ndimage
from scipy import signal as scipy_signal

from scipy_dispatch import backend_opts, ndimage, signal

X = np.random.default_rng(5).random((12, 15)).astype(np.float32)


def in_blocks(make: Any, x: np.ndarray = X, chunks: Any = 5) -> da.Array:
    """Return a Dask array of `x` in blocks of another type, as its metadata says."""
    return da.from_array(x, chunks=chunks).map_blocks(make, meta=make(x[:0, :0]))


def blocks_of(result: da.Array) -> list[Any]:
    """Return the blocks; each must have the type and data type in the array's metadata."""
    blocks = dask.compute(*result.to_delayed().ravel(), scheduler="threads")
    assert {type(block) for block in blocks} == {type(result._meta)}
    assert {block.dtype for block in blocks} == {result.dtype}
    return list(blocks)


def computed(result: da.Array) -> np.ndarray:
    blocks_of(result)
    return np.asarray(result.compute(scheduler="synchronous"))


@pytest.fixture
def jnp() -> Any:
    pytest.importorskip("scipy_dispatch_jax")
    return pytest.importorskip("jax.numpy")


def test_jax_blocks_are_worked_on_by_jax(jnp: Any) -> None:
    """JAX returns its own arrays and SciPy never does, so that blocks identify the backend."""
    x = in_blocks(jnp.asarray)
    weights = np.ones((3, 2), np.float32)
    for result, expected in (
        (ndimage.gaussian_filter(x, 1.5), scipy_ndimage.gaussian_filter(X, 1.5)),
        (ndimage.sobel(x, mode="wrap"), scipy_ndimage.sobel(X, mode="wrap")),
        (ndimage.correlate(x, weights), scipy_ndimage.correlate(X, weights)),
        (ndimage.correlate(x, jnp.asarray(weights)), scipy_ndimage.correlate(X, weights)),
        # Dask concatenates the blocks to NumPy arrays.
        (signal.detrend(x, axis=0), scipy_signal.detrend(X, axis=0)),
    ):
        assert isinstance(result._meta, type(jnp.ones(1)))
        assert result.dtype == np.float32
        np.testing.assert_allclose(computed(result), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["ndimage.label", "ndimage.mean", "ndimage.fourier_gaussian"])
def test_what_is_not_left_to_a_backend_needs_numpy_arrays(jnp: Any, name: str) -> None:
    arguments = (1,) if name.endswith("gaussian") else ()
    reason = why_deferred(name, in_blocks(jnp.asarray), *arguments) or ""
    assert reason.startswith("the blocks of input= are of the type jax")
    assert reason.endswith("and this works on NumPy arrays")


def test_numpy_blocks_count_as_jax_arrays_if_asked_for(jnp: Any) -> None:
    """The option ``type=`` applies to the blocks too."""
    with backend_opts(type=type(jnp.ones(1))):
        result = ndimage.sobel(da.from_array(X, chunks=5))
    assert isinstance(result._meta, type(jnp.ones(1)))
    np.testing.assert_allclose(computed(result), scipy_ndimage.sobel(X), atol=1e-5)


def a_device() -> str | None:
    """Return why there is no usable GPU; None if there is one."""
    try:
        cupy = importlib.import_module("cupy")
        cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # noqa: BLE001 - any error means that there is no usable device
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.gpu
def test_cupy_blocks_stay_on_the_gpu() -> None:
    if reason := a_device():
        pytest.skip(f"no GPU here: {reason}")
    pytest.importorskip("scipy_dispatch_cupy")
    cupy = importlib.import_module("cupy")
    x = in_blocks(cupy.asarray)
    weights = cupy.ones((3, 2), np.float32)
    for result, expected in (
        (ndimage.gaussian_filter(x, 1.5), scipy_ndimage.gaussian_filter(X, 1.5)),
        (ndimage.correlate(x, weights), scipy_ndimage.correlate(X, weights.get())),
        (ndimage.sobel(x, mode="wrap"), scipy_ndimage.sobel(X, mode="wrap")),
    ):
        assert type(result._meta) is cupy.ndarray
        assert {type(block) for block in blocks_of(result)} == {cupy.ndarray}
        found = result.compute(scheduler="synchronous")
        np.testing.assert_allclose(found.get(), expected, rtol=1e-5, atol=1e-5)
