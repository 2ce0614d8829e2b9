"""The backend beside SciPy: the same values within the tolerance, or a reason to defer."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerances import TOLERANCES

from scipy_dispatch import backend_opts, ndimage
from scipy_dispatch.testing import Comparison, call
from scipy_dispatch.testing.strategies import MODES
from scipy_dispatch_opencv.ndimage import COMPOSED, backend
from spatch_core import BackendDeferredError

MEANS = {"gaussian_filter": {"sigma": 1.5}, "uniform_filter": {"size": 3}}
ORDERS = {name: {"size": 3} for name in ("median_filter", *COMPOSED)}
ZOOM = {"zoom": 1.7, "order": 1, "grid_mode": True, "mode": "nearest"}
CALLS: dict[str, dict[str, Any]] = {**MEANS, **ORDERS, "zoom": ZOOM}
OPENCV = Comparison("opencv", TOLERANCES, prioritize=True, scale_of_data=True)


def image_of(dtype: Any, shape: tuple[int, int] = (24, 31), seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return random.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def why_deferred(name: str, *args: Any, **kwargs: Any) -> str | None:
    """Return the reason for which SciPy would run a call; None if OpenCV would."""
    return OPENCV.why_deferred(f"ndimage.{name}", call(*args, **kwargs))


def check(name: str, image: Any, **options: Any) -> None:
    """Compare a call that OpenCV takes with SciPy's."""
    OPENCV.check(f"ndimage.{name}", call(image, **options))
    with backend_opts(prioritize="opencv"):
        result = getattr(ndimage, name)(image, **options)
    assert result.flags.c_contiguous
    assert result.flags.owndata


def test_each_function_is_compared() -> None:
    assert {name.partition(":")[2] for name in backend.functions} == CALLS.keys()
    assert [f"ndimage.{name}" for name in sorted(CALLS)] == OPENCV.functions == sorted(TOLERANCES)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [name for name in CALLS if name != "zoom"])
def test_borders(name: str, mode: str) -> None:
    for dtype in ("float32", "float64") if name in MEANS else ("uint8", "float32"):
        check(name, image_of(dtype), mode=mode, cval=2, **CALLS[name])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32", "float64"])
@pytest.mark.parametrize("name", [name for name in ORDERS if name != "median_filter"])
def test_data_types(name: str, dtype: str) -> None:
    check(name, image_of(dtype), size=(3, 5))


@pytest.mark.parametrize("name", COMPOSED)
def test_footprints(name: str) -> None:
    footprint = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]], bool)
    check(name, image_of("uint8"), footprint=footprint)


@pytest.mark.parametrize("factors", [0.5, 2, (0.3, 3.1), 1], ids=str)
def test_zoom(factors: Any) -> None:
    for dtype in ("float32", "float64"):
        for mode in ("nearest", "reflect", "grid-mirror"):
            check("zoom", image_of(dtype), zoom=factors, order=1, grid_mode=True, mode=mode)


LENGTHS = st.integers(1, 9)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_small_images_and_large_windows(data: st.DataObject) -> None:
    """Also where a window reaches beyond the opposite border, on views of any strides."""
    name = data.draw(st.sampled_from([name for name in CALLS if name != "zoom"]))
    dtype = data.draw(st.sampled_from(["float32", "float64"] if name in MEANS else ["uint8"]))
    image = image_of(dtype, (data.draw(LENGTHS), data.draw(LENGTHS)), data.draw(st.integers(0, 99)))
    view = data.draw(st.sampled_from([np.s_[:], np.s_[::-1], np.s_[:, ::2], np.s_[::3, ::-2]]))
    image = image[view] if data.draw(st.booleans()) else image.T[view]
    options = {"mode": data.draw(st.sampled_from(MODES)), "cval": data.draw(st.integers(0, 255))}
    if name == "gaussian_filter":
        sigma = st.floats(0, 5)
        check(name, image, sigma=data.draw(st.one_of(sigma, st.tuples(sigma, sigma))), **options)
    elif name == "median_filter":
        check(name, image, size=data.draw(st.sampled_from([3, 5, 9])), **options)
    else:
        odd = st.sampled_from([1, 3, 5, 11])
        check(name, image, size=data.draw(st.one_of(odd, st.tuples(odd, odd))), **options)


def test_output() -> None:
    """The caller's array is filled and returned, also if it is the input."""
    image = image_of("uint8")
    expected = scipy.ndimage.grey_opening(image, 5)
    out = np.zeros_like(image)
    with backend_opts(prioritize="opencv"):
        assert ndimage.grey_opening(image, 5, output=out) is out
        np.testing.assert_array_equal(out, expected)
        ndimage.grey_opening(image, 5, output=image)
        assert ndimage.grey_opening(out, 5, output=np.uint8).dtype == np.uint8
    np.testing.assert_array_equal(image, expected)


REFUSED: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], str]] = {
    "list": ("grey_erosion", ([[1, 2]], 3), {"output": np.zeros((1, 2))}, "is a list"),
    "volume": ("uniform_filter", (np.zeros((3, 3, 3)),), {}, "takes images"),
    "empty": ("uniform_filter", (np.zeros((0, 3)),), {}, "takes images"),
    "integers": ("uniform_filter", (image_of("uint8"),), {}, "no uint8 with SciPy's results"),
    "byte order": ("uniform_filter", (np.zeros((3, 3), ">f4"),), {}, "no >f4|no float32"),
    "NaN": ("maximum_filter", (np.full((3, 3), np.nan), 3), {}, "NaN"),
    "modes": ("uniform_filter", (np.zeros((3, 3)),), {"mode": ["wrap", "mirror"]}, "border mode"),
    "origin": ("median_filter", (image_of("uint8"), 3), {"origin": 1}, "nothing like origin="),
    "axes": ("median_filter", (image_of("uint8"), 3), {"axes": 0}, "nothing like axes="),
    "even": ("grey_erosion", (image_of("uint8"), 4), {}, "no centre"),
    "median": ("median_filter", (image_of("float32"), 7), {}, "no median of .* for float32"),
    "structure": (
        "grey_dilation",
        (image_of("uint8"),),
        {"structure": np.ones((3, 3))},
        "structure=",
    ),
    "cval": (
        "grey_erosion",
        (image_of("uint8"), 3),
        {"mode": "constant", "cval": -1},
        "no uint8 is",
    ),
    "output": (
        "uniform_filter",
        (np.zeros((3, 3)),),
        {"output": np.float32},
        "data type of the input",
    ),
    "order": ("gaussian_filter", (np.zeros((3, 3)), 1), {"order": 1}, "nothing like order="),
    "cubic": ("zoom", (np.zeros((3, 3)), 2), {}, "order=1, grid_mode=True"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_it_cannot_do_it_leaves_to_scipy(name: str) -> None:
    function, args, kwargs, reason = REFUSED[name]
    said = why_deferred(function, *args, **kwargs)
    assert said is not None
    assert re.search(reason, said)
    forced = getattr(ndimage, function).invoke(backend="opencv", force=True)
    with pytest.raises(BackendDeferredError, match=reason):
        forced(*args, **kwargs)
    with backend_opts(prioritize="opencv"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = getattr(ndimage, function)(*args, **kwargs)
    np.testing.assert_array_equal(result, getattr(scipy.ndimage, function)(*args, **kwargs))


@pytest.mark.parametrize(
    ("function", "kwargs"),
    [
        ("uniform_filter", {"mode": "bar"}),
        ("minimum_filter", {}),
        ("median_filter", {"footprint": np.zeros((3, 3), bool)}),
        ("gaussian_filter", {"sigma": 1, "radius": -1}),
        ("uniform_filter", {"size": 3, "wrong": 1}),
    ],
    ids=["mode", "no size", "empty footprint", "radius", "unknown parameter"],
)
def test_mistakes_are_reported_by_scipy(function: str, kwargs: dict[str, Any]) -> None:
    image = image_of("float64")
    with pytest.raises((RuntimeError, TypeError, ValueError)) as expected:
        getattr(scipy.ndimage, function)(image, **kwargs)
    with backend_opts(prioritize="opencv"), pytest.raises(type(expected.value)) as raised:
        getattr(ndimage, function)(image, **kwargs)
    assert str(raised.value) == str(expected.value)


def test_it_needs_opt_in() -> None:
    assert ndimage.median_filter.explain(image_of("uint8"), 3).selected == "default"
