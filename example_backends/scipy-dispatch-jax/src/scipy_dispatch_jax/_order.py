"""Rank filters of `scipy_dispatch.ndimage`, which choose an element of every window by its rank."""

from __future__ import annotations

import operator
from math import isfinite

import numpy as np

from ._arrays import (
    default_float,
    dtype_of,
    has_64_bits,
    is_complex,
    is_complex_number,
    is_integer,
    is_jax,
    limits_of,
)
from ._axes import checked_origin, for_each, one_axis, some_axes, spread_window
from ._boundary import checked_mode, is_constant
from ._filters import along
from ._implement import Call, implements
from ._jax import Array, jnp
from ._linear import Boundary, margins_of
from ._output import finished, passing_dtype, result_dtype, why_not_output
from ._ranks import ranked
from ._warning import warn_caller
from ._window import Windows, offsets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def refuse_extremes(call: Call) -> str | None:
    """Reject fill values that integers cannot hold."""
    dtype = dtype_of(call.input)
    if is_complex_number(call.cval):
        return "cval= is complex"
    # SciPy converts the constant to the array's type or the array to another one, case by case.
    held = dtype if getattr(call, "footprint", None) is not None else _wide(dtype)
    return _why_not_cval(call, held) or why_not_output(call.output, False)


def _why_not_cval(call: Call, dtype: np.dtype[Any]) -> str | None:
    """Return why a fill value cannot be combined with an integer array; None if it can."""
    if is_jax(call.cval) or not is_integer(dtype):
        return None
    if not isfinite(call.cval):
        return "cval= is not finite, and the array is one of integers"
    cval = np.asarray(call.cval).item()  # otherwise the limits would be rounded to its data type
    least, largest = limits_of(dtype)
    if not least <= cval <= largest:
        return f"cval= is no {dtype}, in which JAX compares it with the array"
    return None


def _refuse_ranks(call: Call) -> str | None:
    if not isinstance(call.mode, str):
        return "mode= is a list, which SciPy takes for some ranks only"
    dtype = dtype_of(call.input)
    if reason := refuse_extremes(call) or _why_not_cval(call, dtype):
        return reason
    if is_integer(dtype) and not is_jax(call.cval) and call.cval != int(call.cval):
        return "cval= is no whole number"
    return None


def _wide(dtype: Any) -> np.dtype[Any]:
    """Return a type that holds the elements and ``cval=`` as exactly as SciPy's doubles do."""
    if not is_integer(dtype):
        return np.dtype(dtype)
    if dtype in (np.uint32, np.uint64) and not (dtype == np.uint32 and has_64_bits()):
        return np.dtype(dtype)
    return np.dtype(np.int64 if has_64_bits() else np.int32)


def real(input: Any) -> Array:
    """Return an array after checking that it is real."""
    x = jnp.asarray(input)
    if is_complex(x.dtype):
        raise TypeError("Complex type not supported")
    return x


def _line(
    x: Array, size: int, axis: int, dtype: Any, mode: str, cval: Any, origin: int, largest: bool
) -> Array:
    working = _wide(x.dtype)
    if is_integer(working) and not is_jax(cval):
        if cval != int(cval) and not is_integer(dtype) and is_constant(mode):
            working = default_float()
        else:
            cval = int(cval)

    def choose(shape: tuple[int, ...], origins: list[int], boundary: Boundary) -> Array:
        margins = margins_of(shape, origins)
        windows = Windows(shape, offsets_of(shape), margins, boundary.modes, working, dtype)
        return ranked(x, windows.fill(cval), windows, size - 1 if largest else 0)

    return along(choose, x, size, axis, mode, cval, origin) if x.size else x.astype(dtype)


def _extreme1d(call: Call, largest: bool) -> Array:
    x = real(call.input)
    axis, size = one_axis(call.axis, x.ndim), operator.index(call.size)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    dtype = result_dtype(call.output, x.dtype)
    return _line(x, size, axis, dtype, call.mode, call.cval, call.origin, largest)


@implements("ndimage", "input cval", refuse_extremes)
def minimum_filter1d(call: Call) -> Array:
    return _extreme1d(call, largest=False)


@implements("ndimage", "input cval", refuse_extremes)
def maximum_filter1d(call: Call) -> Array:
    return _extreme1d(call, largest=True)


def extreme(call: Call, largest: bool) -> Array:
    """Return the smallest or largest elements of windows."""
    x, size, footprint = real(call.input), call.size, call.footprint
    if footprint is not None:
        footprint = np.asarray(footprint, dtype=bool)
        if not footprint.any():
            raise ValueError("All-zero footprint is not supported.")
        if footprint.all():
            size, footprint = footprint.shape, None
    elif size is None:
        raise RuntimeError("no footprint provided")
    dtype = result_dtype(call.output, x.dtype)
    axes = some_axes(call.axes, x.ndim)
    if footprint is not None:
        return _by_footprint(call, x, footprint, axes, footprint.sum() - 1 if largest else 0)
    settings = [for_each(each, len(axes)) for each in (size, call.mode, call.origin)]
    for axis, width, mode, origin in zip(axes, *settings, strict=True):
        if width > 1:
            passing = passing_dtype(dtype)
            x = _line(x, int(width), axis, passing, mode, call.cval, origin, largest)
    return finished(x, dtype)


def warn_of_both(call: Call) -> Call:
    """Warn, as SciPy does, if one of two arguments has no effect."""
    if call.size is not None and call.footprint is not None:
        warn_caller("ignoring size because footprint is set")
    return call


def windows_of(call: Call, x: Array, footprint: Any, working: Any, dtype: np.dtype[Any]) -> Windows:
    """Return the windows of a footprint along the axes of a call."""
    axes = some_axes(call.axes, x.ndim)
    if footprint.ndim != len(axes):
        raise RuntimeError(f"footprint.ndim ({footprint.ndim}) must match len(axes) ({len(axes)})")
    modes = (checked_mode(call.mode),) * x.ndim
    shape, origins = spread_window(footprint.shape, call.origin, axes, x.ndim)
    origins = [checked_origin(*each) for each in zip(origins, shape, strict=True)]
    offsets = offsets_of(shape, footprint.reshape(shape))
    return Windows(shape, offsets, margins_of(shape, origins), modes, np.dtype(working), dtype)


def _by_footprint(call: Call, x: Array, footprint: Any, axes: tuple[int, ...], rank: int) -> Array:
    dtype = result_dtype(call.output, x.dtype)
    windows = windows_of(call.but(axes=axes), x, footprint, x.dtype, dtype)
    return ranked(x, windows.fill(call.cval), windows, rank) if x.size else x.astype(dtype)


@implements("ndimage", "input cval", refuse_extremes)
def minimum_filter(call: Call) -> Array:
    return extreme(warn_of_both(call), largest=False)


@implements("ndimage", "input cval", refuse_extremes)
def maximum_filter(call: Call) -> Array:
    return extreme(warn_of_both(call), largest=True)


def in_windows(call: Call, rank_of: Callable[[int], int]) -> Array:
    """Return the elements of a rank, which `rank_of` chooses by the number of elements."""
    warn_of_both(call)
    x, footprint, axes = real(call.input), call.footprint, some_axes(call.axes, np.ndim(call.input))
    if footprint is not None:
        footprint = np.asarray(footprint, dtype=bool)
    elif call.size is None:
        raise RuntimeError("no footprint or filter size provided")
    else:
        footprint = np.ones(for_each(call.size, len(axes)), dtype=bool)
    if footprint.ndim == len(axes) and footprint.size:
        for each, width in zip(for_each(call.origin, len(axes)), footprint.shape, strict=True):
            checked_origin(each, width)
    count = int(footprint.sum())
    rank = rank_of(count)
    rank += count if rank < 0 else 0
    if not 0 <= rank < count:
        raise RuntimeError("rank not within filter footprint size")
    if rank not in (0, count - 1):
        return _by_footprint(call, x, footprint, axes, rank)
    if footprint.ndim == len(axes):
        shape, origin = spread_window(footprint.shape, call.origin, axes, x.ndim)
        call = call.but(footprint=footprint.reshape(shape), axes=None, origin=origin)
    return extreme(call.but(size=None), largest=rank > 0)


@implements("ndimage", "input cval", _refuse_ranks)
def median_filter(call: Call) -> Array:
    return in_windows(call, lambda count: count // 2)


@implements("ndimage", "input cval", _refuse_ranks)
def rank_filter(call: Call) -> Array:
    rank = operator.index(call.rank)
    return in_windows(call, lambda count: rank)


@implements("ndimage", "input cval", _refuse_ranks)
def percentile_filter(call: Call) -> Array:
    percentile = call.percentile

    def rank_of(count: int) -> int:
        if percentile != percentile:
            raise ValueError("cannot convert float NaN to integer")
        share = percentile + 100.0 if percentile < 0 else percentile
        if not 0 <= share <= 100:
            raise RuntimeError("invalid percentile")
        return count - 1 if share == 100 else int(count * share / 100.0)

    return in_windows(call, rank_of)
