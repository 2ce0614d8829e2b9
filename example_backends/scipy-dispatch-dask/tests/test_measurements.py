"""Measurements: labels numbered as in SciPy, and statistics of labelled regions."""

from __future__ import annotations

import pickle
from typing import Any

import dask.array as da
import numpy as np
import pytest
from comparison import (
    FLOATS,
    INTEGERS,
    assert_same,
    check,
    chunked,
    computed,
    dask_arrays,
    lazily,
    scipy_function,
)
from dask.callbacks import Callback
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerances import TOLERANCES

from scipy_dispatch.testing import allowed_for, difference

CHOICES = ("minimum", "maximum", "median")
AVERAGES = ("mean", "variance", "standard_deviation", "center_of_mass")


@settings(max_examples=20)
@given(data=st.data())
def test_labels(data: Any) -> None:
    """Features are numbered as in SciPy for any chunking."""
    x, lazy = data.draw(dask_arrays((bool, np.uint8, np.float64), max_side=9))
    # Any structure that SciPy accepts, which is one that is symmetric about its centre.
    half = np.random.default_rng(data.draw(st.integers(0, 99))).random((3,) * x.ndim) > 0.6
    structure = data.draw(st.sampled_from((None, half | np.flip(half))))
    labels, count = lazily("ndimage.label", lazy, structure)
    expected, number = scipy_function("ndimage.label")(x, structure)
    assert_same(computed(labels), expected)
    assert int(computed(count)) == number


def test_blocks_are_labelled_once() -> None:
    """The labels are used for the names, for the numbering and for the seams."""
    seen = []

    def look(block: np.ndarray) -> np.ndarray:
        seen.append(block.shape)
        return block

    x = da.ones((6, 6), chunks=3).map_blocks(look, meta=np.empty((0, 0)))
    computed(lazily("ndimage.label", x)[0])
    assert seen == [(3, 3)] * 4


def test_one_layer_for_any_number_of_blocks() -> None:
    """A layer for each block would take a minute for 10,000 blocks."""
    few, many = (lazily("ndimage.label", da.ones((90, 90), chunks=n))[0] for n in (45, 1))
    assert len(many.dask.layers) == len(few.dask.layers) <= 5
    assert len(many.dask) < 6 * 90**2


def labelled(data: Any, x: np.ndarray) -> tuple[Any, da.Array, Any]:
    """Draw labels, the labels in chunks or as they are, and an index."""
    random = np.random.default_rng(data.draw(st.integers(0, 999)))
    labels = random.integers(0, 4, x.shape)
    labels.flat[0] = 1
    index = data.draw(st.sampled_from((None, 1, [1], [2, 1, 9], np.array([0, 1]))))
    cut = data.draw(st.none() | chunked(labels.shape))
    return labels, labels if cut is None else da.from_array(labels, chunks=cut), index


@pytest.mark.parametrize("name", [*AVERAGES, "sum", "sum_labels", *CHOICES])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@settings(max_examples=15)
@given(data=st.data())
def test_measures(name: str, data: Any) -> None:
    """SciPy sums single precision in single precision if it measures a single region."""
    x, lazy = data.draw(dask_arrays((*INTEGERS, *FLOATS), max_dims=2, offset=300))
    check(f"ndimage.{name}", x, lazy)
    labels, cut, index = labelled(data, x)
    if name in CHOICES:  # which may have no elements to choose from
        index = [each for each in ([1, 0] if index is None else np.ravel(index)) if each in labels]
    expected = np.asarray(scipy_function(f"ndimage.{name}")(x, labels, index))
    result = computed(lazily(f"ndimage.{name}", lazy, cut, index))
    wrong = difference(
        name, result, expected, allowed_for(TOLERANCES[f"ndimage.{name}"], [x]), float(np.var(x))
    )
    assert wrong is None, wrong


MEASUREMENTS = (*AVERAGES, "sum", "minimum", "maximum", "median")

# Labels in several forms, for which SciPy uses one of two lookup methods.
LABELS: dict[str, Any] = {
    "1 to n": lambda numbers: numbers,
    "bytes": lambda numbers: numbers.astype(np.uint8),
    "far apart": lambda numbers: numbers * 10**12 - 3,
    "largest": lambda numbers: np.uint64(2**64 - 100) + numbers.astype(np.uint64),
    "floats": lambda numbers: numbers / 4,
    "booleans": lambda numbers: numbers > 20,
}


@pytest.mark.parametrize("name", MEASUREMENTS)
@pytest.mark.parametrize("labels", LABELS)
def test_many_regions(name: str, labels: str) -> None:
    """All regions in any order, some of them twice, with chunks that contain few of them."""
    random = np.random.default_rng(0)
    x = random.random((20, 30)) * 90 + 5
    numbers = np.sort(random.integers(0, 40, x.size)).reshape(x.shape)
    numbers[random.random(x.shape) < 0.3] = 7
    given = LABELS[labels](numbers)
    index = random.permutation(np.unique(given).repeat(2))
    expected = scipy_function(f"ndimage.{name}")(x, given, index)
    result = lazily(f"ndimage.{name}", da.from_array(x, chunks=(4, 11)), given, index)
    assert_same(computed(result), expected, f"ndimage.{name}", x)


@pytest.mark.parametrize("name", [*MEASUREMENTS, "sum_labels"])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_regions_without_elements(name: str) -> None:
    """Results equal SciPy's, except that the median of an empty region is NaN."""
    x = np.arange(1, 31.0).reshape(5, 6)
    labels = np.arange(30).reshape(5, 6) // 7 * 2
    lazy = da.from_array(x, chunks=4)
    for index in ([1, 2], [-5, 99, 2], [3]):
        expected = np.array(scipy_function(f"ndimage.{name}")(x, labels, index))
        if name == "median":
            expected[~np.isin(index, labels)] = np.nan
        result = computed(lazily(f"ndimage.{name}", lazy, labels, index))
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_a_block_tells_of_its_own_regions_alone(name: str) -> None:
    """The amount of data sent between tasks does not grow with the product of labels and blocks."""
    random = np.random.default_rng(0)
    x = random.random((100, 100))
    labels = np.arange(10_000).reshape(100, 100)
    index = random.permutation(10_000)
    result = lazily(f"ndimage.{name}", da.from_array(x, chunks=10), labels, index)
    sent: list[int] = []
    with Callback(posttask=lambda key, value, *_: sent.append(len(pickle.dumps(value)))):
        result = result.compute(scheduler="sync")
    expected = scipy_function(f"ndimage.{name}")(x, labels, index)
    assert_same(result, expected, f"ndimage.{name}", x)
    # In total: the array, the labels, the index, and a few tallies for each element.
    assert 3 * x.nbytes < sum(sent) < 25 * x.nbytes
