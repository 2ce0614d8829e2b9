"""Where to cut an array, and whether it pays: arithmetic on shapes."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from scipy_dispatch.calls import Deferred
from scipy_dispatch.reach import WHOLE, Reach

from . import _pool

if TYPE_CHECKING:
    from scipy_dispatch.reach import Reaches

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

SMALLEST_SLAB = 2**13
"""The smallest number of elements in a slab."""
GOOD_SLAB = 2**18
"""The number of elements to aim at in the slabs of a large array: few enough to fit into the
processor's caches, and for freed memory to be reused instead of requested anew."""
SLABS_PER_WORKER = 4
"""For smaller arrays. With several slabs, a thread that is delayed does not delay the call."""


class Policy(NamedTuple):
    """When a call is split, and into how many slabs."""

    workers: int
    # Arrays with fewer elements are left to SciPy.
    smallest: int = 2**18
    # The expected gain in speed that makes splitting worth it.
    least_gain: float = 1.2
    # An exact number of slabs, whatever the gain; for tests.
    slabs: int | None = None

    @classmethod
    def current(cls, smallest: int = 2**18) -> Policy:
        """Return the policy for calls that pay from a number of elements on."""
        return cls(_pool.workers(), smallest)


class Split(NamedTuple):
    """The axis along which an array is cut, the reach along it, and the number of slabs."""

    axis: int
    reach: Reach
    number: int


class Slab(NamedTuple):
    """One slab: the part of the result that it computes, and the part of the input that it reads.

    The latter is longer by the reach on either side. It ends at the ends of the axis, where SciPy
    applies the boundary mode; what that reads lies no farther inwards than the reach. Along an axis
    that wraps, it goes on at the other end, with indices below 0 or beyond the length.
    """

    start: int
    stop: int
    low: int
    high: int


def choose(
    shape: tuple[int, ...], strides: tuple[int, ...], reaches: Reaches, policy: Policy
) -> Split:
    """Choose the axis and the number of slabs with the greatest expected gain.

    Among axes with about the same gain, the axis with the largest stride is chosen, since slabs
    along it are contiguous in memory. Raises `Deferred` if no axis is worth it.
    """
    dimensions = " x ".join(map(str, shape))
    if all(reach is WHOLE for reach in reaches):
        raise Deferred(f"no axis of {dimensions} elements can be split: each is needed as a whole")
    options = []
    for axis, reach in enumerate(reaches):
        if reach is not WHOLE:
            number = _number_of_slabs(shape[axis], reach.radius, math.prod(shape), policy)
            if number > 1:
                gain = _gain(number, shape[axis], reach.radius, policy.workers)
                options.append((gain, abs(strides[axis]), Split(axis, reach, number)))
    if not options:
        raise Deferred(f"{dimensions} elements are too few for two slabs along an axis to be split")
    best = max(gain for gain, *_ in options)
    close = [option for option in options if option[0] >= 0.95 * best]
    gain, _, split = max(close, key=lambda option: option[1])
    if gain < policy.least_gain and policy.slabs is None:
        raise Deferred(
            f"splitting {dimensions} elements is not worth it: a value reads {split.reach.radius} "
            f"elements on either side along axis {split.axis}, which every slab would have to "
            "compute on top of its own"
        )
    return split


def _number_of_slabs(length: int, radius: int, elements: int, policy: Policy) -> int:
    """Return the largest number of slabs whose expected gain is close to the greatest."""
    if policy.slabs is not None:
        return min(policy.slabs, length)
    workers = policy.workers
    most = min(length, max(elements // SMALLEST_SLAB, 1))
    per_worker = max(elements // (workers * GOOD_SLAB), SLABS_PER_WORKER)
    halves = [per_worker >> halvings for halvings in range(per_worker.bit_length())]
    numbers = [min(workers * factor, most) for factor in sorted({*halves, 2, 3})]
    gains = {number: _gain(number, length, radius, workers) for number in numbers}
    best = max(gains.values())
    return max(number for number, gain in gains.items() if gain >= 0.95 * best)


def _gain(number: int, length: int, radius: int, workers: int) -> float:
    """Return the expected speed-up of `number` slabs over one, if all threads are free."""
    if number < 2:
        return 1.0
    rounds = math.ceil(number / workers)
    return length / (rounds * (math.ceil(length / number) + 2 * radius))


def cut(length: int, number: int, reach: Reach) -> list[Slab]:
    """Cut an axis into `number` slabs of about the same thickness.

    Examples
    --------
    >>> cut(10, 2, Reach(2))
    [Slab(start=0, stop=5, low=0, high=7), Slab(start=5, stop=10, low=3, high=10)]
    >>> cut(10, 2, Reach(2, wraps=True))
    [Slab(start=0, stop=5, low=-2, high=7), Slab(start=5, stop=10, low=3, high=12)]
    """
    bounds = [length * index // number for index in range(number + 1)]
    slabs = []
    for start, stop in itertools.pairwise(bounds):
        low, high = start - reach.radius, stop + reach.radius
        if not reach.wraps:
            low, high = max(low, 0), min(high, length)
        slabs.append(Slab(start, stop, low, high))
    return slabs


def part(array: Array, axis: int, low: int, high: int) -> Array:
    """Return the part of an array from `low` to `high` along an axis.

    The result is a view, or a copy if the part continues at the other end of the axis.
    """
    if low < 0 or high > array.shape[axis]:
        return array.take(np.arange(low, high), axis, mode="wrap")
    index = [slice(None)] * array.ndim
    index[axis] = slice(low, high)
    return array[tuple(index)]
