"""The reach of functions, and the reasons why it may be unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage
from sharing import forced

from scipy_dispatch_threads import _reach as reach
from scipy_dispatch_threads._call import Call, Deferred
from scipy_dispatch_threads._split import Reach
from scipy_dispatch_threads._table import TABLE

IMAGE = np.zeros((8, 9))


def bound(name: str, **arguments: Any) -> Call:
    return Call(getattr(ndimage, name), (IMAGE,), arguments)


@pytest.mark.parametrize(
    ("reaches", "call", "radii"),
    [
        (reach.weights, bound("convolve", weights=np.ones((3, 5))), [1, 2]),
        (reach.weights, bound("convolve", weights=np.ones((3, 4)), origin=1), [2, 3]),
        (reach.weights1d, bound("correlate1d", weights=[1] * 7), [0, 3]),
        (reach.gaussian, bound("gaussian_filter", sigma=(1, 2)), [4, 8]),
        (reach.gaussian, bound("gaussian_filter", sigma=1, radius=(5, None)), [5, 4]),
        (reach.gaussian1d, bound("gaussian_filter1d", sigma=3, truncate=2, axis=-2), [6, 0]),
        (reach.gaussian_derivatives, bound("gaussian_laplace", sigma=(1, 2)), [8, 8]),
        (reach.ones, bound("sobel"), [1, 1]),
        (reach.window(), bound("grey_erosion", size=(3, 5)), [1, 2]),
        (reach.window(), bound("grey_erosion", footprint=np.ones((7, 1))), [3, 0]),
        (reach.window(times=2), bound("grey_opening", structure=np.ones((3, 3))), [2, 2]),
        (reach.structure(), bound("binary_erosion", iterations=3), [3, 3]),
        (reach.structure(times=2), bound("binary_opening", structure=np.ones((5, 1))), [4, 0]),
        (reach.two_structures, bound("binary_hit_or_miss", structure2=np.ones((1, 7))), [1, 3]),
        (reach.two_structures, bound("binary_hit_or_miss", origin1=(0, 1)), [1, 2]),
        (reach.two_structures, bound("binary_hit_or_miss", origin2=(-1, 0)), [2, 1]),
    ],
    ids=lambda value: value.function.__name__ if isinstance(value, Call) else None,
)
def test_radii(reaches: Any, call: Call, radii: list[int]) -> None:
    assert reaches(call) == [Reach(radius) for radius in radii]


def test_axes_that_are_not_filtered_are_not_read_across() -> None:
    call = bound("gaussian_filter", sigma=1, axes=(-1,), mode="wrap")
    assert reach.gaussian(call) == [Reach(), Reach(4, wraps=True)]


@pytest.mark.parametrize("mode", ["wrap", "grid-wrap"])
def test_axes_wrap_each_by_its_own_mode(mode: str) -> None:
    call = bound("gaussian_filter", sigma=1, mode=("reflect", mode))
    assert reach.gaussian(call) == [Reach(4), Reach(4, wraps=True)]


def test_what_runs_along_lines_needs_them_whole() -> None:
    assert reach.line(bound("uniform_filter1d", size=3, axis=0)) == [None, Reach()]
    assert reach.plane(Call(ndimage.rotate, (np.zeros((3, 4, 5)), 30), {})) == [
        None,
        None,
        Reach(),
    ]


def test_ranks_of_one_axis_need_it_whole() -> None:
    assert reach.rank_window(Call(ndimage.median_filter, (np.zeros(9), 3), {})) == [None]


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("gaussian_filter", {"sigma": 1, "axes": (1, 0)}, "the axes are out of order"),
        ("gaussian_filter", {"sigma": 1, "radius": -1}, "ValueError: a radius of -1 elements"),
        ("gaussian_filter", {"sigma": iter([1, 2])}, "sigma is an iterator"),
        ("gaussian_filter", {"sigma": (1, 2, 3)}, "ValueError: sigma has 3 values for 2 axes"),
        ("gaussian_filter1d", {"sigma": 1, "axis": 2}, "ValueError: there is no axis 2"),
        ("gaussian_laplace", {"sigma": 1, "mode": ["wrap", "reflect"]}, "wrap around and others"),
        ("gaussian_laplace", {"sigma": 1, "order": 2}, "other than truncate and radius"),
        ("grey_erosion", {"size": 0}, "ValueError: a window of 0 elements"),
        ("grey_erosion", {"size": 3, "footprint": np.ones((3, 3))}, "SciPy is to warn"),
        (
            "grey_erosion",
            {"footprint": np.ones((3, 3)), "structure": np.ones((5, 5))},
            "footprint and structure are of different shapes",
        ),
        ("binary_erosion", {"iterations": 0}, "until nothing changes"),
        ("binary_erosion", {"iterations": 1.5}, "TypeError"),
        (
            "binary_erosion",
            {"iterations": 2, "output": np.zeros_like(IMAGE)},
            "an output that is not bool",
        ),
    ],
)
def test_why_not(name: str, arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(Deferred) as caught:
        TABLE[name].check(bound(name, **arguments), forced(2))
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("name", "arguments", "runs"),
    [
        ("maximum_filter", {"size": 3}, True),
        ("maximum_filter", {"footprint": np.ones((3, 3))}, True),
        ("maximum_filter", {"footprint": np.eye(3)}, False),
        ("grey_erosion", {"structure": np.ones((3, 3))}, False),
        ("median_filter", {"size": 3}, False),
        ("median_filter", {"size": (1, 2)}, True),
        ("percentile_filter", {"size": 3, "percentile": 50}, False),
        ("percentile_filter", {"size": 3, "percentile": 0}, True),
        ("percentile_filter", {"size": 3, "percentile": 100}, True),
        ("percentile_filter", {"size": 3, "percentile": -1}, True),
        ("rank_filter", {"size": 3, "rank": 4}, False),
        ("rank_filter", {"size": 3, "rank": 0}, True),
        ("rank_filter", {"size": 3, "rank": -1}, True),
        ("rank_filter", {"footprint": np.eye(3), "rank": 0}, False),
    ],
)
def test_which_windows_are_gone_over_by_running_extremes(
    name: str, arguments: dict[str, Any], runs: bool
) -> None:
    strategy: Any = TABLE[name]
    assert getattr(strategy, "first", strategy).runs(bound(name, **arguments)) is runs
