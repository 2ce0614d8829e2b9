"""Graphs: named by what is computed, with small tasks and the values at the time of the call."""

from __future__ import annotations

import pickle
from functools import partial
from itertools import product
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
from comparison import SERVED, an_array, arguments, assert_same, computed, lazily, scipy_function
from tolerances import TOLERANCES

from scipy_dispatch import backend_opts, ndimage
from scipy_dispatch_dask._table import TABLES


def outcome(result: Any) -> list[da.Array]:
    """Return the lazy parts of a result."""
    return [each for each in (result if isinstance(result, tuple) else (result,)) if _lazy(each)]


def _lazy(value: Any) -> bool:
    return isinstance(value, da.Array)


def cut(name: str) -> da.Array:
    x = an_array(name)
    return da.from_array(x, chunks=tuple(1 + length // 2 for length in x.shape))


def test_every_function_has_a_tolerance_with_a_reason() -> None:
    assert set(TOLERANCES) == {
        f"{module.removeprefix('scipy_dispatch.')}.{name}"
        for module, table in TABLES.items()
        for name in table
    }
    for kinds in TOLERANCES.values():
        assert set(kinds) == {"integers", "single", "double"}
        assert all(each.reason for each in kinds.values())
        assert kinds["integers"][:2] == (0, 0)


@pytest.mark.parametrize("name", SERVED)
def test_the_same_call_has_the_same_name(name: str) -> None:
    """Equal names let Dask compute a repeated call once."""
    lazy = cut(name)
    first, again = (outcome(lazily(name, **arguments(name, lazy))) for _ in range(2))
    assert [each.name for each in first] == [each.name for each in again]


@pytest.mark.parametrize("name", SERVED)
def test_graphs_can_be_pickled(name: str) -> None:
    """Pickling supports workers in other processes, with and without Dask's serialization."""
    results = outcome(lazily(name, **arguments(name, cut(name))))
    copies = pickle.loads(pickle.dumps(results))
    again = cloudpickle.loads(cloudpickle.dumps(results))
    for result, copy, other in zip(results, copies, again, strict=True):
        assert result.name == copy.name == other.name
        assert_same(computed(copy), computed(result))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("ndimage.gaussian_filter", {"sigma": 1}),
        ("ndimage.grey_opening", {"size": 3}),
        ("signal.convolve", {"in2": np.ones((3, 3))}),
        ("signal.medfilt", {}),
    ],
)
def test_blocks_stay_blocks(name: str, given: dict[str, Any]) -> None:
    """A task for a neighbourhood needs adjacent blocks, not the whole array."""
    result = lazily(name, da.ones((20, 20), chunks=10), **given)
    assert max(map(max, result.chunks)) <= 12
    assert result.npartitions >= 4


def test_transforms_never_need_the_whole_array() -> None:
    """For several axes, lines are split again after each axis."""
    x = da.zeros((64, 64, 64), chunks=16)
    for name in (
        *("fft.fftn", "fft.rfftn", "fft.irfftn", "fft.dctn", "fft.ihfftn"),
        "ndimage.spline_filter",
    ):
        result = lazily(name, x)
        assert max(map(np.prod, product(*result.chunks))) <= 64 * 16 * 16 * 8


RANDOM = np.random.default_rng(7)
X = RANDOM.random((40, 40))
LAZY = da.from_array(X, chunks=20)
KERNEL = np.array([[1.0, 2, 1], [0, 0, 0], [-1, -2, -1]])
LARGE = RANDOM.random((30, 30))
LINE = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 0]])
SQUARE = RANDOM.random((6, 6))
SQUARE[:, 3] = SQUARE[3] = 1


# The function, the array's parameter, another array argument with its value, and the others.
WITH_ARRAYS: list[tuple[str, str, str, Any, dict[str, Any]]] = [
    ("ndimage.convolve", "input", "weights", KERNEL, {}),
    ("ndimage.correlate", "input", "weights", LARGE, {"mode": "wrap"}),
    ("ndimage.grey_dilation", "input", "structure", KERNEL, {}),
    ("ndimage.binary_erosion", "input", "mask", RANDOM.random((40, 40)) > 0.5, {}),
    ("ndimage.sum", "input", "labels", RANDOM.integers(0, 3, (40, 40)), {"index": [1, 2]}),
    ("ndimage.label", "input", "structure", LINE, {}),
    ("signal.convolve", "in1", "in2", LARGE, {"mode": "same", "method": "fft"}),
    ("signal.order_filter", "a", "domain", LINE, {"rank": 1}),
    ("signal.sosfilt", "x", "sos", SQUARE, {}),
]


def first_result(function: Any, x: Any, call: Any, value: Any) -> Any:
    """Return the result of a call of `WITH_ARRAYS`, or the first one, for another value."""
    name, parameter, argument, _, others = call
    x = x > 0.5 if "binary" in name or "label" in name else x
    result = function(**{parameter: x, argument: value, **others})
    return result[0] if isinstance(result, tuple) else result


def a_call(call: Any, value: Any) -> Any:
    return first_result(partial(lazily, call[0]), LAZY, call, value)


def by_scipy(call: Any, value: Any) -> Any:
    return np.asarray(first_result(scipy_function(call[0]), X, call, value))


CALLS = pytest.mark.parametrize("call", WITH_ARRAYS, ids=[each[0] for each in WITH_ARRAYS])


@CALLS
def test_an_array_and_its_transpose_are_two_arguments(call: Any) -> None:
    """Their bytes in memory are equal, so their names must distinguish them."""
    name, _, _, value, _ = call
    values = [value, value.T]
    results = [a_call(call, each) for each in values]
    assert results[0].name != results[1].name
    for result, each in zip(dask.compute(*results, scheduler="synchronous"), values, strict=True):
        # SciPy rejects filter sections in Fortran order.
        assert_same(result, by_scipy(call, np.ascontiguousarray(each)), name, X)


@CALLS
def test_an_argument_counts_as_it_is_at_the_call(call: Any) -> None:
    """As with SciPy, the caller may reuse a buffer before the result is computed."""
    name, _, _, value, _ = call
    buffer = value.copy()
    result = a_call(call, buffer)
    buffer[:] = 1
    assert_same(computed(result), by_scipy(call, value), name, X)


def test_blocks_never_come_back_to_dask() -> None:
    """They do not even if every call counts as a call with Dask arrays."""
    with backend_opts(type=da.Array), dask.config.set(scheduler="synchronous"):
        result = ndimage.sobel(X)
        assert isinstance(result, da.Array)
        np.testing.assert_array_equal(result.compute(), scipy_function("ndimage.sobel")(X))


def test_the_trace_shows_the_call_and_not_how_it_is_done() -> None:
    """Probes and calls on blocks are not the user's calls and are not traced."""
    with backend_opts(trace=True) as trace:
        result = ndimage.sobel(da.from_array(X, chunks=5))
    result.compute(scheduler="synchronous")
    (event,) = trace
    assert (event.backend, str(event.outcome)) == ("dask", "called")


def test_user_functions_are_not_called_to_build_the_graph() -> None:
    """A user's function may be slow or fail on arrays of ones, so it is not probed."""

    def refuse(*args: np.ndarray) -> float:
        raise AssertionError

    lazily("ndimage.generic_filter", da.from_array(X, chunks=5), refuse, size=3)
    lazily("ndimage.generic_filter1d", da.from_array(X, chunks=5), refuse, 3)
