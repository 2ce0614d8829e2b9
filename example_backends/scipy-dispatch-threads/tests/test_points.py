"""Interpolation at given points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from sharing import forced, shared, why_not

from scipy_dispatch.testing import assert_identical

IMAGE = np.random.default_rng(0).standard_normal((20, 30))
POINTS = 40 * np.random.default_rng(1).random((2, 7, 9)) - 5


@pytest.mark.parametrize("order", [0, 1, 2, 5])
@pytest.mark.parametrize(
    "image", [IMAGE, IMAGE * (1 + 2j), IMAGE.astype("f4")], ids=lambda a: a.dtype
)
def test_the_points_are_shared(image: np.ndarray, order: int) -> None:  # type: ignore[type-arg]
    function = shared("map_coordinates", forced(5))
    expected = ndimage.map_coordinates(image, POINTS, order=order)
    assert_identical(function(image, POINTS, order=order), expected)
    assert_identical(function(image, POINTS.tolist(), order=order), expected)
    output = np.zeros_like(expected)
    assert function(image, POINTS, output=output, order=order) is output
    assert_identical(output, expected)


@pytest.mark.parametrize("mode", ["nearest", "grid-constant"])
def test_what_scipy_pads_first_is_left_to_it(mode: str) -> None:
    arguments = {"input": IMAGE, "coordinates": POINTS, "mode": mode}
    assert "SciPy pads the input" in (why_not("map_coordinates", arguments, forced(5)) or "")
    for further in ({"order": 1}, {"prefilter": False}):
        assert why_not("map_coordinates", {**arguments, **further}, forced(5)) is None


def test_the_number_of_points_counts_not_that_of_elements() -> None:
    from scipy_dispatch_threads._policy import Policy

    policy = Policy(workers=2, smallest=128, smallest_slab=10)
    arguments = {"input": IMAGE, "coordinates": POINTS}
    assert "126 elements are too few" in (why_not("map_coordinates", arguments, policy) or "")
    arguments = {"input": IMAGE[:2, :2], "coordinates": np.zeros((2, 64))}
    assert why_not("map_coordinates", arguments, policy) is None


def test_an_output_that_is_read_from_is_left_to_scipy() -> None:
    points = POINTS.reshape(2, -1)
    arguments = {"input": IMAGE, "coordinates": points, "output": points[0]}
    reason = why_not("map_coordinates", arguments, forced(5))
    assert reason == "the output shares memory with coordinates"
    arguments["output"] = np.zeros(5)
    assert "shape" in (why_not("map_coordinates", arguments, forced(5)) or "")


def test_an_empty_input_is_left_to_scipy() -> None:
    """SciPy reads out of bounds there."""
    arguments = {"input": IMAGE[:0], "coordinates": np.zeros((2, 64))}
    assert "0 elements are too few" in (why_not("map_coordinates", arguments, forced(5)) or "")
