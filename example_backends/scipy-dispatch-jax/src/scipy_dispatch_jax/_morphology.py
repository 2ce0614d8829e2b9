"""Grey and binary morphology of `scipy_dispatch.ndimage`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from scipy.ndimage import generate_binary_structure

from ._arrays import (
    as_c_casts,
    default_float,
    dtype_of,
    has_64_bits,
    is_integer,
    some_axes,
)
from ._calls import TRACES, Arguments, implements, require
from ._ranks import extreme, refuse_fill, warn_of_both
from ._windows import Windows, result_dtype, working_dtype


def _refuse_grey(call: Arguments) -> str | None:
    dtype = dtype_of(call.input)
    if call.structure is None:
        return refuse_fill(call)
    if dtype == np.bool_ or (dtype == np.uint32 and not has_64_bits()):
        return f"input= is of {dtype}, whose sums with structure= are of another type"
    return None


def _refuse_differences(call: Arguments) -> str | None:
    if call.output is not None:
        return "output= is given, which SciPy uses for a part of the result, or not at all"
    return _refuse_grey(call)


def _grey(call: Arguments, dilates: bool) -> Array:
    if call.structure is None:
        return extreme(call, largest=dilates, mirrored=dilates)
    x, structure = call.input, call.structure
    footprint = np.ones(structure.shape, bool) if call.footprint is None else call.footprint
    footprint, axes = np.asarray(footprint, dtype=bool), some_axes(call.axes, x.ndim)
    require(footprint.shape == structure.shape and footprint.ndim == len(axes))
    dtype = result_dtype(call.output, x.dtype)
    working = working_dtype(x.dtype, dtype)
    types = x.dtype if is_integer(x.dtype) else working, dtype
    windows = Windows.of(x.ndim, footprint, axes, call.origin, call.mode, types, dilates)
    heights = structure[footprint][::-1] if dilates else -1.0 * structure[footprint]
    heights = jnp.asarray(heights).astype(default_float())
    return _raised(x, windows.fill(call.cval), heights, windows, working, dilates)


@partial(jax.jit, static_argnames=("windows", "working", "dilates"))
def _raised(
    x: Array, cval: Any, heights: Array, windows: Windows, working: Any, dilates: bool
) -> Array:
    """Return the extremes of windows whose elements are raised by heights.

    As in SciPy, the sum of the first element of a window is a double, and the others are of the
    array's data type: those of integers keep their low bits.
    """
    wide = windows.over(x, cval)
    narrow = as_c_casts(heights, wide.dtype)

    def raised(part: Array, number: Any) -> Array:
        if isinstance(number, int) and number == 0:
            return part.astype(working) + heights[0].astype(working)
        return (part + narrow[number]).astype(working)

    best = windows.reduced(wide, jnp.maximum if dilates else jnp.minimum, raised)
    return as_c_casts(best, windows.dtype)


def _both(call: Arguments, dilates_first: bool) -> Array:
    first = _grey(call.but(output=None), dilates_first)
    return _grey(call.but(input=first), not dilates_first)


def _differences(call: Arguments) -> Array:
    return _grey(call, dilates=True) - _grey(call, dilates=False)


def _laplace(call: Arguments) -> Array:
    return _grey(call, dilates=True) + _grey(call, dilates=False) - call.input - call.input


def _tophat(call: Arguments, is_black: bool) -> Array:
    x, other = call.input, _both(call, is_black)
    if x.dtype == np.bool_:
        return x ^ other
    return other - x if is_black else x - other


_GREY: dict[
    str, tuple[Callable[..., Array], tuple[bool, ...], Callable[[Arguments], str | None]]
] = {
    "grey_erosion": (_grey, (False,), _refuse_grey),
    "grey_dilation": (_grey, (True,), _refuse_grey),
    "grey_opening": (_both, (False,), _refuse_grey),
    "grey_closing": (_both, (True,), _refuse_grey),
    "morphological_gradient": (_differences, (), _refuse_differences),
    "morphological_laplace": (_laplace, (), _refuse_differences),
    "white_tophat": (_tophat, (False,), _refuse_differences),
    "black_tophat": (_tophat, (True,), _refuse_differences),
}


def _register_grey(name: str) -> None:
    work, settings, refuse = _GREY[name]

    def function(call: Arguments) -> Array:
        require(any(each is not None for each in (call.size, call.footprint, call.structure)))
        return work(warn_of_both(call), *settings)

    arrays = "input:bifh structure:bif cval"
    globals()[name] = implements("ndimage", arrays, refuse, name)(function)


for _name in _GREY:
    _register_grey(_name)


def _refuse_binary(call: Arguments) -> str | None:
    if call.output is not None and np.dtype(call.output) != np.bool_:
        return "output= is another data type than bool"
    return None


def _binary(
    x: Array,
    dilates: bool,
    structure: Any,
    axes: Any,
    origin: Any = 0,
    iterations: int = 1,
    border: Any = 0,
    mask: Any = None,
) -> Array:
    """Erode or dilate an array some number of times, or until nothing changes."""
    iterations, axes = operator.index(iterations), some_axes(axes, x.ndim)
    structure = generate_binary_structure(len(axes), 1) if structure is None else structure
    structure = np.asarray(structure, dtype=bool)
    require(structure.ndim == len(axes) and structure.size)
    require(mask is None or mask.shape == x.shape)
    # Everything outside is the border; a dilation is an erosion of the complement.
    outside = bool(border) != dilates
    windows = Windows.of(x.ndim, structure, axes, origin, "constant", (bool, bool), dilates)
    mask = mask if mask is None else jnp.asarray(mask).astype(np.bool_)
    return _eroded(x.astype(np.bool_), mask, windows, iterations, outside, dilates)


@partial(jax.jit, static_argnames=("windows", "iterations", "outside", "dilates"))
def _eroded(
    x: Array, mask: Any, windows: Windows, iterations: int, outside: bool, dilates: bool
) -> Array:
    def eroded(x: Array) -> Array:
        wide = windows.over(x, np.asarray(outside))
        kept = windows.reduced(wide, jnp.logical_and) if windows.count else jnp.ones_like(x)
        return kept if mask is None else jnp.where(mask, kept, x)

    x = ~x if dilates else x
    if iterations >= 1:
        x = lax.fori_loop(0, iterations, lambda _, x: eroded(x), x)
    else:
        _, x = lax.while_loop(
            lambda pair: (pair[0] != pair[1]).any(),
            lambda pair: (pair[1], eroded(pair[1])),
            (x, eroded(x)),
        )
    return ~x if dilates else x


def _register_binary(name: str, *dilations: bool) -> None:
    def function(call: Arguments) -> Array:
        x, iterations = call.input, getattr(call, "iterations", -1)  # until nothing changes
        settings = call.structure, call.axes, call.origin, iterations, call.border_value, call.mask
        for dilates in dilations:
            x = _binary(x, dilates, *settings)
        return x

    register = implements("ndimage", "input:bifh mask", _refuse_binary, name, TRACES)
    globals()[name] = register(function)


_register_binary("binary_erosion", False)
_register_binary("binary_dilation", True)
_register_binary("binary_opening", False, True)
_register_binary("binary_closing", True, False)
_register_binary("binary_propagation", True)


@implements("ndimage", "input:bifh", _refuse_binary, docs=TRACES)
def binary_hit_or_miss(call: Arguments) -> Array:
    x, hit, axes = call.input.astype(np.bool_), call.structure1, call.axes
    hit = generate_binary_structure(len(some_axes(axes, x.ndim)), 1) if hit is None else hit
    miss = np.logical_not(hit) if call.structure2 is None else call.structure2
    other = call.origin1 if call.origin2 is None else call.origin2
    # SciPy does not mirror the structure of the complement, as it does for dilations.
    hits = _binary(x, False, hit, axes, call.origin1)
    return hits & _binary(~x, False, miss, axes, other, border=1)


@implements("ndimage", "input:bifh", _refuse_binary, docs=TRACES)
def binary_fill_holes(call: Arguments) -> Array:
    empty = ~call.input.astype(np.bool_)
    filled = jnp.zeros_like(empty)
    return ~_binary(filled, True, call.structure, call.axes, call.origin, -1, 1, empty)
