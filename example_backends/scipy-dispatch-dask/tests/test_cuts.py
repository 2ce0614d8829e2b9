"""Arrays of any shape, cut in any way: SciPy's result or error, or a deferral.

`tools/scipy_tests` repeats the calls of SciPy's own tests with halves of the arrays; here the cuts
are random, and the arrays have no elements, one element, NaN, or a mask.
"""

from __future__ import annotations

import re
from typing import Any

import dask.array as da
import numpy as np
import pytest
from comparison import (
    SERVED,
    an_array,
    arguments,
    assert_same,
    check,
    check_sample,
    chunked,
    computed,
    dask_arrays,
    lazily,
    scipy_function,
    why_deferred,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from scipy_dispatch.testing.strategies import FUNCTIONS, MODES, calls
from spatch_core import BackendDeferredError

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
# Sums of floats depend on where a line begins.
WHOLE = ("uniform_filter", "uniform_filter1d")


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data())
def test_a_call_of_an_image_function(name: str, data: Any) -> None:
    """Data types, axes, modes, windows, origins, masks and outputs."""
    dtypes = ["uint8", "int16", "int64"] if name in WHOLE else None
    (x,), arguments = data.draw(calls(name, dtypes, finite=True))
    lazy = da.from_array(x, chunks=data.draw(chunked(x.shape)))
    reason = check(f"ndimage.{name}", x, lazy, may_defer=True, **arguments)
    known = "output= is an array|every rounding error|wrap around"
    assert reason is None or re.search(known, reason)


@pytest.mark.parametrize("name", SERVED)
@settings(max_examples=10)
@given(data=st.data())
def test_any_cut(name: str, data: Any) -> None:
    """The samples of all functions, in double or single precision or integers."""
    x = an_array(name)
    if x.dtype.kind == "f" and name not in ("signal.coherence", "signal.csd"):
        x = data.draw(st.sampled_from((x, x.astype(np.float32), (9 * x).astype(np.int16))))
    check_sample(name, x, da.from_array(x, chunks=data.draw(chunked(x.shape))))


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d", "fftconvolve", "correlate"])
@settings(max_examples=40)
@given(data=st.data())
def test_kernels_at_both_ends(name: str, data: Any) -> None:
    """Kernels of any length, also longer than the array, in all modes and boundaries."""
    x, lazy = data.draw(dask_arrays((np.int16, np.float64), min_dims=2, max_dims=2))
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    kernel = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-9, 9, shape)
    arguments: dict[str, Any] = {"mode": data.draw(st.sampled_from(("full", "same", "valid")))}
    if name.endswith("2d"):
        arguments["boundary"] = data.draw(st.sampled_from(("fill", "wrap", "symm")))
        arguments["fillvalue"] = data.draw(st.sampled_from((0, 2)))
    reason = check(f"signal.{name}", x, lazy, kernel, may_defer=True, **arguments)
    assert reason is None or "in2= is longer than in1=" in reason


NAMES = ("binary_erosion", "binary_dilation", "binary_opening", "binary_closing")


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_masks(name: str, data: Any) -> None:
    """The array, the mask or both are Dask arrays."""
    x, lazy = data.draw(dask_arrays((bool, np.uint8), max_dims=2))
    mask, cut = x[::-1] > 0, da.from_array(x[::-1] > 0, chunks=data.draw(st.integers(1, 13)))
    arguments = {
        "iterations": data.draw(st.integers(1, 4)),
        "border_value": data.draw(st.integers(0, 1)),
    }
    expected = scipy_function(f"ndimage.{name}")(x, mask=mask, **arguments)
    for array, other in ((lazy, mask), (lazy, cut), (x, cut)):
        assert_same(computed(lazily(f"ndimage.{name}", array, mask=other, **arguments)), expected)


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
def test_small_arrays(name: str) -> None:
    """No elements along an axis or at all, one element along an axis, and no axes."""
    x = an_array(name)
    for small in (x[:0], x[..., :0], x[(slice(0),) * x.ndim], x[3:4], x[..., 3:4]):
        compare(name, small, da.from_array(small, chunks=3))
    number = np.asarray(x[(3,) * x.ndim])
    compare(name, number, da.from_array(number))


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


@given(data=st.data())
def test_uniform_of_floats_truncated_to_integers(data: Any) -> None:
    """Truncation may turn a rounding error into a difference of 1, so lines are not split."""
    # Tenths, whose sums differ from integers by a rounding error in either direction.
    tenths, _ = data.draw(dask_arrays((np.int16,), max_dims=2, min_side=10, max_side=40))
    x = tenths / 10
    lazy = da.from_array(x, chunks=data.draw(chunked(x.shape)))
    check(
        "ndimage.uniform_filter1d",
        x,
        lazy,
        data.draw(st.sampled_from((2, 5))),
        axis=data.draw(st.integers(-x.ndim, x.ndim - 1)),
        mode=data.draw(st.sampled_from(MODES)),
        output=np.int32,
    )
