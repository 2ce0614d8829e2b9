"""Windows that move over an array: their elements added, compared, or sorted."""

from __future__ import annotations

from functools import partial

import numpy as np

from ._jax import Array, jax, jnp, lax
from ._selection import selected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Offsets: TypeAlias = tuple[tuple[int, ...], ...]

# So many elements of a window are written out, one after the other, which XLA makes one loop
# over the array of. A longer program takes long to compile: a loop over the window then.
_WRITTEN_OUT = 64


def offsets_of(shape: tuple[int, ...], where: Any = None) -> Offsets:
    """Return the positions in a window of `shape`, in C's order: all, or those `where`."""
    chosen = np.ones(shape, dtype=bool) if where is None else where
    return tuple(tuple(map(int, position)) for position in np.argwhere(chosen))


@partial(jax.jit, static_argnames=("offsets", "shape", "separately", "symmetry", "skips_zeros"))
def weighted_sum(
    x: Array,
    weights: Array,
    offsets: Offsets,
    shape: tuple[int, ...],
    separately: bool = False,
    symmetry: int = 0,
    skips_zeros: bool = False,
) -> Array:
    """Return the sum of shifted arrays times their weights.

    Parameters
    ----------
    x : jax.Array
        The array, extended by the size of the window.
    weights : jax.Array
        One for every offset; of the data type of `x`.
    offsets : tuple of tuple of int
        Where the shifted arrays begin in `x`.
    shape : tuple of int
        Their shape, and that of the result.
    separately : bool, optional
        Whether to round products before they are added, as SciPy does. XLA fuses the two,
        which is faster, and more exact by a bit that decides where a sum is cut off to an
        integer.
    symmetry : int, optional
        1 if the weights are the same from either end, -1 if they are but for their sign,
        and odd in number. Then those are added, or subtracted, before they are multiplied,
        in the order in which SciPy does, so that the same is rounded.
    skips_zeros : bool, optional
        Whether an element that is no number does not matter where the weight is zero, as it
        does not in SciPy's windows of any number of dimensions, while its lines multiply.
    """
    count = len(offsets)
    table = np.array(offsets)

    def shifted(number: Any) -> Array:
        return _slice(x, table, number, shape)

    def term(number: Any) -> Array:
        part = shifted(number)
        if symmetry == 1:
            part = part + shifted(count - 1 - number)
        elif symmetry == -1:
            part = part - shifted(count - 1 - number)
        return times(part, weights[number])

    def times(part: Array, weight: Array) -> Array:
        product = _skipping(part, weight) if skips_zeros else part * weight
        if not separately:
            return product
        # What has been compared cannot be fused with what comes next.
        return jnp.maximum(product, jnp.finfo(product.dtype).min)

    if not symmetry:
        return _total(term, count, lambda: jnp.zeros(shape, x.dtype))
    middle = count // 2
    return _total(term, middle, lambda: times(shifted(middle), weights[middle]))


def _skipping(part: Array, weight: Array) -> Array:
    """Multiply, but for elements that are no numbers where the weight is zero."""
    if not jnp.issubdtype(part.dtype, jnp.inexact):
        return part * weight
    return jnp.where(jnp.isfinite(part) | (weight != 0), part, 0) * weight


def _total(term: Callable[[Any], Array], count: int, start: Callable[[], Array]) -> Array:
    if count <= _WRITTEN_OUT:
        total = start()
        for number in range(count):
            total = total + term(number)
        return total
    # Without a checkpoint all the shifted arrays would be kept for the gradient.
    step = jax.checkpoint(lambda number, total: total + term(number))
    return lax.fori_loop(0, count, step, start())


@partial(jax.jit, static_argnames=("offsets", "shape"))
def plain_sum(x: Array, offsets: Offsets, shape: tuple[int, ...]) -> Array:
    """Return the sum of shifted arrays, as `weighted_sum` with weights of 1."""
    table = np.array(offsets)
    return _total(
        lambda number: _slice(x, table, number, shape),
        len(offsets),
        lambda: jnp.zeros(shape, x.dtype),
    )


@partial(jax.jit, static_argnames=("offsets", "shape", "largest"))
def extreme(x: Array, offsets: Offsets, shape: tuple[int, ...], largest: bool) -> Array:
    """Return the largest or the smallest elements of shifted arrays."""
    table = np.array(offsets)
    choose = jnp.maximum if largest else jnp.minimum
    result = _slice(x, table, 0, shape)
    if len(offsets) <= _WRITTEN_OUT:
        for number in range(1, len(offsets)):
            result = choose(result, _slice(x, table, number, shape))
        return result
    step = jax.checkpoint(lambda number, best: choose(best, _slice(x, table, number, shape)))
    return lax.fori_loop(1, len(offsets), step, result)


@partial(jax.jit, static_argnames=("offsets", "shape", "rank"))
def ranked(x: Array, offsets: Offsets, shape: tuple[int, ...], rank: int) -> Array:
    """Return the element of that rank of every window."""
    table = np.array(offsets)
    if len(offsets) <= _WRITTEN_OUT:
        return selected([_slice(x, table, number, shape) for number in range(len(offsets))], rank)
    windows = jax.vmap(lambda start: lax.dynamic_slice(x, start, shape))(jnp.asarray(table))
    return jnp.sort(windows, axis=0)[rank]


def _slice(x: Array, table: np.ndarray, number: Any, shape: tuple[int, ...]) -> Array:
    if isinstance(number, int):
        start = table[number].tolist()
        return lax.slice(x, start, [first + n for first, n in zip(start, shape, strict=True)])
    return lax.dynamic_slice(x, jnp.asarray(table)[number], shape)
