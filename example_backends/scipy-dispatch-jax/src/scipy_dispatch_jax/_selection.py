"""Selection by rank, with a sequence of comparisons that does not depend on the values.

XLA turns the comparisons into loops over the array. Sorting every window takes many times as
long, and needs a copy of the array for each element of the window.

Elements are compared as unsigned integers with the same order, which include no NaN. For few
elements, a sorting network determines the comparisons: those of Batcher's odd-even merge sort
(K. E. Batcher, "Sorting networks and their applications", 1968; D. E. Knuth, The Art of Computer
Programming, volume 3, 5.2.2, algorithm M) that the selected element depends on.

For many elements, the selected integer is found bit by bit from the highest bit. A bit is set if
at most `rank` elements are less than the number with that bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ._jax import Array, jnp, lax

Comparison: TypeAlias = tuple[int, int, bool, bool]


def selected(arrays: Sequence[Array], rank: int) -> Array:
    """Return the elements of the given rank of each place; the smallest has the rank 0."""
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
    """Return the comparisons, and which of the two results later comparisons use."""
    wanted = {rank}
    needed = []
    for low, high in reversed(list(_odd_even_merge_sort(count))):
        if low in wanted or high in wanted:
            needed.append((low, high, low in wanted, high in wanted))
            wanted |= {low, high}
    return tuple(reversed(needed))


def _odd_even_merge_sort(count: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of places to compare and, if the first element is larger, to exchange."""
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
    """Return the largest unsigned integers that have at most `rank` elements below them.

    `count_below` returns how many elements are less than each number of an array like `zeros`.
    """
    bits = np.iinfo(zeros.dtype).bits
    highest = np.asarray(1 << (bits - 1), zeros.dtype)

    def decide(number: Array, found: Array) -> Array:
        with_bit = found | lax.shift_right_logical(highest, number.astype(found.dtype))
        return jnp.where(count_below(with_bit) <= rank, with_bit, found)

    return lax.fori_loop(0, bits, decide, zeros)


def as_ordered(x: Array) -> Array:
    """Return unsigned integers in the order of the elements, with NaN last.

    Without the sign, the bits of floating-point numbers are in the order of their magnitudes
    (IEEE 754-2019, 3.4).
    """
    dtype, sign = _bits_of(x.dtype)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return x.astype(dtype) ^ sign
    bits = lax.bitcast_convert_type(x, dtype)
    ordered = jnp.where(bits & sign != 0, ~bits, bits | sign)
    return jnp.where(x == x, ordered, ~jnp.zeros_like(sign))  # only NaN differs from itself


def from_ordered(ordered: Array, dtype: Any) -> Array:
    """Return the elements from which `as_ordered` made the integers."""
    _, sign = _bits_of(dtype)
    if not jnp.issubdtype(dtype, jnp.inexact):
        return (ordered ^ sign).astype(dtype)
    bits = jnp.where(ordered & sign != 0, ordered ^ sign, ~ordered)
    return lax.bitcast_convert_type(bits, dtype)


def _bits_of(dtype: Any) -> tuple[np.dtype[Any], Array]:
    """Return the unsigned type as wide as `dtype`, and its sign bit; zero if it has no sign."""
    width = 8 * dtype.itemsize
    unsigned = np.dtype(f"uint{width}")
    has_sign = jnp.issubdtype(dtype, jnp.inexact) or jnp.issubdtype(dtype, jnp.signedinteger)
    return unsigned, jnp.asarray(1 << (width - 1) if has_sign else 0, unsigned)
