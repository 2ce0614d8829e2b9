"""When a call is split, and into how many slabs."""

from __future__ import annotations

from dataclasses import dataclass

from . import _pool


@dataclass(frozen=True)
class Policy:
    """When a call is split, and into how many slabs.

    The numbers are those that ``benchmarks/threshold.py`` and ``benchmarks/speed.py`` led
    to; the README has what they measured.

    Attributes
    ----------
    workers : int
        How many threads share a call.
    smallest : int
        Arrays with fewer elements are left to SciPy.
    smallest_slab : int
        Slabs are to have at least so many elements.
    good_slab : int
        Of a large array, slabs are to have about so many elements: few enough for the
        processor's caches, and for memory to be used again instead of asked for anew.
    slabs_per_worker : int
        How many slabs each thread is to get of a small array, so that a thread that was held
        up does not hold up the call.
    least_gain : float
        The expected gain in speed that makes splitting worth it.
    slabs : int or None
        So many slabs, as far as correctness allows, whatever they cost. For tests.
    """

    workers: int
    smallest: int = 2**15
    smallest_slab: int = 2**13
    good_slab: int = 2**18
    slabs_per_worker: int = 4
    least_gain: float = 1.2
    slabs: int | None = None

    @classmethod
    def current(cls) -> Policy:
        """Return the policy for a call that is made now, in this thread."""
        return cls(1 if _pool.why_serial() else _pool.workers())
