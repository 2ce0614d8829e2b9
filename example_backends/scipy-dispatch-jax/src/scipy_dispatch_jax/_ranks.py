"""Elements of windows by their rank: extremes, medians and percentiles, with derivatives.

As in `_sums`, each function is compiled as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isqrt, prod
from typing import Any

import numpy as np

from ._arrays import as_c_casts
from ._jax import Array, jax, jnp, lax
from ._selection import as_ordered, bisected, from_ordered, selected
from ._window import WRITTEN_OUT, Parts, Windows, running

# Up to this many elements, an unrolled sorting network is used; larger ones compile slowly.
_COMPARED = 128


@partial(jax.jit, static_argnames=("windows", "rank"))
def ranked(x: Array, cval: Any, windows: Windows, rank: int) -> Array:
    """Return the element of the given rank in every window."""
    x, parts = windows.over(x, cval)
    choose = _choose_differentiably if jnp.issubdtype(x.dtype, jnp.inexact) else _choose
    return as_c_casts(choose(parts, rank, x), windows.dtype)


def _choose(parts: Parts, rank: int, x: Array) -> Array:
    count = parts.count
    box = [n - m + 1 for n, m in zip(x.shape, parts.shape, strict=True)]
    is_solid = prod(box) == count
    if rank in (0, count - 1):
        return _extreme(parts, jnp.maximum if rank else jnp.minimum, x, box if is_solid else None)
    ordered = as_ordered(x)
    if count <= _COMPARED:
        # Without the barrier, XLA would recompute the boundary values for each comparison.
        ordered = lax.optimization_barrier(ordered)
        chosen = selected([parts.of(ordered, number) for number in range(count)], rank)
    else:
        chosen = _choose_by_counting(parts, rank, ordered)
    return from_ordered(chosen, x.dtype)


def _extreme(
    parts: Parts, choose: Callable[[Array, Array], Array], x: Array, box: list[int] | None
) -> Array:
    if box is None:
        return parts.reduced(x, choose)
    for axis, size in enumerate(box):
        x = running(choose, x, size, axis)
    return x


def _choose_by_counting(parts: Parts, rank: int, x: Array) -> Array:
    dtype = np.promote_types(x.dtype, np.min_scalar_type(parts.count))
    # Unroll this many terms, and loop over the rest.
    width = min(isqrt(parts.count), WRITTEN_OUT)
    whole = parts.count // width

    def count_below(bounds: Array) -> Array:
        def add(first: Any, several: int, total: Array) -> Array:
            for number in range(several):
                total = total + (parts.of(x, first + number) < bounds).astype(dtype)
            return total

        total = lax.fori_loop(
            0, whole, lambda number, total: add(number * width, width, total), zero
        )
        return add(whole * width, parts.count - whole * width, total)

    zero = parts.zeros(x, dtype)
    return bisected(count_below, rank, parts.zeros(x))


_choose_differentiably: Any = jax.custom_jvp(_choose, nondiff_argnums=(0, 1))


def _slope_of_choice(
    parts: Parts, rank: int, arrays: tuple[Array], slopes: tuple[Array]
) -> tuple[Array, Array]:
    """Return the choice and its derivative, that of the first element equal to the choice.

    Differentiating the comparisons would be correct too, but takes a minute to compile for
    windows of 7 by 7 elements.
    """
    (x,), (slope,) = arrays, slopes
    result = _choose_differentiably(parts, rank, x)
    fixed, chosen = lax.stop_gradient((x, result))

    def find(number: Any, index: Array) -> Array:
        part = parts.of(fixed, number)
        # Two NaNs count as equal.
        is_it = (part == chosen) | ((part != part) & (chosen != chosen))
        return jnp.where(is_it & (index < 0), jnp.asarray(number, index.dtype), index)

    index = lax.fori_loop(0, parts.count, find, parts.zeros(fixed, np.int32) - 1)

    def taken(x: Array) -> Array:
        def take(number: Any, total: Array) -> Array:
            is_it = index == jnp.asarray(number, index.dtype)
            return jnp.where(is_it, parts.of(x, number), total)

        # Without a checkpoint, the gradient would keep the result of each comparison.
        return lax.fori_loop(0, parts.count, jax.checkpoint(take), jnp.zeros_like(result))

    return result, jax.jvp(taken, (x,), (slope,))[1]


_choose_differentiably.defjvp(_slope_of_choice)
