"""Binary morphology with masks that are Dask arrays, and with origins at many borders."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from comparison import assert_same, check, computed, dask_arrays, lazily, scipy_function
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize("origin", [1, -1, (1, -1)])
@pytest.mark.parametrize("chunks", [7, (7, 30), (30, 7)])
def test_origins_of_binary_morphology(origin: Any, chunks: Any) -> None:
    """SciPy's default structure with an origin, at the borders of many blocks."""
    x = np.random.default_rng(0).random((30, 30)) > 0.4
    lazy = da.from_array(x, chunks=chunks)
    for name in NAMES:
        for iterations in (1, 2):
            check(f"ndimage.{name}", x, lazy, origin=origin, iterations=iterations)
    check("ndimage.binary_hit_or_miss", x, lazy, origin1=origin, origin2=origin)
