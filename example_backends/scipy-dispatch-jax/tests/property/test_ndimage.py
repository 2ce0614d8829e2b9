"""Filters compared with SciPy: all boundary modes, and samples of the other settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from comparison import MODES, check, has_64_bits
from hypothesis import given, settings
from hypothesis import strategies as st

modes = st.sampled_from(MODES)
cvals = st.sampled_from([0.0, -2, 7])
outputs = st.sampled_from([None, None, np.float32, np.int16, "int32"])
INTEGERS = (np.bool_, np.uint8, np.int16, np.int32)
# Only a few shapes, because everything is compiled for each.
SHAPES = ((5,), (4, 3), (1, 6), (2, 3, 4))


@st.composite
def arrays(
    draw: Any, *, shapes: Any = SHAPES, is_complex: bool = False, has_gaps: bool = False
) -> np.ndarray:
    floats = (np.float64 if has_64_bits() else np.float32,)
    if is_complex:
        floats += (np.complex128 if has_64_bits() else np.complex64,)
    dtype = np.dtype(draw(st.sampled_from(INTEGERS + floats)))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    x = random.uniform(0 if dtype.kind in "bu" else -50, 50, draw(st.sampled_from(shapes)))
    if dtype.kind == "b":
        return x > 25
    x = (x * (1 + 1j) if dtype.kind == "c" else x).astype(dtype)
    if has_gaps and dtype.kind == "f" and draw(st.booleans()):
        x.flat[random.integers(x.size)] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    return x


@st.composite
def sizes_and_origins(draw: Any, count: int) -> tuple[list[int], list[int]]:
    sizes = [draw(st.integers(1, 4)) for _ in range(count)]
    return sizes, [draw(st.integers(-(size // 2), (size - 1) // 2)) for size in sizes]


def some_axes(draw: Any, ndim: int) -> tuple[dict[str, Any], int]:
    """Draw the argument ``axes`` or no argument; return it with the number of axes."""
    if draw(st.booleans()):
        return {}, ndim
    axes = draw(st.permutations(range(ndim)))[: draw(st.integers(1, ndim))]
    return {"axes": tuple(axis - draw(st.sampled_from([0, ndim])) for axis in axes)}, len(axes)


def per_axis(draw: Any, values: Any, count: int) -> Any:
    return draw(values | st.lists(values, min_size=count, max_size=count))


@pytest.mark.parametrize("mode", MODES)
def test_every_boundary_mode(mode: str, double: bool) -> None:
    """Complete: windows beyond both ends, for lines of one element, and longer than the line."""
    image = np.arange(12.0).reshape(3, 4) ** 2
    for x in (image, image[:1]):
        check("ndimage.correlate1d", x, np.arange(11.0), 0, mode=mode, cval=3, origin=-2)
        check("ndimage.correlate", x, np.arange(12.0).reshape(4, 3), mode=mode, cval=3)
        check("ndimage.minimum_filter", x, (6, 2), mode=mode, cval=3)
    where = np.array([[-7.3, -0.4, 0.0, 1.3, 2.4, 9.2], [0.2, 4.7, 3.0, -0.1, -3.6, 1.4]])
    for order in (0, 1):
        check("ndimage.map_coordinates", image, where, order=order, mode=mode, cval=3)


@pytest.mark.parametrize("mode", MODES)
def test_coordinates_halfway(mode: str, double: bool) -> None:
    """At ties, the elements that are read are SciPy's, also far beyond both ends."""
    far = [2.0**31, 2.0**31 + 2.5, -(2.0**31), -(2.0**31) - 1.5]
    for length in (1, 2, 4, 5):
        where = np.concatenate([np.arange(-3 * length, 4 * length, 0.5), far])[None]
        for order in (0, 1):
            x = np.arange(1.0, length + 1)
            check("ndimage.map_coordinates", x, where, order=order, mode=mode, cval=-1.0)


@pytest.mark.parametrize("name", ["correlate1d", "convolve1d"])
@given(data=st.data())
def test_weights_along_a_line(name: str, precision: bool, data: Any) -> None:
    x = data.draw(arrays(is_complex=True, has_gaps=True))
    (size,), (origin,) = data.draw(sizes_and_origins(1))
    whole = data.draw(st.booleans())
    weights = np.random.default_rng(size).integers(-3, 4, size) if whole else np.arange(size) / 7
    check(
        f"ndimage.{name}",
        x,
        weights,
        data.draw(st.integers(-x.ndim, x.ndim - 1)),
        mode=data.draw(modes),
        cval=data.draw(cvals),
        origin=origin if name == "correlate1d" else -origin - (size % 2 == 0),
    )


@pytest.mark.parametrize("name", ["correlate", "convolve"])
@given(data=st.data())
def test_weights(name: str, precision: bool, data: Any) -> None:
    x = data.draw(arrays(has_gaps=True))
    axes, count = some_axes(data.draw, x.ndim)
    sizes, origins = data.draw(sizes_and_origins(count))
    if name == "convolve":
        origins = [-each - (size % 2 == 0) for each, size in zip(origins, sizes, strict=True)]
    check(
        f"ndimage.{name}",
        x,
        np.random.default_rng(count).integers(-3, 4, sizes),
        data.draw(outputs) if x.dtype.kind in "iu" else None,
        data.draw(modes),
        data.draw(cvals),
        origins,
        **axes,
    )


@settings(max_examples=8)
@given(data=st.data())
def test_gaussian_filters(double: bool, data: Any) -> None:
    x = data.draw(arrays(is_complex=True, has_gaps=True))
    axes, count = some_axes(data.draw, x.ndim)
    check(
        "ndimage.gaussian_filter",
        x,
        per_axis(data.draw, st.sampled_from([0, 0.5, 1.1]), count),
        per_axis(data.draw, st.integers(0, 3), count),
        mode=per_axis(data.draw, modes, count),
        cval=data.draw(cvals),
        truncate=data.draw(st.sampled_from([1.0, 4.0])),
        radius=per_axis(data.draw, st.sampled_from([None, 0, 2]), count),
        **axes,
    )


@pytest.mark.parametrize("name", ["laplace", "gaussian_laplace", "gaussian_gradient_magnitude"])
@given(data=st.data())
def test_derivatives_along_axes(name: str, double: bool, data: Any) -> None:
    x = data.draw(arrays(shapes=SHAPES[1:3], has_gaps=True))
    axes, count = some_axes(data.draw, x.ndim)
    sigma = () if name == "laplace" else (data.draw(st.sampled_from([0.5, 1.1])),)
    check(
        f"ndimage.{name}",
        x,
        *sigma,
        mode=per_axis(data.draw, modes, count),
        cval=data.draw(cvals),
        **axes,
    )


@pytest.mark.parametrize("name", ["sobel", "prewitt"])
@given(data=st.data())
def test_derivatives(name: str, double: bool, data: Any) -> None:
    x = data.draw(arrays(is_complex=True, has_gaps=True))
    check(
        f"ndimage.{name}",
        x,
        data.draw(st.integers(-x.ndim, x.ndim - 1)),
        data.draw(outputs) if x.dtype.kind in "iu" else None,
        per_axis(data.draw, modes, x.ndim),
        data.draw(cvals),
    )


@pytest.mark.parametrize("name", ["uniform_filter", "minimum_filter", "maximum_filter"])
@given(data=st.data())
def test_windows_of_a_size(name: str, precision: bool, data: Any) -> None:
    x = data.draw(arrays())
    axes, count = some_axes(data.draw, x.ndim)
    sizes, origins = data.draw(sizes_and_origins(count))
    check(
        f"ndimage.{name}",
        x,
        size=sizes,
        output=data.draw(outputs) if x.dtype.kind in "iu" else None,
        mode=per_axis(data.draw, modes, count),
        cval=data.draw(cvals),
        origin=origins,
        **axes,
    )


@pytest.mark.parametrize(
    ("name", "args"),
    [
        *[("minimum_filter", ()), ("maximum_filter", ()), ("median_filter", ())],
        *[("rank_filter", (-2,)), ("percentile_filter", (30,))],
    ],
    ids=str,
)
@given(data=st.data())
def test_windows_with_a_footprint(name: str, args: Any, double: bool, data: Any) -> None:
    # In one dimension, SciPy handles holes differently and reads beyond lines shorter than a
    # window.
    x = data.draw(arrays(shapes=SHAPES[1:]))
    axes, count = some_axes(data.draw, x.ndim)
    sizes, origins = data.draw(sizes_and_origins(count))
    footprint = np.random.default_rng(data.draw(st.integers(0, 9))).random(sizes) > 0.4
    footprint.flat[:2] = True
    if footprint.size < 2:
        args = tuple(max(each, -1) for each in args)
    check(
        f"ndimage.{name}",
        x,
        *args,
        footprint=footprint,
        mode=data.draw(modes),
        cval=0,
        origin=origins,
        **axes,
    )


@settings(max_examples=12)
@given(data=st.data())
def test_interpolation(double: bool, data: Any) -> None:
    """Coordinates avoid the ends and the points at which the nearest element changes."""
    x = data.draw(arrays(is_complex=True))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    where = random.integers(-40, 60, (x.ndim, 2, 3)) / 8 + 1 / 32
    check(
        "ndimage.map_coordinates",
        x,
        where.astype(np.float32),
        order=data.draw(st.integers(0, 1)),
        mode=data.draw(modes),
        cval=data.draw(cvals),
    )
