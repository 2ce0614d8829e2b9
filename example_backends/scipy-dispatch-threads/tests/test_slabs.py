"""Slabs: of every function, and where it is difficult: NaN, masks, running sums, and points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import ndimage
from sharing import STRATEGIES, assert_scipy_s, forced, shared, why_not
from typical import CALLS, an_array

from scipy_dispatch.testing import assert_identical
from scipy_dispatch_threads import _pool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@pytest.mark.parametrize("key", STRATEGIES)
def test_a_typical_call_is_shared(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call makes the requested number of slabs; its result equals SciPy's bit for bit."""
    name, _ = STRATEGIES[key]
    numbers = []
    run = _pool.run

    def counting(task: Callable[[Any], object], items: Sequence[Any], share: int) -> None:
        items = list(items)
        numbers.append(len(items))
        run(task, items, share)

    monkeypatch.setattr(_pool, "run", counting)
    arguments = {"input": an_array(name), **CALLS[name]}
    if "by passes" in key:
        arguments.pop("structure", None)
    assert why_not(key, arguments, forced(5)) is None
    result = shared(key, forced(5))(**arguments)
    assert 5 in numbers
    assert_identical(result, getattr(ndimage, name)(**arguments))


RUNNING = [
    "grey_closing",
    "grey_dilation",
    "maximum_filter",
    "maximum_filter1d",
    "minimum_filter",
    "minimum_filter1d",
    "morphological_gradient",
    "percentile_filter",
    "rank_filter",
    "white_tophat",
]


def of_size(key: str) -> dict[str, Any]:
    return {
        "size": 3,
        **({"rank": 0} if key == "rank_filter" else {}),
        **({"percentile": 100} if key == "percentile_filter" else {}),
        **({"axis": 0} if "1d" in key else {}),
    }


@pytest.mark.parametrize("shape", [(300,), (60, 5)], ids=str)
@pytest.mark.parametrize("key", RUNNING)
def test_after_a_nan_extremes_depend_on_all_before(key: str, shape: tuple[int, ...]) -> None:
    """SciPy behaves in this way, so arrays that contain a NaN are left to it."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        array = rng.standard_normal(shape)
        array[rng.random(shape) < 0.1] = np.nan
        assert_scipy_s(key, array, 7, **of_size(key))


@pytest.mark.parametrize("key", RUNNING)
def test_nan_beyond_the_edges(key: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        array = np.sort(rng.standard_normal(40))[:: rng.choice([-1, 1])]
        assert_scipy_s(key, array, 7, **of_size(key), mode="constant", cval=np.nan)


def test_sums_that_run_along_a_line_are_rounded_as_without_cuts() -> None:
    array = np.random.default_rng(0).standard_normal((3, 500)) * 1e6
    for key in ("uniform_filter1d", "uniform_filter"):
        assert_scipy_s(key, array, 7, size=5)


def test_a_mask_is_cut_with_the_input() -> None:
    array, mask = np.random.default_rng(0).random((2, 40, 50)) > 0.3
    for given in (mask, mask.tolist(), mask.astype(float)):
        assert_scipy_s("binary_dilation", array, 7, mask=given, iterations=3)


@pytest.mark.parametrize("shape", [(7, 6), (5, 7), (6,)], ids=str)
def test_an_output_of_the_wrong_shape_is_scipy_s_to_refuse(shape: tuple[int, ...]) -> None:
    for name in ("gaussian_filter", "uniform_filter", "binary_erosion"):
        assert_scipy_s(name, an_array(name), 5, **CALLS[name], output=np.zeros(shape, bool))


@pytest.mark.parametrize("order", [0, 1, 2, 5])
@pytest.mark.parametrize("dtype", ["f8", "c16", "f4"])
def test_points_are_shared(dtype: str, order: int) -> None:
    image = np.random.default_rng(0).standard_normal((20, 30)).astype(dtype)
    points = 40 * np.random.default_rng(1).random((2, 7, 9)) - 5
    for given in (points, points.tolist()):
        assert_scipy_s("map_coordinates", image, 5, coordinates=given, order=order)
    output = np.zeros((7, 9), dtype)
    assert_scipy_s("map_coordinates", image, 5, coordinates=points, output=output, order=order)
