"""Blocks of other types than NumPy's: each is processed by the backend for its type."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np
import pytest
from comparison import why_deferred
from installed import TYPES
from scipy import fft as scipy_fft
from scipy import ndimage as scipy_ndimage
from scipy import signal as scipy_signal

from scipy_dispatch import backend_opts, fft, ndimage, signal, system
from spatch_core.testing import isolated, write_distribution

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

X = np.random.default_rng(5).random((12, 15)).astype(np.float32)

BOXES = {
    # Arrays that know the array API, and nothing of NumPy's protocols, as JAX's do.
    "boxes/__init__.py": TYPES.replace("Ten", "Box").replace("Nine", "Tagged"),
    "boxes/backend.toml": """
        name = "boxes"
        primary_types = ["boxes:Box"]
        secondary_types = ["numpy:ndarray"]

        [functions."scipy_dispatch.ndimage:gaussian_filter"]
        function = "boxes.functions:gaussian_filter"
        [functions."scipy_dispatch.signal:convolve"]
        function = "boxes.functions:convolve"
        [functions."scipy_dispatch.signal:detrend"]
        function = "boxes.functions:detrend"
        [functions."scipy_dispatch.fft:fft2"]
        function = "boxes.functions:fft2"
        [functions."scipy_dispatch.fft:fft"]
        function = "boxes.functions:fft"
    """,
    "boxes/tags.toml": """
        name = "tags"
        primary_types = ["boxes:Tagged"]
        requires_opt_in = true

        [functions."scipy_dispatch.ndimage:sobel"]
        function = "boxes.functions:sobel"
    """,
    "boxes/functions.py": """
        from boxes import Box, Tagged
        from scipy import fft as scipy_fft, ndimage, signal

        def unboxed(value):
            return value.data if type(value) is Box else value

        def wrapped(function):
            def of_boxes(**given):  # so are blocks passed
                assert any(type(each) is Box for each in given.values()), given
                return Box(function(**{key: unboxed(each) for key, each in given.items()}))
            return of_boxes

        gaussian_filter = wrapped(ndimage.gaussian_filter)
        convolve = wrapped(signal.convolve)
        detrend = wrapped(signal.detrend)
        fft, fft2 = wrapped(scipy_fft.fft), wrapped(scipy_fft.fft2)

        def sobel(input, *args, **kwargs):
            assert type(input) is Tagged, input
            return ndimage.sobel(input, *args, **kwargs).view(Tagged)
    """,
}


@pytest.fixture
def boxes(tmp_path: Path) -> Iterator[Any]:
    """A new array library, unknown to Dask, with a backend."""
    write_distribution(
        tmp_path,
        "boxes",
        entry_points={
            "scipy_dispatch.backends": {"boxes": "boxes:backend.toml", "tags": "boxes:tags.toml"}
        },
        files=BOXES,
    )
    with isolated(system, path=[tmp_path]):
        yield importlib.import_module("boxes")


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


def test_blocks_of_another_type_reach_their_backend(boxes: Any) -> None:
    """Also after Dask has concatenated them to NumPy arrays, for halos or lines."""
    x = in_blocks(boxes.asarray)
    kernel = np.ones((3, 4), np.float32)
    for result, expected in (
        (ndimage.gaussian_filter(x, 1.5), scipy_ndimage.gaussian_filter(X, 1.5)),
        (signal.convolve(x, kernel), scipy_signal.convolve(X, kernel)),
        (signal.detrend(x, axis=0), scipy_signal.detrend(X, axis=0)),
        (fft.fft(x), scipy_fft.fft(X)),
        (fft.fft2(x), scipy_fft.fft2(X)),
    ):
        assert type(result._meta) is boxes.Box
        np.testing.assert_allclose(computed(result), expected, rtol=1e-4, atol=1e-4)


def test_what_no_backend_has_for_the_type_is_scipy_s(boxes: Any) -> None:
    """The default implementation converts each block, and Dask's metadata says so."""
    result = ndimage.sobel(in_blocks(boxes.asarray))
    assert type(result._meta) is np.ndarray
    np.testing.assert_array_equal(computed(result), scipy_ndimage.sobel(X))


def test_subclasses_stay_what_they_are(boxes: Any) -> None:
    """Dask converts them to NumPy arrays when it concatenates blocks; the backend converts back."""
    tagged = X.view(boxes.Tagged)
    x = da.from_array(tagged, chunks=5, asarray=False, meta=tagged[:0, :0])
    with backend_opts(prioritize="tags"):
        result = ndimage.sobel(x)
    assert type(result._meta) is boxes.Tagged
    np.testing.assert_array_equal(computed(result), scipy_ndimage.sobel(X))


@pytest.mark.parametrize("name", ["ndimage.label", "ndimage.mean", "ndimage.fourier_gaussian"])
def test_what_is_not_left_to_a_backend_needs_numpy_arrays(boxes: Any, name: str) -> None:
    arguments = (1,) if name.endswith("gaussian") else ()
    reason = why_deferred(name, in_blocks(boxes.asarray), *arguments)
    assert reason == (
        "the blocks of input= are of the type boxes.Box, and this works on NumPy arrays"
    )


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
    ):
        assert isinstance(result._meta, type(jnp.ones(1)))
        assert result.dtype == np.float32
        np.testing.assert_allclose(computed(result), expected, rtol=1e-5, atol=1e-5)


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
