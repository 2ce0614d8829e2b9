"""Filters: results equal SciPy's bit for bit, for every mode, origin, axis and chunking."""

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
    axes_of,
    check,
    chunked,
    computed,
    dask_arrays,
    lazily,
    per_axis,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import ndimage
from tolerances import tolerance_of

modes = st.sampled_from((*MODES, *GRID_MODES))
# With these modes, the first window does not read from the other end of the line or block.
modes_without_end = modes.filter(lambda mode: "wrap" not in mode)
cvals = st.sampled_from((0.0, 2.5, -3.0))
LARGEST = 6
outputs = st.sampled_from((None, np.float64, np.float32, "int32", np.dtype("int16")))


def size_and_origin(draw: Any, count: int, largest: int = LARGEST) -> tuple[Any, Any]:
    sizes = draw(per_axis(st.integers(1, largest), count))
    each = sizes if isinstance(sizes, list) else [sizes] * count
    origins = [draw(st.integers(-(size // 2), (size - 1) // 2)) for size in each]
    return sizes, origins


WINDOWS: list[tuple[str, tuple[Any, ...]]] = [
    ("minimum_filter", ()),
    ("maximum_filter", ()),
    ("median_filter", ()),
    ("rank_filter", (-1,)),
    ("rank_filter", (0,)),
    ("percentile_filter", (30,)),
]


@pytest.mark.parametrize("name", ["gaussian_laplace", "gaussian_gradient_magnitude", "laplace"])
@pytest.mark.parametrize("modes", [["wrap", "reflect"], ["nearest", "grid-wrap"]], ids=str)
@pytest.mark.parametrize("chunks", [7, (7, 30), (30, 7)], ids=str)
def test_modes_that_contradict_one_another(name: str, modes: list[str], chunks: Any) -> None:
    """SciPy takes each derivative along all axes, with the mode of one axis."""
    x = np.random.default_rng(0).random((30, 30))
    arguments = {} if name == "laplace" else {"sigma": 1}
    check(f"ndimage.{name}", x, da.from_array(x, chunks=chunks), mode=modes, **arguments)


@pytest.mark.parametrize(("name", "args"), WINDOWS, ids=str)
@given(data=st.data())
def test_windows_of_a_size(name: str, args: tuple[Any, ...], data: Any) -> None:
    """Sizes, origins and modes are given for all axes or for each axis."""
    x, lazy = data.draw(dask_arrays())
    axes, count = axes_of(data.draw, f"ndimage.{name}", x.ndim)
    size, origin = size_and_origin(data.draw, count)
    output = data.draw(outputs)
    if x.ndim == 1 and name not in ("minimum_filter", "maximum_filter"):
        # SciPy 1.18 accesses memory out of bounds here: it reads beyond a line shorter than the
        # window, and writes values that are too large for another data type.
        assume(x.size > LARGEST and output is None)
    check(
        f"ndimage.{name}",
        x,
        lazy,
        *args,
        size=size,
        origin=origin,
        **axes,
        mode=data.draw(per_axis(modes, count)),
        cval=data.draw(cvals),
        output=output,
    )


@pytest.mark.parametrize(("name", "args"), WINDOWS, ids=str)
@given(data=st.data())
def test_windows_with_a_footprint(name: str, args: tuple[Any, ...], data: Any) -> None:
    """Footprints have any shape and origin."""
    x, lazy = data.draw(dask_arrays(min_dims=2))
    axes, count = axes_of(data.draw, f"ndimage.{name}", x.ndim)
    sides = data.draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    random = np.random.default_rng(data.draw(st.integers(0, 999)))
    footprint = random.random(sides) > 0.3
    footprint.flat[0] = True
    check(
        f"ndimage.{name}",
        x,
        lazy,
        *args,
        footprint=footprint,
        origin=[data.draw(st.integers(-(side // 2), (side - 1) // 2)) for side in sides],
        **axes,
        mode=data.draw(modes),
        cval=data.draw(cvals),
    )


@pytest.mark.parametrize("name", ["minimum_filter1d", "maximum_filter1d"])
@given(data=st.data())
def test_windows_along_one_axis(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays())
    size, (origin,) = size_and_origin(data.draw, 1, largest=9)
    size = size[0] if isinstance(size, list) else size
    check(
        f"ndimage.{name}",
        x,
        lazy,
        size,
        axis=data.draw(st.integers(-x.ndim, x.ndim - 1)),
        origin=origin,
        mode=data.draw(modes),
        cval=data.draw(cvals),
        output=data.draw(outputs),
    )


@pytest.mark.parametrize("name", ["correlate", "convolve"])
@given(data=st.data())
def test_weights(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays((*INTEGERS, *FLOATS, np.complex64)))
    axes, count = axes_of(data.draw, f"ndimage.{name}", x.ndim)
    sides = data.draw(st.lists(st.integers(1, 5), min_size=count, max_size=count))
    random = np.random.default_rng(data.draw(st.integers(0, 999)))
    weights = random.normal(size=sides)
    if data.draw(st.booleans()):
        weights = weights + 1j * random.normal(size=sides)
    # Use origins that are valid for both functions, since one reflects the weights.
    origin = [data.draw(st.integers(-((side - 1) // 2), (side - 1) // 2)) for side in sides]
    check(
        f"ndimage.{name}",
        x,
        lazy,
        weights,
        origin=origin,
        **axes,
        mode=data.draw(modes),
        cval=data.draw(cvals),
    )


@pytest.mark.parametrize("name", ["correlate1d", "convolve1d"])
@given(data=st.data())
def test_weights_along_one_axis(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays())
    weights = data.draw(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
    half = (len(weights) - 1) // 2
    check(
        f"ndimage.{name}",
        x,
        lazy,
        weights,
        data.draw(st.integers(-x.ndim, x.ndim - 1)),
        origin=data.draw(st.integers(-half, half)),
        mode=data.draw(modes),
        cval=data.draw(cvals),
        output=data.draw(outputs),
    )


@given(data=st.data())
def test_gaussian(data: Any) -> None:
    """Sigma, order, mode, truncation and radius are given for all axes or for each axis."""
    x, lazy = data.draw(dask_arrays((*INTEGERS, *FLOATS, np.complex128)))
    axes, count = axes_of(data.draw, "ndimage.gaussian_filter", x.ndim)
    check(
        "ndimage.gaussian_filter",
        x,
        lazy,
        data.draw(per_axis(st.floats(0.1, 2.5), count)),
        order=data.draw(per_axis(st.integers(0, 3), count)),
        mode=data.draw(per_axis(modes, count)),
        cval=data.draw(cvals),
        truncate=data.draw(st.floats(0.5, 5)),
        radius=data.draw(st.none() | per_axis(st.integers(0, 4), count)),
        **axes,
    )


@given(data=st.data())
def test_gaussian_along_one_axis(data: Any) -> None:
    x, lazy = data.draw(dask_arrays())
    check(
        "ndimage.gaussian_filter1d",
        x,
        lazy,
        data.draw(st.floats(0.1, 3)),
        axis=data.draw(st.integers(-x.ndim, x.ndim - 1)),
        order=data.draw(st.integers(0, 3)),
        mode=data.draw(modes),
        cval=data.draw(cvals),
        truncate=data.draw(st.floats(0.5, 5)),
        radius=data.draw(st.none() | st.integers(0, 4)),
    )


@pytest.mark.parametrize("name", ["gaussian_laplace", "gaussian_gradient_magnitude"])
@given(data=st.data())
def test_derivatives_of_a_gaussian(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays(max_side=9))
    axes, count = axes_of(data.draw, f"ndimage.{name}", x.ndim)
    check(
        f"ndimage.{name}",
        x,
        lazy,
        data.draw(st.floats(0.3, 1.5)),
        mode=data.draw(per_axis(modes, count)),
        cval=data.draw(cvals),
        **axes,
        truncate=data.draw(st.floats(1, 4)),
    )


@pytest.mark.parametrize("name", ["sobel", "prewitt"])
@given(data=st.data())
def test_gradients(name: str, data: Any) -> None:
    x, lazy = data.draw(dask_arrays())
    check(
        f"ndimage.{name}",
        x,
        lazy,
        axis=data.draw(st.integers(-x.ndim, x.ndim - 1)),
        mode=data.draw(per_axis(modes, x.ndim)),
        cval=data.draw(cvals),
        output=data.draw(outputs),
    )


@given(data=st.data())
def test_laplace(data: Any) -> None:
    x, lazy = data.draw(dask_arrays((*INTEGERS, *FLOATS)))
    axes, count = axes_of(data.draw, "ndimage.laplace", x.ndim)
    mode = data.draw(per_axis(modes, count))
    check("ndimage.laplace", x, lazy, mode=mode, **axes, output=data.draw(outputs))


@given(data=st.data())
def test_uniform_of_integers(data: Any) -> None:
    """Sums of integers are exact wherever they start."""
    x, lazy = data.draw(dask_arrays(INTEGERS))
    axes, count = axes_of(data.draw, "ndimage.uniform_filter", x.ndim)
    size, origin = size_and_origin(data.draw, count)
    mode = data.draw(per_axis(modes, count))
    check("ndimage.uniform_filter", x, lazy, size, mode=mode, origin=origin, **axes)


@given(data=st.data())
def test_uniform_along_one_axis(data: Any) -> None:
    x, lazy = data.draw(dask_arrays(INTEGERS))
    size = data.draw(st.integers(1, 9))
    check(
        "ndimage.uniform_filter1d",
        x,
        lazy,
        size,
        axis=data.draw(st.integers(-x.ndim, x.ndim - 1)),
        mode=data.draw(modes),
        cval=data.draw(st.integers(-3, 3)),
        origin=data.draw(st.integers(-(size // 2), (size - 1) // 2)),
    )


@given(data=st.data())
def test_uniform_of_floats(data: Any) -> None:
    """The rounding of a running sum depends on where it starts."""
    # The values are far from 0, so that no mean is much smaller than its terms.
    x, lazy = data.draw(dask_arrays((*FLOATS, np.complex64), offset=500))
    axes, count = axes_of(data.draw, "ndimage.uniform_filter", x.ndim)
    size, origin = size_and_origin(data.draw, count)
    check(
        "ndimage.uniform_filter",
        x,
        lazy,
        size,
        mode=data.draw(per_axis(modes, count)),
        origin=origin,
        **axes,
    )


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
    allowed = tolerance_of("ndimage.uniform_filter1d", expected)
    np.testing.assert_allclose(result[before], expected[before], rtol=allowed.rtol)


def second_largest(window: np.ndarray, offset: int = 0) -> float:
    return float(np.sort(window)[-2:][0]) + offset


@given(data=st.data())
def test_a_user_s_function(data: Any) -> None:
    x, lazy = data.draw(dask_arrays(max_dims=2, max_side=7))
    axes, count = axes_of(data.draw, "ndimage.generic_filter", x.ndim)
    size, origin = size_and_origin(data.draw, count, largest=3)
    check(
        "ndimage.generic_filter",
        x,
        lazy,
        second_largest,
        size=size,
        origin=origin,
        **axes,
        mode=data.draw(modes),
        extra_arguments=(1,),
        output=data.draw(outputs),
    )


def spread(windows: np.ndarray, axis: Any) -> Any:
    return np.max(windows, axis=axis) - np.mean(windows, axis=axis)


@pytest.mark.skipif(not hasattr(ndimage, "vectorized_filter"), reason="new in SciPy 1.16")
@given(data=st.data())
def test_a_user_s_vectorized_function(data: Any) -> None:
    x, lazy = data.draw(dask_arrays((np.float64,), max_dims=2))
    axes, count = axes_of(data.draw, "ndimage.vectorized_filter", x.ndim)
    size, origin = size_and_origin(data.draw, count)
    check(
        "ndimage.vectorized_filter",
        x,
        lazy,
        spread,
        size=size,
        origin=origin,
        **axes,
        mode=data.draw(modes),
    )


def running_total(line: np.ndarray, out: np.ndarray) -> None:
    out[...] = np.cumsum(line)[: len(out)]


@given(data=st.data())
def test_a_user_s_function_of_lines(data: Any) -> None:
    """The result may depend on the whole line."""
    x, lazy = data.draw(dask_arrays(INTEGERS, max_dims=2))
    check(
        "ndimage.generic_filter1d",
        x,
        lazy,
        running_total,
        data.draw(st.integers(1, 4)),
        axis=data.draw(st.integers(-x.ndim, x.ndim - 1)),
        mode=data.draw(modes),
        output=np.float64,
    )
