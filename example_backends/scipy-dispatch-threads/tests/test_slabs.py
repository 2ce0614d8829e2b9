"""Difficult cases for slabs: running extremes with NaN, and outputs that overlap inputs."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from scipy import ndimage
from sharing import STRATEGIES, assert_scipy_s, forced, shared, why_not
from typical import CALLS, an_array

from scipy_dispatch.testing import assert_identical
from scipy_dispatch_threads._strategy import evaluate
from scipy_dispatch_threads._table import TABLE

RUNNING = [
    "grey_closing",
    "grey_dilation",
    "maximum_filter",
    "maximum_filter by passes",
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
    """SciPy behaves in this way, so lines that may contain NaN are not split."""
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
    assert "no axis" in (why_not("uniform_filter", {"input": array[0], "size": 5}, forced(7)) or "")


def test_which_of_two_zeros_comes_out() -> None:
    array = np.random.default_rng(0).choice([0.0, -0.0], (40, 50))
    for key in RUNNING[:-1]:
        assert_scipy_s(key, array, 7, **of_size(key))


@pytest.mark.parametrize("key", [key for key in STRATEGIES if key != "rotate"])
def test_an_output_that_overlaps_the_input_is_left_to_scipy(key: str) -> None:
    name, _ = STRATEGIES[key]
    memory = np.zeros((120, 60), bool if name.startswith("binary") else float)
    array, output = memory[:50], memory[10:60]
    if name == "map_coordinates":
        output = output[:9, :11]
    reason = why_not(key, {"input": array, **CALLS[name], "output": output}, forced(5))
    assert reason == "the output shares memory with input"


def test_an_output_that_is_the_mask_is_left_to_scipy() -> None:
    array, mask = np.random.default_rng(0).random((2, 40, 50)) > 0.3
    arguments = {"input": array, "mask": mask, "output": mask}
    assert why_not("binary_erosion", arguments, forced(5)) == "the output shares memory with mask"


def test_a_mask_is_cut_with_the_input() -> None:
    array, mask = np.random.default_rng(0).random((2, 40, 50)) > 0.3
    for given in (mask, mask.tolist(), mask.astype(float)):
        assert_scipy_s("binary_dilation", array, 7, mask=given, iterations=3)


@pytest.mark.parametrize("name", ["sobel", "laplace", "grey_opening"])
def test_an_input_that_is_overwritten_is_cut_along_other_axes(name: str) -> None:
    """Other threads would overwrite the neighbours of a slab."""
    array = an_array(name)
    arguments = {"input": array, "output": array, **CALLS[name]}
    assert "each is needed as a whole" in (why_not(name, arguments, forced(5)) or "")
    arguments = {"input": array, "output": array, "sigma": 2, "axis": 0}
    assert why_not("gaussian_filter1d", arguments, forced(5)) is None


def test_nothing_shorter_than_a_structure_is_gone_over_repeatedly() -> None:
    """SciPy reads and writes out of bounds there."""
    calls: list[tuple[tuple[int, ...], int]] = []

    @functools.wraps(ndimage.binary_dilation)
    def recorded(input: Any, structure: Any, iterations: int, *args: Any, **kwargs: Any) -> Any:
        calls.append((input.shape, iterations))
        return ndimage.binary_dilation(input, structure, iterations, *args, **kwargs)

    image = np.random.default_rng(0).random((50, 60)) > 0.9
    further = {"structure": np.ones((4, 4)), "iterations": 3}
    evaluate(TABLE["binary_dilation"], recorded, (image,), further, forced(50))
    assert len(calls) == 51
    assert all(iterations == 1 for shape, iterations in calls if min(shape) < 4)


def test_two_structures() -> None:
    array = np.random.default_rng(0).random((60, 50)) > 0.4
    for further in (
        {"structure2": np.eye(9)},
        {"structure2": np.ones((1, 1)), "origin2": 0},
        {"structure1": np.eye(9), "structure2": np.ones((1, 1))},
        {"structure1": [[0, 1, 0, 0, 0]] * 5, "origin1": (2, -2)},
    ):
        assert_scipy_s("binary_hit_or_miss", array, 20, **further)


@pytest.mark.parametrize("shape", [(60, 50), (49, 60), (50,)], ids=str)
def test_an_output_of_the_wrong_shape_is_scipy_s_to_refuse(shape: tuple[int, ...]) -> None:
    for name in ("gaussian_filter", "uniform_filter", "binary_erosion"):
        assert_scipy_s(name, an_array(name), 5, **CALLS[name], output=np.zeros(shape, bool))


@pytest.mark.parametrize("name", ["sobel", "uniform_filter", "binary_opening", "map_coordinates"])
def test_an_output_whose_elements_lie_on_each_other_is_left_to_scipy(name: str) -> None:
    """The element written last must be the same as without threads."""
    row = np.zeros(60 if name != "map_coordinates" else 11)
    output = np.lib.stride_tricks.as_strided(row, (50 if row.size == 60 else 9, row.size), (0, 8))
    reason = why_not(name, {"input": an_array(name), **CALLS[name], "output": output}, forced(5))
    assert reason == "elements of the output share memory with each other"


def test_a_read_only_output_is_scipy_s_to_refuse() -> None:
    array, output = an_array("sobel"), np.zeros((50, 60))
    output.flags.writeable = False
    for function in (ndimage.sobel, shared("sobel", forced(5))):
        with pytest.raises(ValueError, match="read-only"):
            function(array, output=output)


@pytest.mark.parametrize("reshape", [True, False])
def test_planes_of_an_array_of_four_axes(reshape: bool) -> None:
    array = np.random.default_rng(0).random((5, 6, 7, 8))
    for axes in ((0, 1), (3, 1), (2, -1)):
        assert_scipy_s("rotate", array, 3, angle=20, axes=axes, reshape=reshape)


def test_the_result_is_laid_out_as_scipy_s() -> None:
    array = np.asfortranarray(an_array("sobel"))
    assert shared("sobel", forced(5))(array).flags.c_contiguous


def test_a_foreign_byte_order_is_made_native() -> None:
    array = an_array("sobel", ">f4")
    assert shared("sobel", forced(5))(array).dtype == np.dtype("float32")


def test_floating_point_errors_are_treated_as_the_caller_says() -> None:
    array = np.full((40, 50), 1e200)
    array[::2, ::2] *= -1
    function = shared("gaussian_gradient_magnitude", forced(5))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        function(array, 1)
    with np.errstate(over="ignore"):
        assert_identical(function(array, 1), ndimage.gaussian_gradient_magnitude(array, 1))
