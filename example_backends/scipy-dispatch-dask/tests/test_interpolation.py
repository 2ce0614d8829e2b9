"""Interpolation by blocks: every order, mode and way to cut the array and the result."""

from __future__ import annotations

import re
from typing import Any

import dask.array as da
import numpy as np
import pytest
from comparison import (
    FLOATS,
    check,
    computed,
    dask_arrays,
    lazily,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from scipy_dispatch.testing.strategies import MODES

DTYPES = (bool, np.uint8, np.int16, *FLOATS, np.complex128)


def per_axis(values: st.SearchStrategy[Any], count: int) -> st.SearchStrategy[Any]:
    """A single value, or a list with one value for each axis."""
    return values | st.lists(values, min_size=count, max_size=count)


# Halves put positions between elements and at ends, where the last bit decides.
numbers = st.integers(-60, 60).map(lambda n: n / 2) | st.floats(-40, 40)
factors = st.integers(1, 6).map(lambda n: n / 2) | st.floats(0.3, 3)


@st.composite
def images(draw: Any, **kwargs: Any) -> Any:
    """An array of several dimensions, or a line longer than the reach of the spline filter."""
    longest = draw(st.sampled_from((9, 400)))
    return draw(dask_arrays(DTYPES, max_dims=1 if longest > 9 else 3, max_side=longest, **kwargs))


def settings_of(draw: Any) -> dict[str, Any]:
    return {
        "order": draw(st.integers(0, 5)),
        "mode": draw(st.sampled_from(MODES)),
        "cval": draw(st.sampled_from((0.0, 3.0))),
        "prefilter": draw(st.booleans()),
    }


def check_unless_deferred(name: str, x: Any, lazy: Any, *args: Any, **kwargs: Any) -> bool:
    reason = check(f"ndimage.{name}", x, lazy, *args, may_defer=True, **kwargs)
    assert re.search("^$|grid_mode= for complex|is empty|every rounding error", reason or "")
    return reason is None


@given(data=st.data())
def test_shift(data: Any) -> None:
    x, lazy = data.draw(images())
    by = data.draw(per_axis(numbers, x.ndim))
    check_unless_deferred("shift", x, lazy, by, **settings_of(data.draw))


@pytest.mark.filterwarnings("ignore:It is recommended to use mode")
@given(data=st.data())
def test_zoom(data: Any) -> None:
    x, lazy = data.draw(images(min_side=2))
    by, grid = data.draw(per_axis(factors, x.ndim)), data.draw(st.booleans())
    arguments = {**settings_of(data.draw), "grid_mode": grid}
    check_unless_deferred("zoom", x, lazy, by, **arguments)


@given(data=st.data())
def test_affine_transform(data: Any) -> None:
    """The result may have other axes than the array."""
    x, lazy = data.draw(images())
    ndim = data.draw(st.integers(1, 3))
    random = np.random.default_rng(data.draw(st.integers(0, 999)))
    matrix = random.uniform(-1.5, 1.5, (x.ndim, ndim)).round(data.draw(st.sampled_from((0, 9))))
    arguments = {
        **settings_of(data.draw),
        "offset": data.draw(per_axis(numbers, x.ndim)),
        "output_shape": tuple(
            data.draw(st.lists(st.integers(1, 20), min_size=ndim, max_size=ndim))
        ),
    }
    if data.draw(st.booleans()):
        matrix, arguments["output_shape"] = random.uniform(0.3, 2, x.ndim), x.shape
    elif ndim == x.ndim and data.draw(st.booleans()):
        matrix = np.hstack([matrix, random.uniform(-9, 9, (ndim, 1))])
    check_unless_deferred("affine_transform", x, lazy, matrix, **arguments)


@given(data=st.data())
def test_map_coordinates(data: Any) -> None:
    """Coordinates may be in any order, and NaN."""
    x, lazy = data.draw(images())
    shape = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    random = np.random.default_rng(data.draw(st.integers(0, 999)))
    coordinates = random.uniform(-1.5, 2.5, (x.ndim, *shape)) * np.reshape(
        x.shape, (-1, *(1,) * len(shape))
    )
    coordinates = np.round(coordinates, data.draw(st.sampled_from((0, 9))))
    arguments = settings_of(data.draw)
    if arguments["mode"] == "constant":  # with others, SciPy 1.18 reads out of bounds
        coordinates.flat[0] = np.nan
    check_unless_deferred("map_coordinates", x, lazy, coordinates, **arguments)


@pytest.mark.parametrize("order", range(6))
def test_a_long_line_has_scipys_integers(order: int) -> None:
    """The overlap is so deep that rounding forgets what is beyond it, if the array varies."""
    x = np.random.default_rng(order).integers(0, 256, 5000).astype(np.uint8)
    lazy = da.from_array(x, chunks=200)
    for name, argument in (("shift", 0.25), ("zoom", 1.7)):
        result = lazily(f"ndimage.{name}", lazy, argument, order=order, mode="mirror")
        assert result.npartitions >= 20
        expected = getattr(ndimage, name)(x, argument, order=order, mode="mirror")
        np.testing.assert_array_equal(computed(result), expected)


def test_a_block_needs_only_the_blocks_that_it_maps_from() -> None:
    x = da.zeros((3000, 3000), chunks=100)
    coordinates = np.mgrid[0:50, 0:50] + 1000.5
    for result, most in (
        (lazily("ndimage.zoom", x, 0.5)[:50, :50], 9),
        (lazily("ndimage.rotate", x, 30.0)[2000:2050, 2000:2050], 16),
        (lazily("ndimage.shift", x, 0.5, order=1, mode="grid-wrap")[:50, :50], 9),
        (lazily("ndimage.affine_transform", x, np.eye(2) * 0.9)[:50, :50], 9),
        (lazily("ndimage.map_coordinates", x, coordinates), 16),
    ):
        graph = result.dask.cull(result.__dask_keys__()).to_dict()
        assert sum(key[0] == x.name for key in graph if isinstance(key, tuple)) <= most
