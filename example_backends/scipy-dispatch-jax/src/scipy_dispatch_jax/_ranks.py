"""Rank filters of `scipy_dispatch.ndimage`, which choose an element of every window by its rank.

The comparisons do not depend on the values. XLA turns them into loops over the array; sorting every
window takes many times as long, and needs a copy of the array for each element of the window.

Elements are compared as unsigned integers with the same order, which include no NaN. For few
elements, a sorting network determines the comparisons: those of Batcher's odd-even merge sort
(K. E. Batcher, "Sorting networks and their applications", 1968; D. E. Knuth, The Art of Computer
Programming, volume 3, 5.2.2, algorithm M) that the selected element depends on. For many elements,
the selected integer is found bit by bit from the highest bit. A bit is set if at most `rank`
elements are less than the number with that bit.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from math import isqrt, prod
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ._arrays import as_c_casts, dtype_of, for_each, one_axis, some_axes
from ._calls import Arguments, implements, require, warn_caller, why_not_element
from ._windows import (
    WRITTEN_OUT,
    Windows,
    is_constant,
    result_dtype,
    running,
)

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


# Up to this many elements, an unrolled sorting network is used; larger ones compile slowly.
_COMPARED = 128


@partial(jax.jit, static_argnames=("windows", "rank"))
def ranked(x: Array, cval: Any, windows: Windows, rank: int) -> Array:
    """Return the element of the given rank in every window."""
    x = windows.over(x, cval)
    choose = _choose_differentiably if jnp.issubdtype(x.dtype, jnp.inexact) else _choose
    return as_c_casts(choose(windows, rank, x), windows.dtype)


def _choose(windows: Windows, rank: int, x: Array) -> Array:
    count = windows.count
    if rank in (0, count - 1):
        choose = jnp.maximum if rank else jnp.minimum
        if prod(windows.shape) > count:
            return windows.reduced(x, choose)
        for axis, size in enumerate(windows.shape):
            x = running(choose, x, size, axis)
        return x
    ordered = as_ordered(x)
    if count <= _COMPARED:
        # Without the barrier, XLA would recompute the boundary values for each comparison.
        ordered = lax.optimization_barrier(ordered)
        chosen = selected([windows.part(ordered, number) for number in range(count)], rank)
    else:
        chosen = _choose_by_counting(windows, rank, ordered)
    return from_ordered(chosen, x.dtype)


def _choose_by_counting(windows: Windows, rank: int, x: Array) -> Array:
    dtype = np.promote_types(x.dtype, np.min_scalar_type(windows.count))
    # Unroll this many terms, and loop over the rest.
    width = min(isqrt(windows.count), WRITTEN_OUT)
    whole = windows.count // width

    def count_below(bounds: Array) -> Array:
        def add(first: Any, several: int, total: Array) -> Array:
            for number in range(several):
                total = total + (windows.part(x, first + number) < bounds).astype(dtype)
            return total

        total = lax.fori_loop(
            0, whole, lambda number, total: add(number * width, width, total), zero
        )
        return add(whole * width, windows.count - whole * width, total)

    zero = windows.zeros(x, dtype)
    return bisected(count_below, rank, windows.zeros(x))


_choose_differentiably: Any = jax.custom_jvp(_choose, nondiff_argnums=(0, 1))


def _slope_of_choice(
    windows: Windows, rank: int, arrays: tuple[Array], slopes: tuple[Array]
) -> tuple[Array, Array]:
    """Return the choice and its derivative, that of the first element equal to the choice.

    Differentiating the comparisons would be correct too, but takes a minute to compile for
    windows of 7 by 7 elements.
    """
    (x,), (slope,) = arrays, slopes
    result = _choose_differentiably(windows, rank, x)
    fixed, chosen = lax.stop_gradient((x, result))

    def find(number: Any, index: Array) -> Array:
        part = windows.part(fixed, number)
        # Two NaNs count as equal.
        is_it = (part == chosen) | ((part != part) & (chosen != chosen))
        return jnp.where(is_it & (index < 0), jnp.asarray(number, index.dtype), index)

    index = lax.fori_loop(0, windows.count, find, windows.zeros(fixed, np.int32) - 1)

    def taken(x: Array) -> Array:
        def take(number: Any, total: Array) -> Array:
            is_it = index == jnp.asarray(number, index.dtype)
            return jnp.where(is_it, windows.part(x, number), total)

        # Without a checkpoint, the gradient would keep the result of each comparison.
        return lax.fori_loop(0, windows.count, jax.checkpoint(take), jnp.zeros_like(result))

    return result, jax.jvp(taken, (x,), (slope,))[1]


_choose_differentiably.defjvp(_slope_of_choice)


def refuse_fill(call: Arguments) -> str | None:
    """Reject fill values that an array of integers, or such a result, cannot hold."""
    modes = [call.mode] if isinstance(call.mode, str) else call.mode
    if not any(map(is_constant, modes)):
        return None
    dtype = dtype_of(call.input)
    dtypes = {dtype, result_dtype(call.output, dtype)}
    reasons = (why_not_element("cval", call.cval, each) for each in dtypes)
    return next(filter(None, reasons), None)


def _refuse_ranks(call: Arguments) -> str | None:
    if not isinstance(call.mode, str):
        return "mode= is a list, which SciPy takes for some ranks only"
    return refuse_fill(call)


def warn_of_both(call: Arguments) -> Arguments:
    """Warn, as SciPy does, if one of two arguments has no effect."""
    if call.size is not None and call.footprint is not None:
        warn_caller("ignoring size because footprint is set")
    return call


def in_windows(call: Arguments, rank_of: Callable[[int], int], mirrored: bool = False) -> Array:
    """Return the elements of a rank, which `rank_of` chooses by the number of elements."""
    x, axes, footprint = call.input, some_axes(call.axes, call.input.ndim), call.footprint
    if footprint is None:
        require(call.size is not None)
        lengths = [operator.index(each) for each in for_each(call.size, len(axes))]
        footprint = np.ones(lengths, dtype=bool)
    footprint = np.asarray(footprint, dtype=bool)
    count = int(footprint.sum())
    rank = rank_of(count)
    rank += count if rank < 0 else 0
    require(footprint.ndim == len(axes) and 0 <= rank < count)
    dtype = result_dtype(call.output, x.dtype)
    types = x.dtype, dtype
    windows = Windows.of(x.ndim, footprint, axes, call.origin, call.mode, types, mirrored)
    return ranked(x, windows.fill(call.cval), windows, rank)


def extreme(call: Arguments, largest: bool, mirrored: bool = False) -> Array:
    """Return the smallest or largest elements of windows."""
    axes, footprint = some_axes(call.axes, call.input.ndim), call.footprint
    if axes and (footprint is None or np.asarray(footprint, dtype=bool).all()):
        # Without holes, SciPy goes along one axis after the other, in their order.
        size = call.size if footprint is None else np.shape(footprint)
        require(size is not None)
        each = (for_each(each, len(axes)) for each in (size, call.origin, call.mode))
        axes, size, origin, mode = zip(*sorted(zip(axes, *each, strict=True)), strict=True)
        call = call.but(axes=axes, size=size, origin=origin, mode=mode, footprint=None)
    elif axes and not isinstance(call.mode, str):
        # SciPy would get a footprint of ones, and not raise.
        raise RuntimeError("a list of modes is for footprints without holes")
    return in_windows(call, lambda count: count - 1 if largest else 0, mirrored)


def _extreme1d(call: Arguments, largest: bool) -> Array:
    axis = one_axis(call.axis, call.input.ndim)
    require(isinstance(call.mode, str))
    return extreme(call.but(axes=(axis,), footprint=None, origin=[call.origin]), largest)


@implements("ndimage", "input:bifh cval", refuse_fill)
def minimum_filter1d(call: Arguments) -> Array:
    return _extreme1d(call, largest=False)


@implements("ndimage", "input:bifh cval", refuse_fill)
def maximum_filter1d(call: Arguments) -> Array:
    return _extreme1d(call, largest=True)


@implements("ndimage", "input:bifh cval", refuse_fill)
def minimum_filter(call: Arguments) -> Array:
    return extreme(warn_of_both(call), largest=False)


@implements("ndimage", "input:bifh cval", refuse_fill)
def maximum_filter(call: Arguments) -> Array:
    return extreme(warn_of_both(call), largest=True)


@implements("ndimage", "input:bifh cval", _refuse_ranks)
def median_filter(call: Arguments) -> Array:
    return in_windows(warn_of_both(call), lambda count: count // 2)


@implements("ndimage", "input:bifh cval", _refuse_ranks)
def rank_filter(call: Arguments) -> Array:
    rank = operator.index(call.rank)
    return in_windows(warn_of_both(call), lambda count: rank)


@implements("ndimage", "input:bifh cval", _refuse_ranks)
def percentile_filter(call: Arguments) -> Array:
    percentile = call.percentile

    def rank_of(count: int) -> int:
        share = percentile + 100.0 if percentile < 0 else percentile
        require(0 <= share <= 100)
        return count - 1 if share == 100 else int(count * share / 100.0)

    return in_windows(warn_of_both(call), rank_of)
