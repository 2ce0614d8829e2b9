"""The element of a certain rank, chosen by comparisons that are the same for any values.

A sorting network compares the same pairs in the same order whatever the elements are, so XLA
makes one loop over the array of it, where sorting every window by itself takes many times as
long. Of Batcher's odd-even merge sort (K. E. Batcher, "Sorting networks and their
applications", 1968; D. E. Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm
M) only those comparisons are kept that the element wanted depends on.
"""

from __future__ import annotations

from functools import lru_cache

from ._jax import Array, jnp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    Comparison: TypeAlias = tuple[int, int, bool, bool]


def selected(arrays: Sequence[Array], rank: int) -> Array:
    """Return the elements of that rank, those that are no numbers last.

    Parameters
    ----------
    arrays : sequence of arrays of the same shape and data type
        The first element of each is compared with that of the others, and so on.
    rank : int
        From 0 for the smallest.
    """
    held = list(arrays)
    for low, high, keep_smaller, keep_larger in _comparisons(len(held), rank):
        x, y = held[low], held[high]
        is_sorted = (x <= y) | (y != y)  # NaN alone differs from itself
        if keep_smaller:
            held[low] = jnp.where(is_sorted, x, y)
        if keep_larger:
            held[high] = jnp.where(is_sorted, y, x)
    return held[rank]


@lru_cache(maxsize=64)
def _comparisons(count: int, rank: int) -> tuple[Comparison, ...]:
    """Return what to compare, and which of the two are looked at afterwards."""
    wanted = {rank}
    needed = []
    for low, high in reversed(list(_odd_even_merge_sort(count))):
        if low in wanted or high in wanted:
            needed.append((low, high, low in wanted, high in wanted))
            wanted |= {low, high}
    return tuple(reversed(needed))


def _odd_even_merge_sort(count: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of places to compare, and to exchange where the first is the larger."""
    run = 1
    while run < count:
        step = run
        while step:
            for start in range(step % run, count - step, 2 * step):
                for low in range(start, min(start + step, count - step)):
                    if low // (2 * run) == (low + step) // (2 * run):
                        yield low, low + step
            step //= 2
        run *= 2
