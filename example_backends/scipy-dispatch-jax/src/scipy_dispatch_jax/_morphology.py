"""Grey and binary morphology of `scipy_dispatch.ndimage`."""

from __future__ import annotations

import operator
from functools import partial, reduce

import numpy as np
from scipy.ndimage import generate_binary_structure

from ._arrays import (
    as_c_casts,
    default_float,
    dtype_of,
    has_64_bits,
    is_complex,
    is_complex_number,
    is_integer,
    is_jax,
    promoted,
)
from ._axes import for_each, some_axes
from ._implement import TRACES, Call, implements
from ._jax import Array, jax, jnp, lax
from ._order import extreme, real, refuse_extremes, warn_of_both, windows_of
from ._output import result_dtype, why_not_output, working_dtype
from ._window import WRITTEN_OUT, Windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _refuse_grey(call: Call) -> str | None:
    if call.structure is None:
        return refuse_extremes(call)
    dtype = dtype_of(call.input)
    if is_complex_number(call.cval) or is_complex(dtype_of(call.structure)):
        return "cval= or structure= is complex"
    if dtype == np.bool_ or (dtype == np.uint32 and not has_64_bits()):
        return f"input= is of {dtype}, whose sums with structure= are of another type"
    return why_not_output(call.output, False)


def _refuse_differences(call: Call) -> str | None:
    if call.output is not None:
        return "output= is given, which SciPy uses for a part of the result, or not at all"
    return _refuse_grey(call)


def _mirrored(call: Call, *, names: tuple[str, ...]) -> Call:
    """Return the call with the window mirrored in its centre, as dilations use it."""
    count = len(some_axes(call.axes, np.ndim(call.input)))
    origins, sizes = for_each(call.origin, count), None
    for name in names:
        if (window := getattr(call, name, None)) is not None:
            window = window if is_jax(window) else np.asarray(window)
            call = call.but(**{name: window[(slice(None, None, -1),) * window.ndim]})
            sizes = sizes or window.shape
    sizes = sizes or for_each(call.size, count)
    pairs = zip(origins, sizes, strict=False)
    return call.but(origin=[-origin - (size % 2 == 0) for origin, size in pairs])


def _grey(call: Call, dilates: bool) -> Array:
    if call.size is None and call.footprint is None and call.structure is None:
        raise ValueError("size, footprint, or structure must be specified")
    if dilates:
        call = _mirrored(call, names=("footprint", "structure"))
    if call.structure is None:
        return extreme(call, largest=dilates)
    x = real(call.input)
    structure = call.structure if is_jax(call.structure) else np.asarray(call.structure)
    footprint = np.ones(structure.shape, bool) if call.footprint is None else call.footprint
    footprint = np.asarray(footprint, dtype=bool)
    if footprint.shape != structure.shape:
        raise RuntimeError("structure array has incorrect shape")
    dtype = result_dtype(call.output, x.dtype)
    is_whole = is_integer(structure.dtype) or (
        not is_jax(structure) and bool((structure == np.rint(structure)).all())
    )
    working = working_dtype(x.dtype, dtype, is_whole)
    windows = windows_of(call, x, footprint, x.dtype if is_integer(x.dtype) else working, dtype)
    if not x.size:
        return x.astype(dtype)
    heights = jnp.asarray(structure[footprint])
    heights = heights.astype(promoted(heights.dtype, np.int8) if is_whole else default_float())
    heights = heights if dilates else -heights
    return _raised(x, windows.fill(call.cval), heights, windows, working, dilates)


@partial(jax.jit, static_argnames=("windows", "working", "dilates"))
def _raised(
    x: Array, cval: Any, heights: Array, windows: Windows, working: Any, dilates: bool
) -> Array:
    """Return the extremes of windows whose elements are raised by heights.

    As in SciPy, the sum of the first element of a window is a double, and the others are of the
    array's data type: those of integers keep their low bits.
    """
    wide, parts = windows.over(x, cval)
    narrow = as_c_casts(heights, wide.dtype)
    choose = jnp.maximum if dilates else jnp.minimum

    def better(number: Any, best: Array) -> Array:
        return choose(best, (parts.of(wide, number) + narrow[number]).astype(working))

    best = parts.of(wide, 0).astype(working) + heights[0].astype(working)
    if parts.count > WRITTEN_OUT:
        best = lax.fori_loop(1, parts.count, better, best)
    else:
        for number in range(1, parts.count):
            best = better(number, best)
    return as_c_casts(best, windows.dtype)


def _both(call: Call, dilates_first: bool) -> Array:
    first = _grey(call.but(output=None), dilates_first)
    return _grey(call.but(input=first), not dilates_first)


def _differences(call: Call) -> Array:
    return _grey(call, dilates=True) - _grey(call, dilates=False)


def _laplace(call: Call) -> Array:
    x = real(call.input)
    return _grey(call, dilates=True) + _grey(call, dilates=False) - x - x


def _tophat(call: Call, is_black: bool) -> Array:
    x, other = real(call.input), _both(call, is_black)
    if x.dtype == np.bool_:
        return x ^ other
    return other - x if is_black else x - other


_GREY: dict[str, tuple[Callable[..., Array], bool | None, Callable[[Call], str | None]]] = {
    "grey_erosion": (_grey, False, _refuse_grey),
    "grey_dilation": (_grey, True, _refuse_grey),
    "grey_opening": (_both, False, _refuse_grey),
    "grey_closing": (_both, True, _refuse_grey),
    "morphological_gradient": (_differences, None, _refuse_differences),
    "morphological_laplace": (_laplace, None, _refuse_differences),
    "white_tophat": (_tophat, False, _refuse_differences),
    "black_tophat": (_tophat, True, _refuse_differences),
}


def _register_grey(name: str) -> None:
    work, dilates, refuse = _GREY[name]
    settings = () if dilates is None else (dilates,)

    def function(call: Call) -> Array:
        return work(warn_of_both(call), *settings)

    globals()[name] = implements("ndimage", "input structure cval", refuse, name)(function)


for _name in _GREY:
    _register_grey(_name)


def _refuse_binary(call: Call) -> str | None:
    if call.output is not None and np.dtype(call.output) != np.bool_:
        return "output= is another data type than bool"
    return None


def _binary(
    call: Call,
    input: Any,
    dilates: bool,
    iterations: Any = 1,
    border: Any = 0,
    mask: Any = None,
    structure: Any = None,
    origin: Any = 0,
) -> Array:
    """Erode or dilate an array some number of times, or until nothing changes."""
    x = real(input)
    iterations = operator.index(iterations)
    axes = some_axes(call.axes, x.ndim)
    if structure is None:
        structure = generate_binary_structure(len(axes), 1)
    structure = np.asarray(structure, dtype=bool)
    if structure.ndim != len(axes):
        raise RuntimeError("structure and input must have same dimensionality")
    if not structure.size:
        raise RuntimeError("structure must not be empty")
    window = call.but(input=x, structure=structure, origin=origin, size=None, mode="constant")
    if dilates:
        window = _mirrored(window, names=("structure",))
    x = x.astype(np.bool_)
    # Everything outside is the border; a dilation is an erosion of the complement.
    outside = bool(border) != dilates
    windows = windows_of(window, x, window.structure, np.bool_, np.dtype(np.bool_))
    if mask is not None:
        mask = jnp.asarray(mask)
        if mask.shape != x.shape:
            raise RuntimeError("mask and input must have equal sizes")
        mask = mask.astype(np.bool_)
    if not x.size:
        return x
    return _eroded(x, mask, windows, iterations, outside, dilates)


@partial(jax.jit, static_argnames=("windows", "iterations", "outside", "dilates"))
def _eroded(
    x: Array, mask: Any, windows: Windows, iterations: int, outside: bool, dilates: bool
) -> Array:
    def eroded(x: Array) -> Array:
        wide, parts = windows.over(x, np.asarray(outside))
        if not parts.count:
            kept = jnp.ones_like(x)
        elif parts.count <= WRITTEN_OUT:
            kept = reduce(jnp.logical_and, (parts.of(wide, k) for k in range(parts.count)))
        else:
            kept = lax.fori_loop(
                1, parts.count, lambda k, kept: kept & parts.of(wide, k), parts.of(wide, 0)
            )
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
    def function(call: Call) -> Array:
        x, border = call.input, call.border_value
        iterations = getattr(call, "iterations", -1)  # until nothing changes
        for dilates in dilations:
            x = _binary(
                call, x, dilates, iterations, border, call.mask, call.structure, call.origin
            )
        return x

    register = implements("ndimage", "input mask", _refuse_binary, name, TRACES)
    globals()[name] = register(function)


_register_binary("binary_erosion", False)
_register_binary("binary_dilation", True)
_register_binary("binary_opening", False, True)
_register_binary("binary_closing", True, False)
_register_binary("binary_propagation", True)


@implements("ndimage", "input", _refuse_binary, docs=TRACES)
def binary_hit_or_miss(call: Call) -> Array:
    hit, origin = call.structure1, call.origin1
    if hit is None:
        count = len(some_axes(call.axes, np.ndim(call.input)))
        hit = generate_binary_structure(count, 1)
    miss = np.logical_not(hit) if call.structure2 is None else call.structure2
    other = origin if call.origin2 is None else call.origin2
    hits = _binary(call, call.input, False, structure=hit, origin=origin)
    # SciPy does not mirror the structure here, as it does for dilations.
    x = ~jnp.asarray(call.input).astype(np.bool_)
    return hits & _binary(call, x, False, border=1, structure=miss, origin=other)


@implements("ndimage", "input", _refuse_binary, docs=TRACES)
def binary_fill_holes(call: Call) -> Array:
    empty = ~jnp.asarray(call.input).astype(np.bool_)
    return ~_binary(call, jnp.zeros_like(empty), True, -1, 1, empty, call.structure, call.origin)
