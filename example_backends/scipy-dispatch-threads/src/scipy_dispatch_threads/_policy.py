"""The policy: when a call is split, and into how many slabs."""

from __future__ import annotations

from dataclasses import dataclass

from . import _pool


@dataclass(frozen=True)
class Policy:
    """When a call is split, and into how many slabs.

    The defaults result from ``benchmarks/speed.py``.

    Attributes
    ----------
    workers : int
        The number of threads that share a call.
    smallest : int
        Arrays with fewer elements are left to SciPy. `_costs.SMALLEST` has it for each function
        of SciPy's; the default is for cheap ones.
    smallest_slab : int
        The smallest number of elements in a slab.
    good_slab : int
        The number of elements to aim at in the slabs of a large array: few enough to fit into
        the processor's caches, and for freed memory to be reused instead of requested anew.
    slabs_per_worker : int
        The number of slabs for each thread when the array is small. With several slabs, a thread
        that is delayed does not delay the whole call.
    least_gain : float
        The expected gain in speed that makes splitting worth it.
    slabs : int or None
        An exact number of slabs, used as far as correctness allows and whatever the gain. For
        tests.
    """

    workers: int
    smallest: int = 2**18
    smallest_slab: int = 2**13
    good_slab: int = 2**18
    slabs_per_worker: int = 4
    least_gain: float = 1.2
    slabs: int | None = None

    @classmethod
    def current(cls, smallest: int = smallest) -> Policy:
        """Return the policy for calls that pay from a number of elements on."""
        return cls(_pool.workers(), smallest)
