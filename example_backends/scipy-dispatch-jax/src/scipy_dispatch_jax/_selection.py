"""The element of a certain rank, chosen by comparisons that are the same for any values.

XLA makes loops over the array of them, where sorting every window by itself takes many times
as long, and a copy of the array for each element of the window.

Elements are compared as unsigned integers in the same order, among which there is none that is
no number. Of few, a sorting network compares the same pairs in the same order whatever they
are. Of Batcher's odd-even merge sort (K. E. Batcher, "Sorting networks and their applications",
1968; D. E. Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm M) only those
comparisons are kept that the element wanted depends on.

Of many, the integer is found bit by bit, from the highest one down: a bit is set where no more
elements than the rank lie below the number that it makes.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ._jax import Array, jnp, lax

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeAlias

    Comparison: TypeAlias = tuple[int, int, bool, bool]


def selected(arrays: Sequence[Array], rank: int) -> Array:
    """Return the elements of that rank.

    Parameters
    ----------
    arrays : sequence of arrays of integers, of the same shape and data type
        The first element of each is compared with that of the others, and so on.
    rank : int
        From 0 for the smallest.
    """
    held = list(arrays)
    for low, high, keep_smaller, keep_larger in _comparisons(len(held), rank):
        x, y = held[low], held[high]
        if keep_smaller:
            held[low] = jnp.minimum(x, y)
        if keep_larger:
            held[high] = jnp.maximum(x, y)
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


def bisected(count_below: Callable[[Array], Array], rank: int, zeros: Array) -> Array:
    """Return the largest numbers that no more elements than `rank` lie below.

    Parameters
    ----------
    count_below : callable
        Says of an array of numbers how many elements are smaller than each.
    rank : int
        From 0 for the smallest element, which is the number then.
    zeros : array of unsigned integers
        With the shape and data type of the numbers.
    """
    bits = np.iinfo(zeros.dtype).bits
    highest = np.asarray(1 << (bits - 1), zeros.dtype)

    def decide(number: Array, found: Array) -> Array:
        with_bit = found | lax.shift_right_logical(highest, number.astype(found.dtype))
        return jnp.where(count_below(with_bit) <= rank, with_bit, found)

    return lax.fori_loop(0, bits, decide, zeros)


def as_ordered(x: Array) -> Array:
    """Return unsigned integers in the order of the elements, those that are no numbers last.

    The bits of a number of floating point but its sign are in the order of its magnitude (IEEE
    754-2019, 3.4).
    """
    dtype, sign = _bits_of(x.dtype)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return x.astype(dtype) ^ sign
    bits = lax.bitcast_convert_type(x, dtype)
    ordered = jnp.where(bits & sign != 0, ~bits, bits | sign)
    return jnp.where(x == x, ordered, ~jnp.zeros_like(sign))  # NaN alone differs from itself


def from_ordered(ordered: Array, dtype: Any) -> Array:
    """Return the elements that `as_ordered` has made integers of."""
    _, sign = _bits_of(dtype)
    if not jnp.issubdtype(dtype, jnp.inexact):
        return (ordered ^ sign).astype(dtype)
    bits = jnp.where(ordered & sign != 0, ordered ^ sign, ~ordered)
    return lax.bitcast_convert_type(bits, dtype)


def _bits_of(dtype: Any) -> tuple[np.dtype[Any], Array]:
    """Return unsigned integers as wide as those of `dtype`, and its sign: zero if it has none."""
    width = 8 * dtype.itemsize
    unsigned = np.dtype(f"uint{width}")
    has_sign = jnp.issubdtype(dtype, jnp.inexact) or jnp.issubdtype(dtype, jnp.signedinteger)
    return unsigned, jnp.asarray(1 << (width - 1) if has_sign else 0, unsigned)
