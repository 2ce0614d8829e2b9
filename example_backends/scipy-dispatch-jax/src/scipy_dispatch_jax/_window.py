"""Windows that move over an array: their elements added, compared, or sorted.

Everything that costs is compiled as one: what lies beyond the ends, the sum, and the conversion
of the result. A call outside of `jit` pays once for each function here, not for each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from math import isqrt, prod

import numpy as np

from ._arrays import as_c_casts, is_integer, is_jax
from ._boundary import extended, is_constant
from ._jax import Array, jax, jnp, lax
from ._selection import as_ordered, bisected, from_ordered, selected
from ._wavelet import ranked_along

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Offsets: TypeAlias = tuple[tuple[int, ...], ...]

# So many elements of a window are written out, one after the other, which XLA makes one loop
# over the array of. A longer program takes long to compile: a loop over the window then.
_WRITTEN_OUT = 64
# So many are compared by a network that is written out, which takes longer to compile from there.
_COMPARED = 128
# Beyond so many bytes of a window along a line its elements are not counted for each bit.
_COUNTED = 512
# Of slopes, far fewer, as each of the elements written out becomes an array of its own.
_WRITTEN_OUT_FOR_SLOPES = 8


@dataclass(frozen=True)
class Parts:
    """An array's elements, shifted: where they begin in one that has been extended.

    Attributes
    ----------
    offsets : tuple of tuple of int
        The beginnings.
    shape : tuple of int
        Of each part.
    """

    offsets: Offsets
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.offsets)

    def of(self, x: Array, number: Any) -> Array:
        """Return a part of `x`, by its number, which may be traced."""
        if not isinstance(number, int):
            return lax.dynamic_slice(x, jnp.asarray(_table(self.offsets))[number], self.shape)
        start = self.offsets[number]
        return lax.slice(x, start, [a + n for a, n in zip(start, self.shape, strict=True)])

    def zeros(self, x: Array, dtype: Any = None) -> Array:
        """Return as many zeros as a part has, sharded as a part of `x`."""
        return jnp.zeros_like(self.of(x, 0), dtype=dtype)


@lru_cache(maxsize=16)
def _table(offsets: Offsets) -> np.ndarray[Any, Any]:
    """Return offsets as one array, the same one for all the parts that a trace takes."""
    return np.asarray(offsets, np.int32)


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
        """Return what `cval` is as an element; None where it does not matter."""
        if not any(map(is_constant, self.modes)):
            return None
        if is_jax(cval):
            return cval
        with np.errstate(all="ignore"):
            return np.asarray(cval).astype(self.working)

    def over(self, x: Array, cval: Any) -> tuple[Array, Parts]:
        """Return `x` as it is computed with, extended, and its parts, one for each offset."""
        x = extended(x.astype(self.working), self.margins, self.modes, cval)
        shape = tuple(n - size + 1 for n, size in zip(x.shape, self.shape, strict=True))
        return x, Parts(self.offsets, shape)


def offsets_of(shape: tuple[int, ...], where: Any = None) -> Offsets:
    """Return the positions in a window of `shape`, in C's order: all, or those `where`."""
    chosen = np.ones(shape, dtype=bool) if where is None else where
    return tuple(map(tuple, np.argwhere(chosen).tolist()))


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
        return _running(lax.add, windows.over(x, cval)[0], count, axis)

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


@partial(jax.jit, static_argnames=("windows", "rank"))
def ranked(x: Array, cval: Any, windows: Windows, rank: int) -> Array:
    """Return the element of that rank of every window."""
    x, parts = windows.over(x, cval)
    choose = _choose_differentiably if jnp.issubdtype(x.dtype, jnp.inexact) else _choose
    return as_c_casts(choose(parts, rank, x), windows.dtype)


def _sum(limit: int, parts: Parts, adding: Adding, x: Array, weights: Array) -> Array:
    count = parts.count

    def times(part: Array, weight: Array) -> Array:
        if adding.skips_zeros and limit == _WRITTEN_OUT_FOR_SLOPES:
            # By the weight there is a slope where it is zero too.
            part = jnp.where(jnp.isfinite(part) | (weight != 0), part, 0)
        product = _product(part, weight)
        if adding.skips_zeros and limit == _WRITTEN_OUT:
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


def _running(combine: Callable[[Array, Array], Array], x: Array, count: int, axis: int) -> Array:
    """Return what `combine` makes of `count` elements in a row, wherever they begin.

    It is made from that of 1, 2, 4, … elements, in about as many steps as `count` has binary
    digits, so that sums are rounded as few times.
    """

    def part(x: Array, begin: int, length: int) -> Array:
        return lax.slice_in_dim(x, begin, begin + length, axis=axis)

    length = x.shape[axis] - count + 1
    combined, width = x, 1  # of so many elements
    total, begin = None, 0
    while True:
        if count & width:
            rest = part(combined, begin, length)
            total = rest if total is None else combine(total, rest)
            begin += width
        if 2 * width > count:
            return total
        last = combined.shape[axis] - width
        combined = combine(part(combined, 0, last), part(combined, width, last))
        width *= 2


def _total(term: Callable[[Any], Array], count: int, total: Array, limit: int) -> Array:
    """Add `count` terms to `total`, written out up to a limit.

    In double precision they are added one after the other, as SciPy does. Of many in single
    precision there are sums of sums, or else the error would grow as their number does.
    """
    if count <= limit:
        for number in range(count):
            total = total + term(number)
        return total
    if count <= _WRITTEN_OUT or total.dtype not in (np.float32, np.complex64):
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
    return sum(_WRITTEN_OUT, *how, *arrays)


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


def _choose(parts: Parts, rank: int, x: Array) -> Array:
    count = parts.count
    box = [n - m + 1 for n, m in zip(x.shape, parts.shape, strict=True)]
    is_solid = prod(box) == count
    if rank in (0, count - 1):
        return _extreme(parts, jnp.maximum if rank else jnp.minimum, x, box if is_solid else None)
    ordered = as_ordered(x)
    if count <= _COMPARED:
        # Without it XLA computes anew, for each comparison, what lies beyond the ends.
        ordered = lax.optimization_barrier(ordered)
        chosen = selected([parts.of(ordered, number) for number in range(count)], rank)
    elif is_solid and max(box) == count and count * ordered.dtype.itemsize > _COUNTED:
        chosen = ranked_along(ordered, box.index(count), count, rank)
    else:
        chosen = _choose_by_counting(parts, rank, ordered)
    return from_ordered(chosen, x.dtype)


def _extreme(
    parts: Parts, choose: Callable[[Array, Array], Array], x: Array, box: list[int] | None
) -> Array:
    if parts.count <= _WRITTEN_OUT:
        return reduce(choose, (parts.of(x, number) for number in range(parts.count)))
    if box is None:
        return lax.fori_loop(
            1, parts.count, lambda number, best: choose(best, parts.of(x, number)), parts.of(x, 0)
        )
    for axis, size in enumerate(box):
        x = _running(choose, x, size, axis)
    return x


def _choose_by_counting(parts: Parts, rank: int, x: Array) -> Array:
    dtype = np.promote_types(x.dtype, np.min_scalar_type(parts.count))
    width = min(isqrt(parts.count), _WRITTEN_OUT)  # so many written out, in a loop over the rest
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
    """Take the slope of the first element that is the one chosen.

    To follow the comparisons would be right too, and takes a minute to compile for windows of
    7 by 7 elements.
    """
    (x,), (slope,) = arrays, slopes
    result = _choose_differentiably(parts, rank, x)
    fixed, chosen = lax.stop_gradient((x, result))

    def find(number: Any, index: Array) -> Array:
        part = parts.of(fixed, number)
        is_it = (part == chosen) | ((part != part) & (chosen != chosen))  # NaN alone differs
        return jnp.where(is_it & (index < 0), jnp.asarray(number, index.dtype), index)

    index = lax.fori_loop(0, parts.count, find, parts.zeros(fixed, np.int32) - 1)

    def taken(x: Array) -> Array:
        def take(number: Any, total: Array) -> Array:
            is_it = index == jnp.asarray(number, index.dtype)
            return jnp.where(is_it, parts.of(x, number), total)

        # Without a checkpoint each of the comparisons would be kept for the gradient.
        return lax.fori_loop(0, parts.count, jax.checkpoint(take), jnp.zeros_like(result))

    return result, jax.jvp(taken, (x,), (slope,))[1]


_choose_differentiably.defjvp(_slope_of_choice)
