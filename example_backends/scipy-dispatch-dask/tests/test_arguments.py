"""Arguments are used with their values at the time of the call, and distinguished by value."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np
import pytest
from comparison import assert_same, computed, lazily, scipy_function

from scipy_dispatch import ndimage

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = np.random.default_rng(7)
X = RANDOM.random((40, 40))
LAZY = da.from_array(X, chunks=20)
KERNEL = np.array([[1.0, 2, 1], [0, 0, 0], [-1, -2, -1]])
LARGE = RANDOM.random((30, 30))
LINE = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 0]])
SQUARE = RANDOM.random((6, 6))
SQUARE[:, 3] = SQUARE[3] = 1


def weighted(window: np.ndarray, weights: Any) -> float:
    return float((window * np.ravel(weights)).sum())


# The function, the array's parameter, another array argument with its value, and the others.
WITH_ARRAYS: list[tuple[str, str, str, Any, dict[str, Any]]] = [
    ("ndimage.convolve", "input", "weights", KERNEL, {}),
    ("ndimage.correlate", "input", "weights", LARGE, {"mode": "wrap"}),
    ("ndimage.median_filter", "input", "footprint", LINE, {}),
    ("ndimage.grey_dilation", "input", "structure", KERNEL, {}),
    ("ndimage.binary_dilation", "input", "structure", LINE, {}),
    ("ndimage.binary_hit_or_miss", "input", "structure1", LINE, {}),
    ("ndimage.binary_erosion", "input", "mask", RANDOM.random((40, 40)) > 0.5, {}),
    ("ndimage.sum", "input", "labels", RANDOM.integers(0, 3, (40, 40)), {"index": [1, 2]}),
    ("ndimage.label", "input", "structure", LINE, {}),
    ("signal.convolve", "in1", "in2", KERNEL, {}),
    ("signal.convolve", "in1", "in2", LARGE, {"mode": "same", "method": "fft"}),
    ("signal.order_filter", "a", "domain", LINE, {"rank": 1}),
    ("signal.sosfilt", "x", "sos", SQUARE, {}),
]


def a_call(name: str, parameter: str, argument: str, others: dict[str, Any], value: Any) -> Any:
    lazy = LAZY > 0.5 if "binary" in name or "label" in name else LAZY
    result = lazily(name, **{parameter: lazy, argument: value, **others})
    return result[0] if isinstance(result, tuple) else result


def by_scipy(name: str, parameter: str, argument: str, others: dict[str, Any], value: Any) -> Any:
    x = X > 0.5 if "binary" in name or "label" in name else X
    result = scipy_function(name)(**{parameter: x, argument: value, **others})
    return result[0] if isinstance(result, tuple) else result


CALLS = pytest.mark.parametrize(
    ("name", "parameter", "argument", "value", "others"),
    WITH_ARRAYS,
    ids=lambda each: each if isinstance(each, str) else "",
)


@CALLS
def test_an_array_and_its_transpose_are_two_arguments(
    name: str, parameter: str, argument: str, value: Any, others: dict[str, Any]
) -> None:
    """Their bytes in memory are equal, so their names must distinguish them."""
    values = [value, value.T]
    results = [a_call(name, parameter, argument, others, each) for each in values]
    assert results[0].name != results[1].name
    for result, each in zip(dask.compute(*results, scheduler="synchronous"), values, strict=True):
        # SciPy rejects filter sections in Fortran order.
        plain = np.ascontiguousarray(each)
        expected = np.asarray(by_scipy(name, parameter, argument, others, plain))
        assert_same(result, expected, name, X)


@CALLS
def test_the_order_in_memory_does_not_matter(
    name: str, parameter: str, argument: str, value: Any, others: dict[str, Any]
) -> None:
    """Calls with equal arguments have the same name."""
    one, other = (
        a_call(name, parameter, argument, others, np.asarray(value, order=order))
        for order in ("C", "F")
    )
    assert one.name == other.name


@CALLS
def test_an_argument_counts_as_it_is_at_the_call(
    name: str, parameter: str, argument: str, value: Any, others: dict[str, Any]
) -> None:
    """As with SciPy, the caller may reuse a buffer before the result is computed."""
    buffer = value.copy()
    result = a_call(name, parameter, argument, others, buffer)
    buffer[:] = 1
    expected = np.asarray(by_scipy(name, parameter, argument, others, value))
    assert_same(computed(result), expected, name, X)


def test_the_first_array_counts_as_it_is_at_the_call() -> None:
    x, mask = X > 0.5, X > 0.2
    expected = scipy_function("ndimage.binary_erosion")(x, mask=mask)
    result = lazily("ndimage.binary_erosion", x, mask=da.from_array(mask, chunks=20))
    x[:] = True
    assert_same(computed(result), expected)


def test_lists_and_dictionaries_count_as_they_are_at_the_call() -> None:
    """Nested values are copied too: a user's function gets the values at the time of the call."""
    sigma = [1.0, 2.0]
    result = lazily("ndimage.gaussian_filter", LAZY, sigma)
    sigma[0] = 3.0
    assert_same(computed(result), scipy_function("ndimage.gaussian_filter")(X, [1.0, 2.0]))

    weights = KERNEL.copy()
    options: dict[str, Any] = {"weights": [weights]}
    for given in (
        {"extra_keywords": options},
        {"extra_arguments": (weights,)},
        {"extra_arguments": ([weights],)},
    ):
        expected = scipy_function("ndimage.generic_filter")(X, weighted, 3, **given)
        result = lazily("ndimage.generic_filter", LAZY, weighted, 3, **given)
        weights[:] = 5
        assert_same(computed(result), expected)
        weights[:] = KERNEL
        again = lazily("ndimage.generic_filter", LAZY, weighted, 3, **given)
        assert again.name == result.name
        weights[:] = KERNEL.T
        other = lazily("ndimage.generic_filter", LAZY, weighted, 3, **given)
        weights[:] = KERNEL
        assert other.name != result.name


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ndimage.maximum_filter", {"size": [3, 5], "origin": [0, -1]}),
        ("ndimage.median_filter", {"size": [3, 5], "origin": [1, 0]}),
        ("ndimage.uniform_filter", {"size": [4, 3], "origin": [-1, 0], "mode": ["wrap", "mirror"]}),
        ("ndimage.grey_erosion", {"size": [3, 2], "origin": [0, -1]}),
        ("ndimage.gaussian_filter", {"sigma": [1.5, 0.5], "order": [0, 1]}),
        ("ndimage.gaussian_laplace", {"sigma": [1.5, 0.5], "mode": ["nearest", "reflect"]}),
        ("ndimage.convolve", {"weights": [[1, 2], [3, 4]], "origin": [0, -1]}),
        ("ndimage.binary_erosion", {"origin": [0, 1]}),
        ("signal.hilbert2", {"axes": [1, 0]}),
        ("signal.medfilt", {"kernel_size": [3, 5]}),
        ("fft.fft2", {"axes": [1, 0], "s": [40, 40]}),
        ("fft.fftshift", {"axes": [1]}),
    ],
)
def test_settings_may_be_arrays(name: str, settings: dict[str, Any]) -> None:
    """Settings for each axis may be arrays, such as the result of a computation."""
    function = scipy_function(name)
    parameter, *others = signature(function).parameters
    if not settings.keys() <= set(others):
        pytest.skip(f"this SciPy's {name} has no {', '.join(settings.keys() - set(others))}")
    given = {key: np.array(value) for key, value in settings.items()}
    expected = function(**{parameter: X}, **given)
    result = computed(lazily(name, **{parameter: LAZY}, **given))
    assert_same(result, expected, name, X)


def test_memory_maps_become_arrays(tmp_path: Path) -> None:
    """The file may change too, and Dask distinguishes memory maps by their bytes only."""
    weights = np.memmap(tmp_path / "weights", dtype=float, mode="w+", shape=(2, 3))
    weights[:] = np.arange(6).reshape(2, 3)
    expected = scipy_function("ndimage.correlate")(X, weights)
    results = [lazily("ndimage.correlate", LAZY, each) for each in (weights, weights.reshape(3, 2))]
    assert results[0].name != results[1].name
    weights[:] = 0
    assert_same(computed(results[0]), expected)


@pytest.mark.parametrize("kernel", [KERNEL, LARGE], ids=["small", "large"])
def test_equal_calls_have_the_same_name(kernel: np.ndarray) -> None:
    """The names are equal whether the kernel is part of every task or has its own task."""
    first, again = (lazily("signal.convolve", LAZY, kernel.copy()) for _ in range(2))
    assert first.name == again.name
    assert set(first.__dask_graph__()) == set(again.__dask_graph__())


@pytest.mark.parametrize("parameter", ["extra_arguments", "extra_keywords"])
def test_a_list_that_is_in_itself_is_passed_on(parameter: str) -> None:
    """A user's function may take such a list; the backend passes it on as it is."""
    endless: list[Any] = [1]
    endless.append(endless)

    def last_of(window: Any, given: Any) -> Any:
        return window[-1] + len(given[1][1])

    extra = (endless,) if parameter == "extra_arguments" else {"given": endless}
    expected = scipy_function("ndimage.generic_filter")(X, last_of, 3, **{parameter: extra})
    result = ndimage.generic_filter(LAZY, last_of, 3, **{parameter: extra})
    assert_same(computed(result), expected)


def test_an_array_with_a_mask_counts_as_it_is_at_the_call() -> None:
    kernel = np.ma.masked_less(KERNEL, -10)
    expected = scipy_function("ndimage.correlate")(X, kernel)
    result = lazily("ndimage.correlate", LAZY, kernel)
    kernel[:] = 1
    assert_same(computed(result), expected)


@pytest.mark.parametrize("name", ["gaussian_filter", "gaussian_laplace"])
def test_an_axis_of_no_sigma_is_left_alone(name: str) -> None:
    """NaN counts as no sigma too, as in SciPy."""
    sigma = [np.nan, 1.5]
    expected = scipy_function(f"ndimage.{name}")(X, sigma)
    assert_same(computed(lazily(f"ndimage.{name}", LAZY, sigma)), expected)
