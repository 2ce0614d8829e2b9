"""Weighted sums and means of windows, with derivatives.

Each function is compiled as a whole: the extension at the boundaries, the sum, and the
conversion of the result. So a call outside of `jit` has the overhead of one operation for each
function, not for each step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isqrt
from typing import Any

import numpy as np

from ._arrays import as_c_casts, is_complex, is_integer
from ._jax import Array, jax, jnp, lax
from ._window import WRITTEN_OUT, Parts, Windows, running

# Fewer terms are unrolled for derivatives, because each element becomes an array.
_WRITTEN_OUT_FOR_SLOPES = 8


@dataclass(frozen=True)
class Adding:
    """The order and rounding of a sum, which affect the last bit.

    Attributes
    ----------
    separately : bool
        Whether to round products before adding them, as SciPy does. XLA fuses the two
        operations. This is faster and more exact by a bit, but that bit may decide where a sum
        is truncated to an integer.
    symmetry : int
        1 if an odd number of weights is symmetric, -1 if antisymmetric, otherwise 0. In the
        first two cases, elements are added or subtracted before they are multiplied, in SciPy's
        order, so that the rounding is the same.
    last_first : bool
        Whether the last product is added first, as in SciPy's 1-d filters.
    skips_zeros : bool
        Whether NaN and infinity are ignored where the weight is zero, as in SciPy's n-d filters.
        Its 1-d filters multiply them.
    """

    separately: bool = False
    symmetry: int = 0
    last_first: bool = False
    skips_zeros: bool = False


@partial(jax.jit, static_argnames=("windows", "adding"))
def weighted_sum(
    x: Array, weights: Any, cval: Any, windows: Windows, adding: Adding = Adding()
) -> Array:
    """Return the sums of the elements of windows times their weights, one for every offset.

    `cval` comes from `Windows.fill`.
    """
    x, parts = windows.over(x, cval)
    weights = jnp.ravel(jnp.asarray(weights))
    dtype = windows.working
    if not is_complex(weights.dtype) and not is_integer(dtype):
        dtype = jnp.finfo(dtype).dtype
    weights = weights.astype(dtype)
    is_exact = not jnp.issubdtype(x.dtype, jnp.inexact)
    work = partial(_sum, WRITTEN_OUT) if is_exact else _differentiable
    return as_c_casts(work(parts, adding, x, weights), windows.dtype)


@partial(jax.jit, static_argnames="windows")
def mean(x: Array, cval: Any, windows: Windows) -> Array:
    """Return the means of windows that are longer than one element along a single axis."""
    axis = int(np.argmax(windows.shape))
    count = windows.shape[axis]

    def total(x: Array, cval: Any) -> Array:
        return running(lax.add, windows.over(x, cval)[0], count, axis)

    if not is_integer(windows.working):
        return as_c_casts(total(x, cval) / count, windows.dtype)
    # Sums of 32-bit integers overflow 32 bits; sums of quotients and remainders do not.
    x = x.astype(windows.working)
    fill = jnp.zeros((), x.dtype) if cval is None else jnp.asarray(cval).astype(x.dtype)
    quotients, rest = total(x // count, fill // count), total(x % count, fill % count)
    if not is_integer(windows.dtype):
        return quotients.astype(windows.dtype) + rest.astype(windows.dtype) / count
    floor = quotients + rest // count
    if windows.working == np.int32:
        floor = floor + ((floor < 0) & (rest % count != 0)).astype(floor.dtype)
    return as_c_casts(floor, windows.dtype)


def _sum(limit: int, parts: Parts, adding: Adding, x: Array, weights: Array) -> Array:
    count = parts.count

    def times(part: Array, weight: Array) -> Array:
        if adding.skips_zeros and limit == _WRITTEN_OUT_FOR_SLOPES:
            # The derivative with respect to a zero weight is the element itself.
            part = jnp.where(jnp.isfinite(part) | (weight != 0), part, 0)
        product = _product(part, weight)
        if adding.skips_zeros and limit == WRITTEN_OUT:
            # This stays linear in the array, for any elements.
            product = jnp.where(weight != 0, product, jnp.zeros((), product.dtype))
        if not adding.separately:
            return product
        # The maximum prevents XLA from fusing the product with the next operation.
        return jnp.maximum(product, jnp.finfo(product.dtype).min)

    def term(number: Any) -> Array:
        if adding.last_first:
            number = (number - 1) % count
        part = parts.of(x, number)
        if adding.symmetry == 1:
            part = part + parts.of(x, count - 1 - number)
        elif adding.symmetry == -1:
            part = part - parts.of(x, count - 1 - number)
        return times(part, weights[number])

    if not adding.symmetry:
        return _total(term, count, parts.zeros(x), limit)
    middle = count // 2
    return _total(term, middle, times(parts.of(x, middle), weights[middle]), limit)


def _product(part: Array, weight: Array) -> Array:
    if is_complex(part.dtype) and not is_complex(weight.dtype):
        # JAX would convert the weight to complex, which turns infinity into NaN.
        return lax.complex(part.real * weight, part.imag * weight)
    return part * weight


def _total(term: Callable[[Any], Array], count: int, total: Array, limit: int) -> Array:
    """Add `count` terms to `total`, unrolled up to a limit.

    In double precision the terms are added one by one, as in SciPy. Many terms in single
    precision are added in groups, because the rounding error would grow with their number.
    """
    if count <= limit:
        for number in range(count):
            total = total + term(number)
        return total
    if count <= WRITTEN_OUT or total.dtype not in (np.float32, np.complex64):
        return _loop(term, 0, count, total)
    width = isqrt(count)

    def part(number: Any, total: Array) -> Array:
        first = number * width
        return total + _loop(term, first, width, jnp.zeros_like(total))

    whole = count // width
    total = lax.fori_loop(0, whole, jax.checkpoint(part), total)
    return _loop(term, whole * width, count - whole * width, total)


def _loop(term: Callable[[Any], Array], first: Any, count: int, total: Array) -> Array:
    # Without a checkpoint, the gradient would keep all shifted arrays.
    step = jax.checkpoint(lambda number, total: total + term(first + number))
    return lax.fori_loop(0, count, step, total)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _differentiable(parts: Parts, adding: Adding, x: Array, weights: Array) -> Array:
    """Return a sum with a derivative that compiles quickly."""
    return _sum(WRITTEN_OUT, parts, adding, x, weights)


def _slope(
    parts: Parts, adding: Adding, arrays: tuple[Array, ...], slopes: tuple[Array, ...]
) -> tuple[Array, Array]:
    summed = partial(_sum, _WRITTEN_OUT_FOR_SLOPES, parts, adding)
    return _differentiable(parts, adding, *arrays), jax.jvp(summed, arrays, slopes)[1]


_differentiable.defjvp(_slope)
