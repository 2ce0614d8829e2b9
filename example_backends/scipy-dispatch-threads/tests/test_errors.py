"""Errors, types and shapes of results are SciPy's."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from scipy import ndimage
from sharing import STRATEGIES, assert_scipy_s, forced, shared
from typical import CALLS, an_array

IMAGE = np.random.default_rng(0).standard_normal((40, 50))


def parameters(key: str) -> set[str]:
    return set(inspect.signature(getattr(ndimage, STRATEGIES[key][0])).parameters)


def test_an_error_is_not_said_to_come_of_another() -> None:
    with pytest.raises(RuntimeError) as caught:
        shared("gaussian_filter", forced(2))(IMAGE, 1, mode="no such mode")
    assert caught.value.__context__ is None


WINDOW = {"size", "footprint", "structure"}
WRONG: list[dict[str, Any]] = [
    {"mode": "no such mode"},
    {"mode": ["reflect"] * 5},
    {"axis": 7},
    {"axes": (0, 0)},
    {"axes": (5,)},
    {"axes": "all"},
    {"origin": 9},
    {"origin": "left"},
    {"output": "no such type"},
    {"output": [1, 2]},
    {"output": np.zeros(3)},
    {"sigma": "wide"},
    {"size": 0},
    {"size": "large"},
    {"size": (1, 2, 3, 4)},
    {"footprint": np.zeros((3, 3))},
    {"footprint": np.ones((3, 3, 3, 3))},
    {"structure": np.ones(3)},
    {"weights": []},
    {"weights": "heavy"},
    {"coordinates": np.zeros((7, 5))},
    {"coordinates": 5},
    {"mask": np.ones(3)},
    {"iterations": "often"},
    {"order": 9},
    {"rank": 1000},
    {"percentile": 200},
]


@pytest.mark.parametrize(
    ("key", "arguments"),
    [
        *((key, each) for key in STRATEGIES for each in WRONG if each.keys() <= parameters(key)),
        ("sobel", {"unknown": 1}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, *value.items())),
)
def test_errors_are_scipy_s(key: str, arguments: dict[str, Any]) -> None:
    """Errors have SciPy's type and message; if SciPy raises none, the results are equal."""
    name, _ = STRATEGIES[key]
    if name.startswith("binary") and arguments.get("origin") == 9:
        pytest.skip("SciPy reads beyond the structure")
    typical = CALLS[name]
    if WINDOW & arguments.keys():
        typical = {each: value for each, value in typical.items() if each not in WINDOW}
    assert_scipy_s(key, an_array(name), 3, **{**typical, **arguments})


@pytest.mark.parametrize("dtype", ["float16", "object", "U3", "datetime64[s]"])
@pytest.mark.parametrize("key", STRATEGIES)
def test_types_that_scipy_refuses(key: str, dtype: str) -> None:
    name, _ = STRATEGIES[key]
    array = an_array(name).astype("i8").astype(dtype)
    assert_scipy_s(key, array, 3, **CALLS[name])
