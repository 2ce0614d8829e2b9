"""Windows that move over an array: their elements added, compared, or sorted.

Everything that costs is compiled as one: what lies beyond the ends, the sum, and the conversion
of the result. A call outside of `jit` pays once for each function here, not for each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isqrt

import numpy as np

from ._arrays import as_c_casts, is_integer, is_jax
from ._boundary import extended, is_constant
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


@dataclass(frozen=True)
class Windows:
    """A window and how it moves over an array. Known when JAX traces.

    Attributes
    ----------
    shape : tuple of int
        Of the window, for every axis of the array.
    offsets : tuple of tuple of int
        Where in the window the elements are that count, in the order in which they do.
    margins : tuple of (int, int)
        How far the window moves over either end of the array, for every axis.
    modes : tuple of str
        What lies there, for every axis.
    working : data type
        What the elements are converted to before anything else.
    dtype : data type
        What the results are converted to in the end, as C casts.
    """

    shape: tuple[int, ...]
    offsets: Offsets
    margins: tuple[tuple[int, int], ...]
    modes: tuple[str, ...]
    working: np.dtype[Any]
    dtype: np.dtype[Any]

    def fill(self, cval: Any) -> Any:
        """Return what `cval` is as an element; something else where it does not matter."""
        if not any(map(is_constant, self.modes)):
            return np.zeros((), self.working)
        if is_jax(cval):
            return cval
        with np.errstate(all="ignore"):
            return np.asarray(cval).astype(self.working)

    def over(self, x: Array, cval: Any) -> Callable[[Any], Array]:
        """Return a function from the number of an offset to the array shifted by it."""
        x = extended(x.astype(self.working), self.margins, self.modes, cval)
        shape = tuple(n - size + 1 for n, size in zip(x.shape, self.shape, strict=True))
        table = np.array(self.offsets)

        def shifted(number: Any) -> Array:
            if not isinstance(number, int):
                return lax.dynamic_slice(x, jnp.asarray(table)[number], shape)
            start = self.offsets[number]
            return lax.slice(x, start, [first + n for first, n in zip(start, shape, strict=True)])

        return shifted


def offsets_of(shape: tuple[int, ...], where: Any = None) -> Offsets:
    """Return the positions in a window of `shape`, in C's order: all, or those `where`."""
    chosen = np.ones(shape, dtype=bool) if where is None else where
    return tuple(map(tuple, np.argwhere(chosen).tolist()))


@partial(
    jax.jit, static_argnames=("windows", "separately", "symmetry", "skips_zeros", "last_first")
)
def weighted_sum(
    x: Array,
    weights: Any,
    cval: Any,
    windows: Windows,
    separately: bool = False,
    symmetry: int = 0,
    skips_zeros: bool = False,
    last_first: bool = False,
) -> Array:
    """Return the sums of the windows' elements times their weights.

    Parameters
    ----------
    x : jax.Array
        The array.
    weights : array
        One for every offset.
    cval : scalar
        From `Windows.fill`.
    windows : Windows
        What moves over the array.
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
    last_first : bool, optional
        Whether the last product is added before the others, as along SciPy's lines.
    """
    count = len(windows.offsets)
    shifted = windows.over(x, cval)
    weights = jnp.ravel(jnp.asarray(weights))
    is_complex_sum = jnp.issubdtype(weights.dtype, jnp.complexfloating)
    if is_complex_sum or is_integer(windows.working):
        weights = weights.astype(windows.working)
    else:
        weights = weights.astype(jnp.finfo(windows.working).dtype)

    def term(number: Any) -> Array:
        if last_first:
            number = (number - 1) % count
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
        total = _total(term, count, jnp.zeros_like(shifted(0)))
    else:
        middle = count // 2
        total = _total(term, middle, times(shifted(middle), weights[middle]))
    return as_c_casts(total, windows.dtype)


def _skipping(part: Array, weight: Array) -> Array:
    """Multiply, but for elements that are no numbers where the weight is zero."""
    if not jnp.issubdtype(part.dtype, jnp.inexact):
        return part * weight
    return jnp.where(jnp.isfinite(part) | (weight != 0), part, 0) * weight


def _total(term: Callable[[Any], Array], count: int, total: Array) -> Array:
    """Add `count` terms to `total`.

    In double precision they are added one after the other, as SciPy does. Of many in single
    precision there are sums of sums, or else the error would grow as their number does.
    """
    if count <= _WRITTEN_OUT:
        for number in range(count):
            total = total + term(number)
        return total
    if total.dtype not in (np.float32, np.complex64):
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


@partial(jax.jit, static_argnames="windows")
def mean(x: Array, cval: Any, windows: Windows) -> Array:
    """Return the means of windows; arguments as those of `weighted_sum`."""
    count = len(windows.offsets)

    def total(x: Array, cval: Any) -> Array:
        shifted = windows.over(x, cval)
        return _total(shifted, count, jnp.zeros_like(shifted(0)))

    if not is_integer(windows.working):
        return as_c_casts(total(x, cval) / count, windows.dtype)
    # Sums of 32 bits have no place in 32 bits: quotients and remainders do.
    x, cval = (jnp.asarray(each).astype(windows.working) for each in (x, cval))
    quotients, rest = total(x // count, cval // count), total(x % count, cval % count)
    if not is_integer(windows.dtype):
        return quotients.astype(windows.dtype) + rest.astype(windows.dtype) / count
    floor = quotients + rest // count
    if windows.working == np.int32:
        floor = floor + ((floor < 0) & (rest % count != 0))
    return as_c_casts(floor, windows.dtype)


@partial(jax.jit, static_argnames=("windows", "largest"))
def extreme(x: Array, cval: Any, windows: Windows, largest: bool) -> Array:
    """Return the largest or the smallest elements of windows."""
    count = len(windows.offsets)
    shifted = windows.over(x, cval)
    choose = jnp.maximum if largest else jnp.minimum
    result = shifted(0)
    if count <= _WRITTEN_OUT:
        for number in range(1, count):
            result = choose(result, shifted(number))
    else:
        step = jax.checkpoint(lambda number, best: choose(best, shifted(number)))
        result = lax.fori_loop(1, count, step, result)
    return as_c_casts(result, windows.dtype)


@partial(jax.jit, static_argnames=("windows", "rank"))
def ranked(x: Array, cval: Any, windows: Windows, rank: int) -> Array:
    """Return the element of that rank of every window."""
    count = len(windows.offsets)
    shifted = windows.over(x, cval)
    if count <= _WRITTEN_OUT:
        result = selected([shifted(number) for number in range(count)], rank)
    else:
        result = jnp.sort(jax.vmap(shifted)(jnp.arange(count)), axis=0)[rank]
    return as_c_casts(result, windows.dtype)
