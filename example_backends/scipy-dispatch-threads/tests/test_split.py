"""Splitting of arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scipy_dispatch.calls import Deferred
from scipy_dispatch.reach import WHOLE, Reach
from scipy_dispatch_threads._split import Policy, Split, choose, cut, part

TWO = Policy(workers=2)


def split(shape: tuple[int, ...], reaches: list[Reach | None], policy: Policy = TWO) -> Split:
    return choose(shape, np.empty(shape, "u1").strides, reaches, policy)


@given(
    length=st.integers(1, 100),
    number=st.integers(1, 100),
    radius=st.integers(0, 30),
    wraps=st.booleans(),
)
def test_slabs_cover_the_axis_once(length: int, number: int, radius: int, wraps: bool) -> None:
    """Each slab computes its part, and reads its reach on both sides up to the axis' ends."""
    slabs = cut(length, min(number, length), Reach(radius, wraps))
    assert [i for slab in slabs for i in range(slab.start, slab.stop)] == list(range(length))
    for slab in slabs:
        low, high = slab.start - radius, slab.stop + radius
        assert slab.low == (low if wraps else max(low, 0))
        assert slab.high == (high if wraps else min(high, length))
    thicknesses = {slab.stop - slab.start for slab in slabs}
    assert max(thicknesses) - min(thicknesses) <= 1


@pytest.mark.parametrize(("low", "high"), [(0, 3), (2, 5), (-2, 4), (3, 8), (-7, 12)])
def test_a_part_goes_on_at_the_other_end(low: int, high: int) -> None:
    array = np.arange(10).reshape(2, 5)
    indices = np.arange(low, high) % 5
    np.testing.assert_array_equal(part(array, 1, low, high), array[:, indices])


def test_a_part_within_the_array_is_a_view() -> None:
    array = np.zeros((4, 5))
    assert np.shares_memory(part(array, 0, 1, 3), array)


def test_slabs_lie_together_in_memory_if_nothing_else_counts() -> None:
    assert split((1000, 1000), [Reach(), Reach()]).axis == 0
    transposed = np.empty((1000, 1000)).T
    assert choose(transposed.shape, transposed.strides, [Reach()] * 2, TWO).axis == 1


def test_the_axis_is_taken_along_which_the_least_is_done_twice() -> None:
    assert split((1000, 1000), [Reach(200), Reach(2)]).axis == 1
    assert split((20, 50_000), [Reach(2), Reach(2)]).axis == 1
    assert split((1000, 1000), [WHOLE, Reach(50)]).axis == 1


@pytest.mark.parametrize(
    ("shape", "radius", "workers", "number"),
    [
        ((1000, 1000), 1, 2, 8),
        ((1000, 1000), 100, 2, 2),
        ((100, 250), 1, 3, 3),
        ((4096, 4096), 1, 2, 64),
        ((4096, 4096), 12, 2, 8),
    ],
    ids=["several for each worker", "not thin", "not small", "as caches are", "thicker than these"],
)
def test_the_number_of_slabs(
    shape: tuple[int, ...], radius: int, workers: int, number: int
) -> None:
    assert split(shape, [Reach(radius)] * 2, Policy(workers)).number == number


@pytest.mark.parametrize(
    ("shape", "reaches", "reason"),
    [
        ((100,), [WHOLE], "no axis of 100 elements can be split: each is needed as a whole"),
        ((1, 100), [Reach(), WHOLE], "1 x 100 elements are too few for two slabs"),
        ((), [], "can be split"),
        ((100_000,), [Reach(40_000)], "not worth it: a value reads 40000 elements on either side"),
    ],
    ids=["whole", "short", "no axis", "far"],
)
def test_why_not(shape: tuple[int, ...], reaches: list[Reach | None], reason: str) -> None:
    with pytest.raises(Deferred, match=reason):
        split(shape, reaches)
