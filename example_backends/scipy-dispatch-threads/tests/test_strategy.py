"""Strategies: conditions for sharing a call, and errors of invalid calls."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import ndimage
from sharing import STRATEGIES, assert_scipy_s, forced, shared, why_not
from typical import CALLS, an_array

from scipy_dispatch.testing import assert_identical
from scipy_dispatch_threads._passes import Passes
from scipy_dispatch_threads._policy import Policy

if TYPE_CHECKING:
    from scipy_dispatch_threads._call import Call

IMAGE = np.random.default_rng(0).standard_normal((40, 50))


def parameters(key: str) -> set[str]:
    return set(inspect.signature(getattr(ndimage, STRATEGIES[key][0])).parameters)


class Subclass(np.ndarray):  # type: ignore[type-arg]
    pass


@pytest.mark.parametrize(
    ("name", "arguments", "policy", "reason"),
    [
        ("sobel", {"input": IMAGE}, Policy(1), "there is one worker"),
        ("sobel", {"input": IMAGE}, Policy(2), "2000 elements are too few: threads pay from"),
        ("sobel", {"input": IMAGE[:0]}, forced(2), "0 elements are too few"),
        ("sobel", {"input": IMAGE.tolist()}, forced(2), "the input is a list"),
        ("sobel", {"input": IMAGE.view(Subclass)}, forced(2), "the input is a Subclass"),
        ("sobel", {"input": IMAGE, "output": IMAGE.view(Subclass)}, forced(2), "is a Subclass"),
        (
            "sobel",
            {"input": IMAGE * 1j, "output": "f4"},
            forced(2),
            "a data type for the output of complex numbers is left to SciPy",
        ),
        ("gaussian_filter", {"input": IMAGE}, forced(2), "missing a required argument: 'sigma'"),
        ("uniform_filter", {"input": IMAGE, "size": 1}, forced(2), "nothing is done"),
        ("maximum_filter by passes", {"input": IMAGE, "footprint": np.eye(3)}, forced(2), "box"),
    ],
)
def test_why_not(name: str, arguments: dict[str, Any], policy: Policy, reason: str) -> None:
    assert reason in (why_not(name, arguments, policy) or "")


@pytest.mark.parametrize(("sigma", "by_passes"), [(0.4, False), (10, True)])
def test_passes_take_over_where_slabs_would_do_too_much_twice(
    sigma: float, by_passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = Policy(workers=8, smallest=0, smallest_slab=1)
    image = np.random.default_rng(0).standard_normal((400, 100))
    assert why_not("gaussian_filter", {"input": image, "sigma": sigma}, policy) is None
    computed: list[Call] = []
    compute = Passes._compute

    def spy(self: Passes, call: Call, policy: Policy) -> Any:
        computed.append(call)
        return compute(self, call, policy)

    monkeypatch.setattr(Passes, "_compute", spy)
    result = shared("gaussian_filter", policy)(image, sigma)
    assert_identical(result, ndimage.gaussian_filter(image, sigma))
    assert bool(computed) is by_passes


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
