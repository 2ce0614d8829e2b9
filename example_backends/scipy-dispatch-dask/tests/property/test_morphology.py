"""Morphology: results equal SciPy's bit for bit, with one or more steps, with or without masks."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from comparison import (
    FLOATS,
    GRID_MODES,
    INTEGERS,
    MODES,
    assert_same,
    axes_of,
    check,
    chunked,
    computed,
    dask_arrays,
    lazily,
    scipy_function,
)
from hypothesis import given
from hypothesis import strategies as st

ONE_PASS = ("grey_erosion", "grey_dilation", "morphological_gradient", "morphological_laplace")
TWO_PASSES = ("grey_opening", "grey_closing", "white_tophat", "black_tophat")

modes = st.sampled_from((*MODES, *GRID_MODES))


def a_shape(draw: Any, count: int, largest: int = 4) -> list[int]:
    return draw(st.lists(st.integers(1, largest), min_size=count, max_size=count))


def an_origin(draw: Any, shape: list[int]) -> list[int]:
    # Origins inside the structure, reflected or not.
    return [draw(st.integers(-((side - 1) // 2), (side - 1) // 2)) for side in shape]


def a_structure(draw: Any, shape: list[int]) -> np.ndarray:
    structure = np.random.default_rng(draw(st.integers(0, 999))).random(shape) > 0.3
    structure.flat[draw(st.integers(0, structure.size - 1))] = True
    return structure


@pytest.mark.parametrize("name", [*ONE_PASS, *TWO_PASSES])
@given(data=st.data())
def test_grey_morphology(name: str, data: Any) -> None:
    """Sizes, footprints and non-flat structures."""
    x, lazy = data.draw(dask_arrays((*INTEGERS, *FLOATS), max_dims=2))
    axes, count = axes_of(data.draw, f"ndimage.{name}", x.ndim)
    shape = a_shape(data.draw, count)
    kind = data.draw(st.sampled_from(("size", "footprint", "structure")))
    given = {
        "size": {"size": tuple(shape)},
        "footprint": {"footprint": a_structure(data.draw, shape)},
        "structure": {"structure": np.arange(float(np.prod(shape))).reshape(shape) % 3},
    }[kind]
    check(
        f"ndimage.{name}",
        x,
        lazy,
        **given,
        **axes,
        origin=an_origin(data.draw, shape),
        mode=data.draw(modes),
        cval=data.draw(st.sampled_from((0.0, 2.0))),
    )


@pytest.mark.parametrize(
    "name", ["binary_erosion", "binary_dilation", "binary_opening", "binary_closing"]
)
@given(data=st.data())
def test_binary_morphology(name: str, data: Any) -> None:
    """Any number of steps and any border value, with or without a mask."""
    x, lazy = data.draw(dask_arrays((bool, np.uint8), max_dims=2))
    axes, count = axes_of(data.draw, f"ndimage.{name}", x.ndim)
    shape = a_shape(data.draw, count, largest=3)
    structure = data.draw(st.sampled_from((None, a_structure(data.draw, shape))))
    arguments = {
        "structure": structure,
        "iterations": data.draw(st.integers(1, 4)),
        "border_value": data.draw(st.integers(0, 1)),
        "origin": an_origin(data.draw, [3] * count if structure is None else shape),
        "brute_force": data.draw(st.booleans()),
        **axes,
    }
    if not data.draw(st.booleans()):
        check(f"ndimage.{name}", x, lazy, **arguments)
        return
    mask = np.random.default_rng(data.draw(st.integers(0, 999))).random(x.shape) > 0.3
    expected = scipy_function(f"ndimage.{name}")(x, mask=mask, **arguments)
    cut = da.from_array(mask, chunks=data.draw(chunked(mask.shape)))
    for each in (
        {"input": lazy, "mask": mask},
        {"input": lazy, "mask": cut},
        {"input": x, "mask": cut},
    ):
        assert_same(computed(lazily(f"ndimage.{name}", **each, **arguments)), expected)


@pytest.mark.parametrize("origin", [1, -1, (1, -1)])
@pytest.mark.parametrize("chunks", [7, (7, 30), (30, 7)])
def test_origins_of_binary_morphology(origin: Any, chunks: Any) -> None:
    """SciPy's default structure with an origin, at the borders of many blocks."""
    x = np.random.default_rng(0).random((30, 30)) > 0.4
    lazy = da.from_array(x, chunks=chunks)
    for name in ("binary_erosion", "binary_dilation", "binary_opening", "binary_closing"):
        for iterations in (1, 2):
            check(f"ndimage.{name}", x, lazy, origin=origin, iterations=iterations)
    check("ndimage.binary_hit_or_miss", x, lazy, origin1=origin, origin2=origin)


@given(data=st.data())
def test_hit_or_miss(data: Any) -> None:
    x, lazy = data.draw(dask_arrays((bool,), max_dims=2))
    axes, count = axes_of(data.draw, "ndimage.binary_hit_or_miss", x.ndim)
    first, second = a_shape(data.draw, count), a_shape(data.draw, count)
    one = a_structure(data.draw, first)
    other = data.draw(st.sampled_from((None, a_structure(data.draw, second))))
    check(
        "ndimage.binary_hit_or_miss",
        x,
        lazy,
        one,
        other,
        origin1=an_origin(data.draw, first),
        origin2=an_origin(data.draw, first if other is None else second),
        **axes,
    )
