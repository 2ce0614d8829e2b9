"""The element of a certain rank in every wide window along a line.

The time that this takes does not depend on how wide the windows are. The elements are numbered
in their order, and the numbers' bits kept in a wavelet matrix (F. Claude, G. Navarro and
A. Ordóñez, "The wavelet matrix: An efficient wavelet tree for large alphabets", Information
Systems 47, 2015): from the highest bit down, those with a bit of 0 are put before those with a
bit of 1, and otherwise stay in their order. So what is in a window stays side by side: in two
windows, one before and one behind, whose lengths say in which of them the element wanted is.
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
    """Return the elements of that rank of windows along an axis.

    Parameters
    ----------
    x : array of integers
        The elements.
    axis : int
        Along which the windows lie.
    count : int
        How many elements are in a window.
    rank : int
        From 0 for the smallest.
    """
    lines = jnp.moveaxis(x, axis, -1)
    flat = lines.reshape(-1, lines.shape[-1])
    result = jax.vmap(partial(_ranked, count=count, rank=rank))(flat)
    return jnp.moveaxis(result.reshape(*lines.shape[:-1], -1), -1, axis)


def _ranked(x: Array, count: int, rank: int) -> Array:
    length = x.size
    index = np.dtype(np.uint32 if length < 2**32 else np.uint64)  # never from the end
    zeros_like_x = jnp.zeros_like(x, index)  # sharded as x
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
