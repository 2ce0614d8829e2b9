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
from ._axes import checked_origin, for_each, one_axis, some_axes, spread, spread_window
from ._boundary import checked_mode, is_constant
from ._implement import implements
from ._jax import Array, jnp
from ._linear import margins_of
from ._output import finished, passing_dtype, result_dtype, why_not_output
from ._ranks import ranked
from ._warning import warn_caller
from ._window import Windows, offsets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _refuse_lines(call: dict[str, Any]) -> str | None:
    return _why_not(call) or _why_not_cval(call["cval"], _wide(dtype_of(call["input"])))


def _refuse_windows(call: dict[str, Any]) -> str | None:
    if _is_separable(call):
        return _refuse_lines(call)
    # SciPy converts the constant to the array's type or the array to another one, case by case.
    return _why_not(call) or _why_not_cval(call["cval"], dtype_of(call["input"]))


def _why_not(call: dict[str, Any]) -> str | None:
    if is_complex_number(call["cval"]):
        return "cval= is complex"
    return why_not_output(call["output"], False)


def _why_not_cval(cval: Any, dtype: np.dtype[Any]) -> str | None:
    """Return why a fill value cannot be combined with an integer array; None if it can."""
    if is_jax(cval) or not is_integer(dtype):
        return None
    if not isfinite(cval):
        return "cval= is not finite, and the array is one of integers"
    cval = np.asarray(cval).item()  # otherwise the limits would be rounded to its data type
    least, largest = limits_of(dtype)
    if not least <= cval <= largest:
        return f"cval= is no {dtype}, in which JAX compares it with the array"
    return None


def _is_separable(call: dict[str, Any]) -> bool:
    is_rank = "rank" in call or "percentile" in call
    return call["footprint"] is None and not is_rank


def _refuse_ranks(call: dict[str, Any]) -> str | None:
    if not isinstance(call["mode"], str):
        return "mode= is a list, which SciPy takes for some ranks only"
    reason = _refuse_windows({"rank": None, **call})
    if reason is None and is_integer(dtype_of(call["input"])) and not is_jax(call["cval"]):
        return None if call["cval"] == int(call["cval"]) else "cval= is no whole number"
    return reason


def _wide(dtype: Any) -> np.dtype[Any]:
    """Return a type that holds the elements and ``cval=`` as exactly as SciPy's doubles do."""
    if not is_integer(dtype):
        return np.dtype(dtype)
    if dtype in (np.uint32, np.uint64) and not (dtype == np.uint32 and has_64_bits()):
        return np.dtype(dtype)
    return np.dtype(np.int64 if has_64_bits() else np.int32)


def _checked(input: Any) -> Array:
    x = jnp.asarray(input)
    if is_complex(x.dtype):
        raise TypeError("Complex type not supported")
    return x


def _line(
    x: Array,
    size: int,
    axis: int,
    dtype: np.dtype[Any],
    mode: str,
    cval: Any,
    origin: int,
    largest: bool,
) -> Array:
    checked_mode(mode)
    checked_origin(origin, size)
    if not x.size:
        return x.astype(dtype)
    shape = tuple(spread([int(size)], (axis,), x.ndim, 1))
    origins = spread([origin], (axis,), x.ndim, 0)
    modes = tuple(spread([mode], (axis,), x.ndim, "nearest"))
    working = _wide(x.dtype)
    if is_integer(working) and not is_jax(cval):
        if cval != int(cval) and not is_integer(dtype) and is_constant(mode):
            working = default_float()
        else:
            cval = int(cval)
    margins = margins_of(shape, origins)
    windows = Windows(shape, offsets_of(shape), margins, modes, working, dtype)
    return ranked(x, windows.fill(cval), windows, size - 1 if largest else 0)


def _extreme1d(
    input: Any, size: int, axis: int, output: Any, mode: str, cval: Any, origin: int, largest: bool
) -> Array:
    x = _checked(input)
    axis, size = one_axis(axis, x.ndim), operator.index(size)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    return _line(x, size, axis, result_dtype(output, x.dtype), mode, cval, origin, largest)


@implements("scipy_dispatch.ndimage:minimum_filter1d", "input", "cval", refuse=_refuse_lines)
def minimum_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    return _extreme1d(input, size, axis, output, mode, cval, origin, False)


@implements("scipy_dispatch.ndimage:maximum_filter1d", "input", "cval", refuse=_refuse_lines)
def maximum_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    return _extreme1d(input, size, axis, output, mode, cval, origin, True)


def _extreme(
    input: Any,
    size: Any,
    footprint: Any,
    output: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    axes: Any,
    largest: bool,
) -> Array:
    _warn_of_both(size, footprint)
    x = _checked(input)
    if footprint is not None:
        footprint = np.asarray(footprint, dtype=bool)
        if not footprint.any():
            raise ValueError("All-zero footprint is not supported.")
        if footprint.all():
            size, footprint = footprint.shape, None
    elif size is None:
        raise RuntimeError("no footprint provided")
    dtype = result_dtype(output, x.dtype)
    axes = some_axes(axes, x.ndim)
    if footprint is not None:
        rank = footprint.sum() - 1 if largest else 0
        return _by_footprint(x, footprint, axes, rank, dtype, mode, cval, origin)
    settings = [for_each(each, len(axes)) for each in (size, mode, origin)]
    for axis, width, each_mode, shift in zip(axes, *settings, strict=True):
        if width > 1:
            x = _line(x, int(width), axis, passing_dtype(dtype), each_mode, cval, shift, largest)
    return finished(x, dtype)


def _warn_of_both(size: Any, footprint: Any) -> None:
    if size is not None and footprint is not None:
        warn_caller("ignoring size because footprint is set")


def _by_footprint(
    x: Array,
    footprint: Any,
    axes: tuple[int, ...],
    rank: int,
    dtype: np.dtype[Any],
    mode: Any,
    cval: Any,
    origin: Any,
) -> Array:
    if footprint.ndim != len(axes):
        raise RuntimeError(f"footprint.ndim ({footprint.ndim}) must match len(axes) ({len(axes)})")
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported for non-separable footprints")
    checked_mode(mode)
    shape, origins = spread_window(footprint.shape, origin, axes, x.ndim)
    for each, width in zip(origins, shape, strict=True):
        checked_origin(each, width)
    if not x.size:
        return x.astype(dtype)
    offsets = offsets_of(shape, footprint.reshape(shape))
    margins = margins_of(shape, origins)
    windows = Windows(shape, offsets, margins, (mode,) * x.ndim, np.dtype(x.dtype), dtype)
    return ranked(x, windows.fill(cval), windows, rank)


@implements("scipy_dispatch.ndimage:minimum_filter", "input", "cval", refuse=_refuse_windows)
def minimum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    return _extreme(input, size, footprint, output, mode, cval, origin, axes, False)


@implements("scipy_dispatch.ndimage:maximum_filter", "input", "cval", refuse=_refuse_windows)
def maximum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    return _extreme(input, size, footprint, output, mode, cval, origin, axes, True)


def _ranked(
    input: Any,
    rank_of: Any,
    size: Any,
    footprint: Any,
    output: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    axes: Any,
) -> Array:
    _warn_of_both(size, footprint)
    x = _checked(input)
    axes = some_axes(axes, x.ndim)
    if footprint is not None:
        footprint = np.asarray(footprint, dtype=bool)
    elif size is None:
        raise RuntimeError("no footprint or filter size provided")
    else:
        footprint = np.ones(for_each(size, len(axes)), dtype=bool)
    if footprint.ndim == len(axes) and footprint.size:
        for each, width in zip(for_each(origin, len(axes)), footprint.shape, strict=True):
            checked_origin(each, width)
    count = int(footprint.sum())
    rank = rank_of(count)
    if rank < 0:
        rank += count
    if not 0 <= rank < count:
        raise RuntimeError("rank not within filter footprint size")
    if rank in (0, count - 1):
        if footprint.ndim == len(axes):
            shape, origin = spread_window(footprint.shape, origin, axes, x.ndim)
            footprint, axes = footprint.reshape(shape), None
        return _extreme(x, None, footprint, output, mode, cval, origin, axes, rank > 0)
    dtype = result_dtype(output, x.dtype)
    return _by_footprint(x, footprint, axes, rank, dtype, mode, cval, origin)


@implements("scipy_dispatch.ndimage:median_filter", "input", "cval", refuse=_refuse_ranks)
def median_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    return _ranked(
        input, lambda count: count // 2, size, footprint, output, mode, cval, origin, axes
    )


@implements("scipy_dispatch.ndimage:rank_filter", "input", "cval", refuse=_refuse_ranks)
def rank_filter(
    input: Any,
    rank: int,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""
    rank = operator.index(rank)
    return _ranked(input, lambda count: rank, size, footprint, output, mode, cval, origin, axes)


@implements("scipy_dispatch.ndimage:percentile_filter", "input", "cval", refuse=_refuse_ranks)
def percentile_filter(
    input: Any,
    percentile: float,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    """Supports tracing, and differentiation with respect to the array."""

    def rank_of(count: int) -> int:
        if percentile != percentile:
            raise ValueError("cannot convert float NaN to integer")
        share = percentile + 100.0 if percentile < 0 else percentile
        if not 0 <= share <= 100:
            raise RuntimeError("invalid percentile")
        return count - 1 if share == 100 else int(count * share / 100.0)

    return _ranked(input, rank_of, size, footprint, output, mode, cval, origin, axes)
