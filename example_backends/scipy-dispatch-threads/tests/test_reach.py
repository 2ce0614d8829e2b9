"""Reasons not to cut an array, and which functions run along lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage
from sharing import forced, why_not

from scipy_dispatch_threads import _reach as reach
from scipy_dispatch_threads._call import Call, bind
from scipy_dispatch_threads._table import TABLE

IMAGE = np.zeros((8, 9))


def test_what_runs_along_lines_needs_them_whole() -> None:
    call = Call(ndimage.uniform_filter1d, {"size": 3, "axis": 0})
    assert reach.line(call, 2) == [None, (0, False)]
    assert reach.plane(Call(ndimage.rotate, {}), 3) == [None, None, (0, False)]
    assert reach.rank_window(Call(ndimage.median_filter, {"size": 3}), 1) == [None]


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("gaussian_filter", {"sigma": 1, "axes": (1, 0)}, "the axes are out of order"),
        ("gaussian_filter", {"sigma": 1, "radius": -1}, "ValueError: a radius of -1 elements"),
        ("gaussian_filter", {"sigma": iter([1, 2])}, "sigma is an iterator"),
        ("gaussian_laplace", {"sigma": 1, "mode": ["wrap", "reflect"]}, "wrap around and others"),
        ("binary_erosion", {"iterations": 0}, "until nothing changes"),
        ("binary_erosion", {"iterations": 1.5}, "TypeError"),
        ("binary_erosion", {"iterations": 2, "output": IMAGE[::-1]}, "that is not bool"),
    ],
)
def test_why_not(name: str, arguments: dict[str, Any], reason: str) -> None:
    assert reason in (why_not(name, {"input": IMAGE, **arguments}, forced(2)) or "")


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
    call = bind(getattr(ndimage, name), (IMAGE,), arguments)
    assert getattr(strategy, "first", strategy).runs(call) is runs
