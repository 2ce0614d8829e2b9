"""Calls that are left to SciPy, with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sharing import STRATEGIES, forced, why_not
from typical import CALLS, an_array

from scipy_dispatch_threads._split import Policy

IMAGE = np.random.default_rng(0).standard_normal((40, 50))
MASK = IMAGE > 0
POINTS = 40 * np.random.default_rng(1).random((2, 7, 9)) - 5
TWICE = np.lib.stride_tricks.as_strided(np.zeros(50), (40, 50), (0, 8))


class Subclass(np.ndarray):  # type: ignore[type-arg]
    pass


READ_ONLY = np.zeros((40, 50))
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("sobel", {"input": IMAGE[:0]}, "0 elements are too few"),
        ("sobel", {"input": IMAGE.tolist()}, "the input is a list"),
        ("sobel", {"input": IMAGE.view(Subclass)}, "the input is a Subclass"),
        ("sobel", {"output": IMAGE.view(Subclass)}, "the output is a Subclass"),
        ("sobel", {"output": READ_ONLY}, "the output is read-only"),
        ("sobel", {"output": TWICE}, "elements of the output share memory"),
        ("sobel", {"output": IMAGE}, "each is needed as a whole"),
        ("sobel", {"output": np.zeros((41, 50))}, "not of the shape of the result"),
        ("sobel", {"input": IMAGE * 1j, "output": "f4"}, "output of complex numbers"),
        ("gaussian_filter", {}, "missing a required argument: 'sigma'"),
        ("gaussian_filter", {"sigma": 1, "axes": (1, 0)}, "the axes are out of order"),
        ("gaussian_filter", {"sigma": 1, "radius": -1}, "ValueError: a radius of -1 elements"),
        ("gaussian_filter", {"sigma": iter([1, 2])}, "sigma is an iterator"),
        ("gaussian_laplace", {"sigma": 1, "mode": ["wrap", "reflect"]}, "wrap around and others"),
        ("uniform_filter", {"size": 1}, "nothing is done"),
        ("uniform_filter", {"input": IMAGE[0], "size": 3}, "no axis of 50 elements"),
        ("median_filter", {"input": IMAGE[0], "size": 3}, "no axis of 50 elements"),
        ("median_filter", {"input": np.full((9, 9), np.nan), "size": 3}, "after a NaN"),
        ("maximum_filter", {"input": np.full((9, 9), np.nan), "size": 3}, "after a NaN"),
        ("binary_erosion", {"iterations": 0}, "until nothing changes"),
        ("binary_erosion", {"iterations": 1.5}, "TypeError"),
        ("binary_erosion", {"iterations": 2, "output": IMAGE[::-1]}, "that is not bool"),
        ("binary_erosion", {"mask": MASK, "output": MASK}, "shares memory with mask"),
        ("binary_erosion", {"mask": MASK[:5]}, "mask is not of the shape of the input"),
        ("map_coordinates", {"coordinates": POINTS, "mode": "nearest"}, "pads the input"),
        ("map_coordinates", {"coordinates": POINTS, "output": np.zeros(5)}, "not of the shape"),
        ("map_coordinates", {"coordinates": POINTS, "output": POINTS[0]}, "with coordinates"),
        ("map_coordinates", {"input": IMAGE[:0], "coordinates": POINTS}, "0 elements are too few"),
    ],
)
def test_why_not(name: str, arguments: dict[str, Any], reason: str) -> None:
    assert reason in (why_not(name, {"input": IMAGE, **arguments}, forced(5)) or "")


def test_what_is_counted_has_to_be_enough() -> None:
    """The elements of the input, or the points."""
    assert why_not("sobel", {"input": IMAGE}, Policy(1)) == "there is one worker"
    assert "2000 elements are too few" in (why_not("sobel", {"input": IMAGE}, Policy(2)) or "")
    arguments = {"input": IMAGE, "coordinates": POINTS}
    reason = why_not("map_coordinates", arguments, Policy(2, smallest=128)) or ""
    assert "126 elements are too few" in reason


@pytest.mark.parametrize("key", [key for key in STRATEGIES if key != "rotate"])
def test_an_output_that_overlaps_the_input_is_left_to_scipy(key: str) -> None:
    name, _ = STRATEGIES[key]
    memory = np.zeros((120, 60), bool if name.startswith("binary") else float)
    array, output = memory[:50], memory[10:60]
    if name == "map_coordinates":
        output = output[:9, :11]
    reason = why_not(key, {"input": array, **CALLS[name], "output": output}, forced(5))
    assert reason == "the output shares memory with input"


def test_an_input_that_is_overwritten_is_cut_along_other_axes() -> None:
    """Other threads would overwrite the neighbours of a slab."""
    array = an_array("gaussian_filter1d")
    arguments = {"input": array, "output": array, "sigma": 2, "axis": 0}
    assert why_not("gaussian_filter1d", arguments, forced(5)) is None
