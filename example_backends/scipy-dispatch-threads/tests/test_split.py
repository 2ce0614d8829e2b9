"""Splitting of arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scipy_dispatch.reach import WHOLE, Reach
from scipy_dispatch_threads._call import Deferred
from scipy_dispatch_threads._policy import Policy
from scipy_dispatch_threads._split import Split, choose, cut, part

ANY_SIZE = Policy(workers=2, smallest_slab=1)


def split(shape: tuple[int, ...], reaches: list[Reach | None], policy: Policy = ANY_SIZE) -> Split:
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
    assert split((100, 100), [Reach(), Reach()]).axis == 0
    transposed = np.empty((100, 100)).T
    assert choose(transposed.shape, transposed.strides, [Reach()] * 2, ANY_SIZE).axis == 1


def test_the_axis_is_taken_along_which_the_least_is_done_twice() -> None:
    assert split((100, 100), [Reach(20), Reach(2)]).axis == 1
    assert split((20, 5000), [Reach(2), Reach(2)]).axis == 1
    assert split((100, 100), [WHOLE, Reach(5)]).axis == 1


def test_several_slabs_for_each_worker_unless_they_get_too_thin() -> None:
    assert split((1000,), [Reach(1)]).number == 8
    assert split((100,), [Reach(10)]).number == 2
    assert split((1000,), [Reach(1)], Policy(workers=3, smallest_slab=300)).number == 3


def test_slabs_of_a_large_array_fit_caches_unless_they_get_too_thin() -> None:
    policy = Policy(workers=2)
    assert split((4096, 4096), [Reach(1)] * 2, policy).number == 64
    assert split((4096, 4096), [Reach(12)] * 2, policy).number == 8


def test_no_worker_waits_while_another_does_a_slab_more() -> None:
    assert split((1000,), [Reach(1)], Policy(workers=2, smallest_slab=300)).number == 2


@pytest.mark.parametrize(
    ("shape", "reaches", "reason"),
    [
        ((100,), [WHOLE], "no axis of 100 elements can be split: each is needed as a whole"),
        ((1, 100), [Reach(), WHOLE], "1 x 100 elements are too few for two slabs"),
        ((), [], "can be split"),
        ((100,), [Reach(40)], "not worth it: a value reads 40 elements on either side"),
    ],
    ids=["whole", "short", "no axis", "far"],
)
def test_why_not(shape: tuple[int, ...], reaches: list[Reach | None], reason: str) -> None:
    with pytest.raises(Deferred, match=reason):
        split(shape, reaches)
