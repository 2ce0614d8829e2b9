"""Filters where something has to be known of the array: casts, and NaN."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from comparison import (
    FLOATS,
    GRID_MODES,
    MODES,
    assert_same,
    check,
    chunked,
    computed,
    dask_arrays,
    lazily,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

modes = st.sampled_from((*MODES, *GRID_MODES))
# With these modes, the first window does not read from the other end of the line or block.
modes_without_end = modes.filter(lambda mode: "wrap" not in mode)
LARGEST = 6


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
        mode=data.draw(modes),
        output=np.int32,
    )


def with_nan(draw: Any, x: np.ndarray) -> tuple[np.ndarray, da.Array]:
    """Replace one to three elements of `x` by NaN, and split it into chunks."""
    x = x.copy()
    places = st.lists(st.integers(0, x.size - 1), min_size=1, max_size=3)
    x.flat[draw(places)] = np.nan
    return x, da.from_array(x, chunks=draw(chunked(x.shape)))


@pytest.mark.parametrize(
    "name", ["minimum_filter", "maximum_filter", "minimum_filter1d", "maximum_filter1d"]
)
@settings(max_examples=20)
@given(data=st.data())
def test_extremes_before_a_nan(name: str, data: Any) -> None:
    """Windows with a NaN, and some windows after it, depend on where SciPy starts the line."""
    x, lazy = with_nan(data.draw, data.draw(dask_arrays(FLOATS, max_dims=2))[0])
    size = data.draw(st.integers(1, LARGEST))
    options = {
        "mode": data.draw(modes),
        "origin": data.draw(st.integers(-(size // 2), (size - 1) // 2)),
    }
    expected = getattr(ndimage, name)(x, size=size, **options)
    touched = np.isnan(x).astype(np.uint8)
    for axis in (-1,) if name.endswith("1d") else range(x.ndim):
        touched = ndimage.maximum_filter1d(touched, size, axis, **options)
        touched = np.maximum.accumulate(touched, axis)
    result = computed(lazily(f"ndimage.{name}", lazy, size=size, **options))
    np.testing.assert_array_equal(result[touched == 0], expected[touched == 0])


@pytest.mark.parametrize("name", ["median_filter", "percentile_filter", "rank_filter"])
@settings(max_examples=20)
@given(data=st.data())
def test_ranks_and_nan(name: str, data: Any) -> None:
    """In one dimension, compare windows before the first NaN; in more, windows are independent."""
    x, _ = data.draw(dask_arrays(FLOATS, min_side=LARGEST + 1, max_dims=2))
    x, lazy = with_nan(data.draw, x)
    args = {"median_filter": (), "percentile_filter": (40,), "rank_filter": (1,)}[name]
    mode = data.draw(modes if x.ndim > 1 else modes_without_end)
    options = {"size": data.draw(st.integers(3, LARGEST)), "mode": mode}
    expected = getattr(ndimage, name)(x, *args, **options)
    result = computed(lazily(f"ndimage.{name}", lazy, *args, **options))
    before = np.ones(x.shape, dtype=bool)
    if x.ndim == 1:
        touched = ndimage.maximum_filter(np.isnan(x).astype(np.uint8), **options)
        before = np.maximum.accumulate(touched) == 0
    np.testing.assert_array_equal(result[before], expected[before])


@settings(max_examples=15)
@given(data=st.data())
def test_means_before_the_first_nan(data: Any) -> None:
    """A running sum stays NaN after a NaN."""
    x, lazy = with_nan(data.draw, data.draw(dask_arrays(FLOATS, max_dims=1, offset=500))[0])
    mode = data.draw(modes_without_end)
    options = {"size": data.draw(st.integers(1, LARGEST)), "mode": mode}
    expected = ndimage.uniform_filter1d(x, **options)
    result = computed(lazily("ndimage.uniform_filter1d", lazy, **options))
    touched = ndimage.maximum_filter1d(np.isnan(x).astype(np.uint8), **options)
    before = np.maximum.accumulate(touched) == 0
    assert_same(result[before], expected[before], "ndimage.uniform_filter1d")
