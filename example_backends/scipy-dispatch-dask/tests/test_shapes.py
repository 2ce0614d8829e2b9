"""Edge cases of shapes and chunks, for every function: SciPy's result or error, or a deferral."""

from __future__ import annotations

from itertools import product
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from comparison import (
    assert_same,
    check,
    computed,
    dispatchable,
    lazily,
    scipy_function,
    why_deferred,
)
from samples import SERVED, an_array, arguments, check_sample, strategy_of

from scipy_dispatch_dask._neighbourhood import Neighbourhood
from spatch_core import BackendDeferredError

NEIGHBOURHOODS = [name for name in SERVED if isinstance(strategy_of(name), Neighbourhood)]

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def compare(name: str, x: np.ndarray, lazy: da.Array) -> None:
    """Compare with SciPy, unless the backend defers."""
    try:
        lazily(name, **arguments(name, lazy))
    except BackendDeferredError:
        return
    except Exception:  # noqa: BLE001 - it is compared with SciPy's below
        pass
    check_sample(name, x, lazy)


# SciPy itself accesses memory out of bounds in one function.
@pytest.mark.parametrize("name", sorted({*SERVED} - {"signal.resample_poly"}))
def test_axes_without_elements(name: str) -> None:
    whole = an_array(name)
    for x in (whole[:0], whole[..., :0], whole[(slice(0),) * whole.ndim]):
        compare(name, x, da.from_array(x, chunks=7))


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, ">f8", ">i2", np.uint8])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("grey_opening", {"size": 3}),
        ("median_filter", {"size": 3}),
        ("binary_erosion", {}),
        ("spline_filter", {}),
        ("sobel", {}),
        ("vectorized_filter", {"function": np.max, "size": 3}),
    ],
)
def test_data_types_of_what_has_no_elements(name: str, options: Any, dtype: Any) -> None:
    """SciPy determines the type with a probe, since it rejects some empty arrays."""
    if f"ndimage.{name}" not in SERVED:
        pytest.skip("not in this SciPy")
    for shape in ((0, 3), (3, 0), (0,)):
        x = np.ones(shape, dtype)
        lazy = da.from_array(x)
        try:
            expected = scipy_function(f"ndimage.{name}")(x, **options)
        except RuntimeError:
            with pytest.raises(RuntimeError, match="array type"):
                lazily(f"ndimage.{name}", lazy, **options)
            continue
        result = lazily(f"ndimage.{name}", lazy, **options)
        assert result.dtype == expected.dtype
        assert_same(result.compute(scheduler="synchronous"), expected)


@pytest.mark.parametrize("name", ["fft2", "irfft2", "rfft2", "hfft2", "ihfft2", "irfftn"])
def test_transforms_along_axes_without_elements(name: str) -> None:
    """If a length is given, SciPy pads them with zeros."""
    x = np.ones((3, 2, 0))
    check(f"fft.{name}", x, da.from_array(x, chunks=2), s=[10, 10], axes=[2, 0])
    check(f"fft.{name}", x, da.from_array(x, chunks=2), s=[10, 10], axes=[1, 2])


@pytest.mark.parametrize("name", ["irfft", "hfft", "rfft", "ihfft", "fft", "dct"])
def test_transforms_to_no_length(name: str) -> None:
    """SciPy rejects most of these calls, and returns one element for the others."""
    for n in (0, -1):
        arguments = {"x": da.from_array(np.ones((3, 4)), chunks=2), "n": n}
        if "element" in (why_deferred(f"fft.{name}", **arguments) or ""):
            assert name in ("irfft", "hfft")
        else:
            with pytest.raises(ValueError, match="invalid number of data points"):
                lazily(f"fft.{name}", **arguments)


@pytest.mark.parametrize("name", ["irfft", "hfft"])
def test_one_element_of_a_length_of_none(name: str) -> None:
    x = np.arange(12.0).reshape(3, 4)
    with dask.config.set(scheduler="synchronous"):
        result = dispatchable(f"fft.{name}")(da.from_array(x, chunks=2), n=0)
    assert_same(np.asarray(result), scipy_function(f"fft.{name}")(x, n=0))


@pytest.mark.parametrize("size", [None, 4])
def test_an_analytic_plane_has_two_dimensions(size: int | None) -> None:
    """SciPy broadcasts a 1-d array to two dimensions, with another shape."""
    reason = why_deferred("signal.hilbert2", da.ones(4, chunks=2), size)
    assert "x= has fewer than two dimensions" in (reason or "")


@pytest.mark.parametrize("name", SERVED)
def test_arrays_without_dimensions(name: str) -> None:
    x = an_array(name)
    x = np.asarray(x[(3,) * x.ndim])
    compare(name, x, da.from_array(x))


@pytest.mark.parametrize("name", NEIGHBOURHOODS)
def test_blocks_of_one_element(name: str) -> None:
    """The blocks are smaller than the reach of the functions."""
    x = an_array(name)
    x = x[(slice(4),) * x.ndim]
    compare(name, x, da.from_array(x, chunks=1))


@pytest.mark.parametrize("name", SERVED)
def test_one_element_along_an_axis(name: str) -> None:
    for index in (np.s_[3:4], np.s_[..., 3:4]):
        x = an_array(name)[index]
        compare(name, x, da.from_array(x, chunks=3))


@pytest.mark.parametrize("name", SERVED)
def test_unknown_chunk_sizes_are_refused(name: str) -> None:
    """Chunks of the result would be unknown too; the reason says how to compute the sizes."""
    x = da.from_array(an_array(name), chunks=7)
    unknown = x[da.arange(len(x), chunks=7) > 3]
    assert np.isnan(unknown.shape[0])
    reason = why_deferred(name, **arguments(name, unknown)) or ""
    assert "chunk sizes of" in reason
    assert ".compute_chunk_sizes()" in reason


@pytest.mark.parametrize("name", SERVED)
def test_masks_are_ignored(name: str) -> None:
    """SciPy ignores them too; calls for which it does not are left to SciPy."""
    x = an_array(name)
    lazy = da.ma.masked_array(da.from_array(x, chunks=7), mask=da.from_array(x > 0.7, chunks=7))
    if name in ("fft.fftshift", "fft.ifftshift", "signal.gausspulse"):
        assert "is masked" in (why_deferred(name, **arguments(name, lazy)) or "")
    else:
        assert why_deferred(name, **arguments(name, lazy)) is None
        compare(name, x, lazy)


@pytest.mark.parametrize(
    "name", ["sum", "sum_labels", "mean", "variance", "standard_deviation", "median"]
)
def test_the_number_of_labels_is_a_label(name: str) -> None:
    """The number is lazy, as `label` returns it."""
    x = np.random.default_rng(0).random((20, 30))
    lazy = da.from_array(x, chunks=7)
    labels, count = lazily("ndimage.label", lazy > 0.5)
    expected = scipy_function(f"ndimage.{name}")(x, *scipy_function("ndimage.label")(x > 0.5))
    result = lazily(f"ndimage.{name}", lazy, labels, count)
    assert result.shape == ()
    np.testing.assert_allclose(computed(result), expected, rtol=1e-12)


def test_masks_of_labels_and_of_numpy_arrays_are_ignored() -> None:
    x = np.random.default_rng(0).random((9, 8))
    masked = np.ma.masked_greater(x, 0.6)
    labels = x * 3 // 1
    cut = da.ma.masked_greater(da.from_array(labels, chunks=4), 1)
    expected = scipy_function("ndimage.mean")(x, labels, [1, 2])
    assert_same(computed(lazily("ndimage.mean", masked, cut, [1, 2])), expected, "ndimage.mean")
    lazy = da.from_array(x, chunks=5)
    numbers = np.ma.masked_greater(labels, 1)
    assert_same(computed(lazily("ndimage.mean", lazy, numbers, [1, 2])), expected, "ndimage.mean")


class Marked(np.ndarray):
    """A subclass of NumPy arrays from another library."""


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("sum", {}), ("mean", {"labels": da.ones((4, 4))}), ("fourier_shift", {"shift": 1})],
)
def test_other_subclasses_are_left_to_scipy(name: str, arguments: dict[str, Any]) -> None:
    marked = np.ones((4, 4)).view(Marked)
    lazy = da.from_array(marked, chunks=2)
    assert type(lazy._meta) is Marked
    assert "Marked, and" in (why_deferred(f"ndimage.{name}", lazy, **arguments) or "")
    if "labels" in arguments:
        assert "Marked, and" in (why_deferred(f"ndimage.{name}", arguments["labels"], lazy) or "")


MODES = ("reflect", "nearest", "mirror", "constant", "wrap")


@pytest.mark.parametrize("mode", MODES)
def test_every_way_to_cut_a_small_array(mode: str) -> None:
    """All chunkings of a line of five, for windows wider than most of the chunks."""
    x = an_array("ndimage.rank_filter")[0, :5].copy()
    for cuts in product((False, True), repeat=4):
        edges = [0, *(index + 1 for index, cut in enumerate(cuts) if cut), 5]
        lazy = da.from_array(x, chunks=(tuple(np.diff(edges).tolist()),))
        for size, origin in ((2, -1), (3, 1), (4, 1), (5, -2)):
            options = {"size": size, "origin": origin, "mode": mode}
            expected = scipy_function("ndimage.maximum_filter1d")(x, **options)
            result = computed(lazily("ndimage.maximum_filter1d", lazy, **options))
            assert_same(result, expected)
