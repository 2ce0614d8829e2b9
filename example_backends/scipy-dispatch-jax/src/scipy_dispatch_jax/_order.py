"""Rank filters of `scipy_dispatch.ndimage`, which choose an element of every window by its rank."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from ._arrays import dtype_of
from ._axes import for_each, one_axis, some_axes
from ._boundary import is_constant
from ._frame import Frame
from ._implement import Call, implements, require, warn_caller
from ._jax import Array
from ._output import result_dtype
from ._ranks import ranked
from ._refusals import why_not_element
from ._window import offsets_of


def refuse_fill(call: Call) -> str | None:
    """Reject fill values that an array of integers, or such a result, cannot hold."""
    modes = [call.mode] if isinstance(call.mode, str) else call.mode
    if not any(map(is_constant, modes)):
        return None
    dtype = dtype_of(call.input)
    dtypes = {dtype, result_dtype(call.output, dtype)}
    reasons = (why_not_element("cval", call.cval, each) for each in dtypes)
    return next(filter(None, reasons), None)


def _refuse_ranks(call: Call) -> str | None:
    if not isinstance(call.mode, str):
        return "mode= is a list, which SciPy takes for some ranks only"
    return refuse_fill(call)


def warn_of_both(call: Call) -> Call:
    """Warn, as SciPy does, if one of two arguments has no effect."""
    if call.size is not None and call.footprint is not None:
        warn_caller("ignoring size because footprint is set")
    return call


def in_windows(call: Call, rank_of: Callable[[int], int], mirrored: bool = False) -> Array:
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
    frame = Frame.of(x.ndim, footprint.shape, axes, call.origin, call.mode, call.cval, mirrored)
    footprint = np.flip(footprint) if mirrored else footprint
    windows = frame.windows(x.dtype, dtype, offsets_of(frame.shape, footprint.reshape(frame.shape)))
    return ranked(x, windows.fill(call.cval), windows, rank)


def extreme(call: Call, largest: bool, mirrored: bool = False) -> Array:
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


def _extreme1d(call: Call, largest: bool) -> Array:
    axis = one_axis(call.axis, call.input.ndim)
    require(isinstance(call.mode, str))
    return extreme(call.but(axes=(axis,), footprint=None, origin=[call.origin]), largest)


@implements("ndimage", "input:bifh cval", refuse_fill)
def minimum_filter1d(call: Call) -> Array:
    return _extreme1d(call, largest=False)


@implements("ndimage", "input:bifh cval", refuse_fill)
def maximum_filter1d(call: Call) -> Array:
    return _extreme1d(call, largest=True)


@implements("ndimage", "input:bifh cval", refuse_fill)
def minimum_filter(call: Call) -> Array:
    return extreme(warn_of_both(call), largest=False)


@implements("ndimage", "input:bifh cval", refuse_fill)
def maximum_filter(call: Call) -> Array:
    return extreme(warn_of_both(call), largest=True)


@implements("ndimage", "input:bifh cval", _refuse_ranks)
def median_filter(call: Call) -> Array:
    return in_windows(warn_of_both(call), lambda count: count // 2)


@implements("ndimage", "input:bifh cval", _refuse_ranks)
def rank_filter(call: Call) -> Array:
    rank = operator.index(call.rank)
    return in_windows(warn_of_both(call), lambda count: rank)


@implements("ndimage", "input:bifh cval", _refuse_ranks)
def percentile_filter(call: Call) -> Array:
    percentile = call.percentile

    def rank_of(count: int) -> int:
        share = percentile + 100.0 if percentile < 0 else percentile
        require(0 <= share <= 100)
        return count - 1 if share == 100 else int(count * share / 100.0)

    return in_windows(warn_of_both(call), rank_of)
