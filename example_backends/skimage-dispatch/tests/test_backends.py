"""Both backends give scikit-image's results, for every function that they have."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import skimage
from dask.base import is_dask_collection

import scipy_dispatch_threads
import skimage_dispatch
from scipy_dispatch_threads._split import Policy
from skimage_dispatch import backend_opts, feature, filters, morphology, system
from skimage_dispatch_backends._neighbours import NEIGHBOURS

GREY = skimage.data.camera()[100:300, 50:280]
COLOUR = skimage.data.astronaut()[:180, :190]
SQUARE = skimage.morphology.footprint_rectangle((5, 3))
DISK = skimage.morphology.disk(5, decomposition="sequence")

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "feature:structure_tensor": [{"sigma": (1, 2), "order": "xy"}, {"mode": "wrap"}],
    "filters:difference_of_gaussians": [{"low_sigma": 1}, {"low_sigma": 1, "high_sigma": (3, 2)}],
    "filters:gabor": [{"frequency": 0.3}, {"frequency": 0.2, "theta": 0.4, "mode": "nearest"}],
    "filters:gaussian": [{}, {"sigma": (3, 0.4), "mode": "wrap"}, {"preserve_range": True}],
    "filters:laplace": [{}, {"ksize": 5}],
    "filters:median": [{}, {"footprint": SQUARE, "mode": "reflect"}],
    "filters:threshold_local": [
        *({"block_size": (5, 9)}, {"param": 2.5, "mode": "wrap"}),
        {"block_size": (5, 9), "method": "median", "offset": 3},
    ],
    "filters.rank:median": [{}, {"footprint": SQUARE, "shift_y": -1}],
    "filters:sobel": [{}, {"axis": 0, "mode": "constant", "cval": 0.5}, {"axis": [0, 1]}],
    "morphology:opening": [{}, {"footprint": DISK}, {"footprint": SQUARE, "mode": "wrap"}],
    "morphology:erosion": [{}, {"footprint": DISK, "mode": "ignore"}, {"mode": "constant"}],
}
"""Arguments beside the image; all other functions have a call without, or with a footprint."""


def calls() -> Iterator[Any]:
    for place in NEIGHBOURS:
        is_rank = "rank:" in place
        usual = [{"footprint": SQUARE}, {"footprint": SQUARE, "shift_x": 1}] if is_rank else [{}]
        for number, settings in enumerate(SETTINGS.get(place, usual)):
            yield pytest.param(place, settings, id=f"{place}-{number}")


def the_function(place: str, package: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"{package}.{module}"), name)


def is_same(first: Any, second: Any, tolerance: float = 0) -> bool:
    if isinstance(first, (list, tuple)):
        assert type(first) is type(second)
        return len(first) == len(second) and all(map(is_same, first, second))
    assert first.dtype == second.dtype
    assert first.shape == second.shape
    return (
        np.allclose(first, second, tolerance, tolerance)
        if tolerance
        else bool((first == second).all())
    )


def computed(lazy: Any) -> Any:
    if isinstance(lazy, (list, tuple)):
        return type(lazy)(map(computed, lazy))
    assert is_dask_collection(lazy)
    return lazy.compute(scheduler="sync")


@pytest.fixture(autouse=True)
def small_images_are_shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    scipy_dispatch_threads.set_workers(2)
    monkeypatch.setattr(Policy, "current", lambda: Policy(2, smallest=2**15))
    yield
    scipy_dispatch_threads.set_workers(None)


@pytest.mark.parametrize(("place", "settings"), [*calls()])
def test_the_results_are_those_of_scikit_image(place: str, settings: dict[str, Any]) -> None:
    """Of threads and of Dask bit for bit; of Dask's colours, to the last bits."""
    image = COLOUR / 255 if place.startswith("color:") else GREY
    expected = the_function(place, "skimage")(image, **settings)
    function = the_function(place, "skimage_dispatch")
    assert is_same(function(image, **settings), expected)
    chunked = da.from_array(image, (70, 101, -1)[: image.ndim])
    tolerance = 1e-14 if NEIGHBOURS[place].rounds else 0
    assert is_same(computed(function(chunked, **settings)), expected, tolerance)
    if not NEIGHBOURS[place].rounds:
        with backend_opts(prioritize="threads", trace=True) as trace:
            assert is_same(function(image, **settings), expected)
        assert trace[-1].backend == "threads", trace


def test_channels_are_no_neighbours() -> None:
    expected = skimage.filters.gaussian(COLOUR, 2, channel_axis=-1)
    with backend_opts(prioritize="threads"):
        assert is_same(filters.gaussian(COLOUR, 2, channel_axis=-1), expected)
    chunked = da.from_array(COLOUR, (100, 100, 1))
    assert is_same(computed(filters.gaussian(chunked, 2, channel_axis=-1)), expected)


@pytest.mark.parametrize("function", [morphology.dilation, filters.median])
def test_a_nan_is_where_scikit_image_has_it(function: Any) -> None:
    """Minima and maxima run along lines: what follows a NaN depends on it."""
    image = np.random.default_rng(0).random((300, 200))
    image[17, 80] = image[150, 3] = np.nan
    expected = function(image, np.ones((3, 5)))
    with backend_opts(prioritize="threads"):
        found = function(image, np.ones((3, 5)))
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(
    ("reason", "function", "args", "kwargs"),
    [
        ("mask=", filters.sobel, [GREY, GREY > 9], {}),
        ("out=", filters.gaussian, [GREY / 255], {"out": np.empty(GREY.shape)}),
        ("few", filters.sobel, [GREY[:9]], {}),
        ("caller's", filters.threshold_local, [GREY], {"method": "generic", "param": np.max}),
        ("running mean", filters.threshold_local, [GREY, 5, "mean"], {}),
        ("uint8", filters.rank.mean, [GREY.astype(np.uint16), SQUARE], {}),
        (
            "3 axes for an image of 2 are an error",
            morphology.erosion,
            [GREY, np.ones((3, 3, 3))],
            {},
        ),
        ("scikit-image reports the error", filters.gaussian, [GREY, (1, 2, 3)], {}),
    ],
)
def test_what_is_left_to_scikit_image_has_a_reason(
    reason: str, function: Any, args: list[Any], kwargs: Any
) -> None:
    with backend_opts(prioritize="threads"):
        explained = str(function.explain(*args, **kwargs))
    assert reason in explained
    assert "runs" in explained.split("default")[1]


def test_a_wrong_argument_is_scikit_images_error() -> None:
    """The same from the backends, and before a lazy array is computed."""
    chunked = da.from_array(GREY, (100, 100))
    for image, options in [(GREY, {"prioritize": "threads"}), (chunked, {})]:
        with (
            pytest.raises(ValueError, match="unsupported mode, got 'bent'"),
            backend_opts(**options),
        ):
            morphology.erosion(image, mode="bent")


def test_lazy_settings_are_refused() -> None:
    chunked = da.from_array(GREY, (100, 100))
    lazy = da.from_array(SQUARE)
    for footprint in (lazy, [(lazy, 1)]):
        refused = pytest.raises(TypeError, match="footprint= is a Dask")
        with backend_opts(fallback="raise"), refused:
            morphology.erosion(chunked, footprint)


def test_conversions_reach_the_arrays_in_a_sequence() -> None:
    """A sequence of footprints counts as its arrays do, also without an image."""
    lazy = ((da.from_array(SQUARE), 2), (da.from_array(SQUARE.T), 1))
    plain = ((SQUARE, 2), (SQUARE.T, 1))
    with dask.config.set({"scipy_dispatch.compute": True}), backend_opts(fallback="convert"):
        found = morphology.erosion(da.from_array(GREY), lazy)
        whole = morphology.footprint_from_sequence(lazy)
    assert is_same(computed(found), skimage.morphology.erosion(GREY, plain))
    assert is_same(computed(whole), skimage.morphology.footprint_from_sequence(plain))


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    def explode(block: Any) -> Any:
        raise AssertionError("computed")

    lazy = da.from_array(GREY, (100, 100)).map_blocks(explode, dtype=GREY.dtype, meta=GREY[:0])
    assert filters.sobel(lazy).shape == GREY.shape
    assert len(feature.structure_tensor(lazy)) == 3


def test_every_function_of_the_table_is_implemented() -> None:
    for name in skimage_dispatch.__all__:
        getattr(skimage_dispatch, name)
    for place, known in NEIGHBOURS.items():
        backends = system.functions[f"skimage_dispatch.{place}"].backends
        assert "dask" in backends
        assert ("threads" in backends) == (not known.rounds)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("transform:iradon_sart", (np.eye(16), np.linspace(0, 170, 16), np.full((16, 16), 0.1))),
        ("util:montage", (np.arange(32.0).reshape(2, 4, 4), 0.0, True)),
    ],
)
def test_what_a_function_writes_into_an_argument_is_converted_back(
    name: str, arguments: tuple[Any, ...]
) -> None:
    """The result of `iradon_sart` is its argument, which would be the caller's unchanged one."""
    module, _, function = name.partition(":")
    expected = [np.copy(each) for each in arguments]
    result = getattr(import_module(f"skimage.{module}"), function)(*expected)
    given = [da.from_array(each) if np.ndim(each) else each for each in arguments]
    with (
        dask.config.set({"scipy_dispatch.compute": True}),
        backend_opts(prioritize="dask", fallback="convert"),
    ):
        found = getattr(import_module(f"skimage_dispatch.{module}"), function)(*given)
    np.testing.assert_allclose(np.asarray(found), result)
    for each, other in zip(given, expected, strict=True):
        np.testing.assert_allclose(np.asarray(each), other)


def test_masks_survive_conversions() -> None:
    """Those of the argument, and those of the result."""
    image = np.ma.masked_greater(np.linspace(0, 12, 36).reshape(6, 6) % 6 - 3, 2.5)
    expected = skimage.restoration.unwrap_phase(image)
    with (
        dask.config.set({"scipy_dispatch.compute": True}),
        backend_opts(prioritize="dask", fallback="convert"),
    ):
        found = skimage_dispatch.restoration.unwrap_phase(da.from_array(image)).compute()
    assert np.ma.getmaskarray(expected).any()
    np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
    np.testing.assert_array_equal(found.filled(0), expected.filled(0))
