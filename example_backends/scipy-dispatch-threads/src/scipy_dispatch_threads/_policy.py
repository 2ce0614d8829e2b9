"""The policy: when a call is split, and into how many slabs."""

from __future__ import annotations

from dataclasses import dataclass

from . import _pool


@dataclass(frozen=True)
class Policy:
    """When a call is split, and into how many slabs."""

    # The threads that share a call.
    workers: int
    # Arrays with fewer elements are left to SciPy; by default, for cheap functions.
    smallest: int = 2**18
    # The smallest number of elements in a slab.
    smallest_slab: int = 2**13
    # The number of elements to aim at in the slabs of a large array: few enough to fit into the
    # processor's caches, and for freed memory to be reused instead of requested anew.
    good_slab: int = 2**18
    # For small arrays. With several slabs, a thread that is delayed does not delay the whole call.
    slabs_per_worker: int = 4
    # The expected gain in speed that makes splitting worth it.
    least_gain: float = 1.2
    # An exact number of slabs, whatever the gain; for tests.
    slabs: int | None = None

    @classmethod
    def current(cls, smallest: int = smallest) -> Policy:
        """Return the policy for calls that pay from a number of elements on."""
        return cls(_pool.workers(), smallest)
