"""Elements of windows added up: weighted sums and means, and their slopes.

Everything that costs is compiled as one: what lies beyond the ends, the sum, and the conversion
of the result. A call outside of `jit` pays once for each function here, not for each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isqrt

import numpy as np

from ._arrays import as_c_casts, is_integer
from ._jax import Array, jax, jnp, lax
from ._window import WRITTEN_OUT, running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._window import Parts, Windows

# Of slopes far fewer are written out, as each of the elements becomes an array of its own.
_WRITTEN_OUT_FOR_SLOPES = 8


@dataclass(frozen=True)
class Adding:
    """How products are added, where that matters for the last bit.

    Attributes
    ----------
    separately : bool
        Whether to round products before they are added, as SciPy does. XLA fuses the two,
        which is faster, and more exact by a bit that decides where a sum is cut off to an
        integer.
    symmetry : int
        1 if the weights are the same from either end, -1 if they are but for their sign,
        and odd in number. Then those are added, or subtracted, before they are multiplied,
        in the order in which SciPy does, so that the same is rounded.
    last_first : bool
        Whether the last product is added before the others, as along SciPy's lines.
    skips_zeros : bool
        Whether an element that is no number does not matter where the weight is zero, as it
        does not in SciPy's windows of any number of dimensions, while its lines multiply.
    """

    separately: bool = False
    symmetry: int = 0
    last_first: bool = False
    skips_zeros: bool = False


@partial(jax.jit, static_argnames=("windows", "adding"))
def weighted_sum(
    x: Array, weights: Any, cval: Any, windows: Windows, adding: Adding = Adding()
) -> Array:
    """Return the sums of the windows' elements times their weights.

    Parameters
    ----------
    x : jax.Array
        The array.
    weights : array
        One for every offset.
    cval : scalar or None
        From `Windows.fill`.
    windows : Windows
        What moves over the array.
    adding : Adding, optional
        In which order, and how.
    """
    x, parts = windows.over(x, cval)
    weights = jnp.ravel(jnp.asarray(weights))
    is_complex_sum = jnp.issubdtype(weights.dtype, jnp.complexfloating)
    if is_complex_sum or is_integer(windows.working):
        weights = weights.astype(windows.working)
    else:
        weights = weights.astype(jnp.finfo(windows.working).dtype)
    return as_c_casts(_differentiable(_sum, (parts, adding), x, weights), windows.dtype)


@partial(jax.jit, static_argnames="windows")
def mean(x: Array, cval: Any, windows: Windows) -> Array:
    """Return the means of windows; arguments as those of `weighted_sum`.

    Windows are one element wide along all axes but one; their offsets are not looked at.
    """
    axis = int(np.argmax(windows.shape))
    count = windows.shape[axis]

    def total(x: Array, cval: Any) -> Array:
        return running(lax.add, windows.over(x, cval)[0], count, axis)

    if not is_integer(windows.working):
        return as_c_casts(total(x, cval) / count, windows.dtype)
    # Sums of 32 bits have no place in 32 bits: quotients and remainders do.
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
            # By the weight there is a slope where it is zero too.
            part = jnp.where(jnp.isfinite(part) | (weight != 0), part, 0)
        product = _product(part, weight)
        if adding.skips_zeros and limit == WRITTEN_OUT:
            # Linear in the array, whatever is in it.
            product = jnp.where(weight != 0, product, jnp.zeros((), product.dtype))
        if not adding.separately:
            return product
        # What has been compared cannot be fused with what comes next.
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
    if jnp.issubdtype(part.dtype, jnp.complexfloating) > jnp.issubdtype(
        weight.dtype, jnp.complexfloating
    ):
        # JAX would make the weight complex, and what is infinite would be no number then.
        return lax.complex(part.real * weight, part.imag * weight)
    return part * weight


def _total(term: Callable[[Any], Array], count: int, total: Array, limit: int) -> Array:
    """Add `count` terms to `total`, written out up to a limit.

    In double precision they are added one after the other, as SciPy does. Of many in single
    precision there are sums of sums, or else the error would grow as their number does.
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
    # Without a checkpoint all the shifted arrays would be kept for the gradient.
    step = jax.checkpoint(lambda number, total: total + term(first + number))
    return lax.fori_loop(0, count, step, total)


def _differentiable(sum: Callable[..., Array], how: tuple[Any, ...], *arrays: Array) -> Array:
    """Return a sum, with a slope that does not take long to compile."""
    if not jnp.issubdtype(arrays[0].dtype, jnp.inexact):
        return _written_out(sum, how, *arrays)
    return _sum_differentiably(sum, how, *arrays)


def _written_out(sum: Callable[..., Array], how: tuple[Any, ...], *arrays: Array) -> Array:
    return sum(WRITTEN_OUT, *how, *arrays)


_sum_differentiably: Any = jax.custom_jvp(_written_out, nondiff_argnums=(0, 1))


def _slope_of_sum(
    sum: Callable[..., Array],
    how: tuple[Any, ...],
    arrays: tuple[Array, ...],
    slopes: tuple[Array, ...],
) -> tuple[Array, Array]:
    result = _sum_differentiably(sum, how, *arrays)
    return result, jax.jvp(partial(sum, _WRITTEN_OUT_FOR_SLOPES, *how), arrays, slopes)[1]


_sum_differentiably.defjvp(_slope_of_sum)
