"""Selection by rank in every window along a line, for wide windows.

The time does not depend on the width of the windows. The elements are numbered in sorted order.
The bits of these numbers are kept in a wavelet matrix (F. Claude, G. Navarro and A. Ordóñez,
"The wavelet matrix: An efficient wavelet tree for large alphabets", Information Systems 47,
2015). For each bit, from the highest down, numbers with a bit of 0 are moved before numbers with
a bit of 1, and otherwise keep their order. So each window becomes two windows of adjacent
elements, one for each value of the bit. The lengths of the two windows tell which of them
contains the selected element.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ._jax import Array, jax, jnp, lax

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    State: TypeAlias = tuple[Array, Array, Array, Array, Array]


def ranked_along(x: Array, axis: int, count: int, rank: int) -> Array:
    """Return the elements of the given rank in windows along an axis.

    Parameters
    ----------
    x : array of integers
        The elements.
    axis : int
        The axis of the windows.
    count : int
        The number of elements in a window.
    rank : int
        The rank; 0 selects the smallest.
    """
    lines = jnp.moveaxis(x, axis, -1)
    flat = lines.reshape(-1, lines.shape[-1])
    result = jax.vmap(partial(_ranked, count=count, rank=rank))(flat)
    return jnp.moveaxis(result.reshape(*lines.shape[:-1], -1), -1, axis)


def _ranked(x: Array, count: int, rank: int) -> Array:
    length = x.size
    # Unsigned, because JAX counts negative indices from the end.
    index = np.dtype(np.uint32 if length < 2**32 else np.uint64)
    zeros_like_x = jnp.zeros_like(x, index)  # keeps the sharding of x
    places = zeros_like_x + jnp.arange(length, dtype=index)
    in_order, order = lax.sort((x, places), num_keys=1)
    numbers = zeros_like_x.at[order].set(places, unique_indices=True)
    bits = (length - 1).bit_length()

    def divide(step: Array, state: State) -> State:
        numbers, start, stop, rank, found = state
        bit = lax.shift_right_logical(numbers, (bits - 1 - step).astype(index)) & 1
        zeros_before = jnp.concatenate([jnp.zeros(1, index), jnp.cumsum(1 - bit, dtype=index)])
        zeros = zeros_before[-1]

        first, last = zeros_before[start], zeros_before[stop]
        is_one = rank >= last - first
        rank = jnp.where(is_one, rank - (last - first), rank)
        start = jnp.where(is_one, zeros + start - first, first)
        stop = jnp.where(is_one, zeros + stop - last, last)

        before = zeros_before[:-1]
        to = jnp.where(bit == 1, zeros + places - before, before)
        numbers = jnp.zeros_like(numbers).at[to].set(numbers, unique_indices=True)
        return numbers, start, stop, rank, 2 * found + is_one.astype(index)

    start = places[: length - count + 1]
    ranks, found = jnp.full_like(start, rank), jnp.zeros_like(start)
    state = numbers, start, start + count, ranks, found
    return in_order[lax.fori_loop(0, bits, divide, state)[-1]]
