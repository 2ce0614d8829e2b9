"""Convolution and correlation of `scipy_dispatch.signal`, directly or by Fourier transforms."""

from __future__ import annotations

from functools import partial
from math import log2

import numpy as np
from scipy.fft import next_fast_len

from ._arrays import (
    as_c_casts,
    as_inexact,
    default_float,
    dtype_of,
    is_complex,
    is_floating,
    is_integer,
    is_jax,
    limits_of,
    promoted,
)
from ._implement import Call, implements
from ._jax import Array, jax, jnp
from ._lengths import axes_and_lengths
from ._sums import weighted_sum
from ._window import Windows, offsets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MODES = ("full", "same", "valid")
# "auto" uses the direct method if the shorter array has at most this many elements.
_DIRECTLY = 128


def _is_swapped(mode: str, shape1: Any, shape2: Any, axes: Any = None) -> bool:
    """Return whether "valid" mode swaps the arrays because the second one is larger."""
    if mode != "valid":
        return False
    axes = range(len(shape1)) if axes is None else axes
    if all(shape1[axis] >= shape2[axis] for axis in axes):
        return False
    if all(shape2[axis] >= shape1[axis] for axis in axes):
        return True
    raise ValueError(
        "For 'valid' mode, one must be at least as large as the other in every dimension"
    )


def _refuse(call: Call) -> str | None:
    for name in ("in1", "in2"):
        array = getattr(call, name)
        if dtype_of(array) == np.bool_:
            return (
                f"{name}= is boolean, and SciPy adds booleans in a way of its own; "
                f"pass {name}.astype(int)"
            )
        if 0 in jnp.shape(array):
            return f"{name}= has no elements"
    return None


def _slid(x: Array, kernel: Array, margins: Any, mode: str, cval: Any, flips: bool) -> Array:
    """Return the sums of products of the kernel with each window of the extended array."""
    dtype = promoted(x.dtype, kernel.dtype)
    working = np.dtype(np.float32 if is_floating(dtype) and dtype.itemsize < 4 else dtype)
    offsets = offsets_of(kernel.shape)
    if flips:
        offsets = offsets[::-1]
    windows = Windows(kernel.shape, offsets, margins, (mode,) * x.ndim, working, dtype)
    return weighted_sum(x, kernel, windows.fill(cval), windows)


def by_products(first: Array, second: Array, mode: str) -> Array:
    x, kernel = first, second
    if mode != "same" and kernel.size > x.size:
        x, kernel = kernel, x
    return _slid(x, kernel, _margins(mode, kernel.shape, True), "constant", 0, flips=True)


def _margins(mode: str, shape: tuple[int, ...], flip: bool) -> tuple[tuple[int, int], ...]:
    """Return how far a kernel extends beyond the start and the end of each axis."""
    if mode == "valid":
        return ((0, 0),) * len(shape)
    if mode == "full":
        return tuple((size - 1, size - 1) for size in shape)
    margins = (((size - 1) // 2, size // 2) for size in shape)
    return tuple(each[::-1] if flip else each for each in margins)


def _by_transforms(first: Array, second: Array, mode: str, axes: Any = None) -> Array:
    """Return the convolution along `axes`; along other axes the arrays are broadcast."""
    if axes is not None and not np.size(axes):
        raise ValueError("when provided, axes cannot be empty")
    axes, _ = axes_and_lengths(first, None, axes)
    shape1, shape2 = first.shape, second.shape
    axes = tuple(axis for axis in axes if shape1[axis] != 1 and shape2[axis] != 1)
    if axes:
        first, second = as_inexact(first), as_inexact(second)
    dtype = promoted(first.dtype, second.dtype)
    first, second = first.astype(dtype), second.astype(dtype)
    others = [axis for axis in range(first.ndim) if axis not in axes]
    if not all(shape1[a] == shape2[a] or 1 in (shape1[a], shape2[a]) for a in others):
        raise ValueError(f"incompatible shapes for in1 and in2: {shape1} and {shape2}")
    if _is_swapped(mode, shape1, shape2, axes):
        first, second, shape1, shape2 = second, first, shape2, shape1
    result = _multiplied(first, second, axes)
    sizes = list(result.shape)
    if mode == "same":
        sizes = list(shape1)
    elif mode == "valid":
        for axis in axes:
            sizes[axis] = shape1[axis] - shape2[axis] + 1
    starts = [(n - size) // 2 for n, size in zip(result.shape, sizes, strict=True)]
    return result[tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=True))]


@partial(jax.jit, static_argnames=("axes",))
def _multiplied(first: Array, second: Array, axes: tuple[int, ...]) -> Array:
    if not axes:
        return first * second
    sizes = [first.shape[axis] + second.shape[axis] - 1 for axis in axes]
    is_real = not is_complex(first.dtype)
    lengths = [next_fast_len(size, is_real) for size in sizes]
    kept = [slice(None)] * first.ndim
    for axis, size in zip(axes, sizes, strict=True):
        kept[axis] = slice(size)
    if not is_real:
        for axis, n in zip(axes, lengths, strict=True):
            first, second = (jnp.fft.fft(each, n, axis) for each in (first, second))
        result = first * second
        for axis in axes:
            result = jnp.fft.ifft(result, axis=axis)
        return result[tuple(kept)]
    *others, last = axes
    first, second = (jnp.fft.rfft(each, lengths[-1], last) for each in (first, second))
    for axis, n in zip(others, lengths, strict=False):
        first, second = (jnp.fft.fft(each, n, axis) for each in (first, second))
    result = first * second
    for axis in others:
        result = jnp.fft.ifft(result, axis=axis)
    return jnp.fft.irfft(result, lengths[-1], last)[tuple(kept)]


def convolved(first: Array, second: Array, mode: str, method: str) -> Array:
    if method not in ("auto", "direct", "fft"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    _is_swapped(mode, first.shape, second.shape)
    dtype = promoted(first.dtype, second.dtype)
    few = min(first.size, second.size) <= _DIRECTLY
    if method == "direct" or (method == "auto" and few):
        return by_products(first, second, mode)
    if not is_integer(dtype):
        return _by_transforms(first, second, mode).astype(dtype)
    if not _is_exact(first, second):
        return by_products(first, second, mode)
    first, second = first.astype(default_float()), second.astype(default_float())
    return as_c_casts(jnp.rint(_by_transforms(first, second, mode)), dtype)


def _is_exact(first: Array, second: Array) -> bool:
    """Return whether every sum of products is small enough for a transform to be exact."""
    bits = sum(log2(max(map(abs, limits_of(each.dtype)))) for each in (first, second))
    bits += log2(min(first.size, second.size))
    # Leave 6 bits for the rounding errors of the transforms.
    return bits <= jnp.finfo(default_float()).nmant - 6


def _of_any_dimension(call: Call, work: Callable[[Array, Array], Array]) -> Array:
    first, second = jnp.asarray(call.in1), jnp.asarray(call.in2)
    if first.ndim != second.ndim:
        raise ValueError("in1 and in2 should have the same dimensionality")
    if call.mode not in _MODES:
        raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")
    return work(first, second) if first.ndim else first * second


@implements("signal", "in1 in2", _refuse)
def convolve(call: Call) -> Array:
    """Uses the direct method where transforms are inexact."""
    return _of_any_dimension(call, partial(convolved, mode=call.mode, method=call.method))


@implements("signal", "in1 in2", _refuse)
def correlate(call: Call) -> Array:
    """Uses the direct method where transforms are inexact."""
    other = call.but(in2=jnp.flip(jnp.asarray(call.in2).conj()))
    return _of_any_dimension(other, partial(convolved, mode=call.mode, method=call.method))


def _transformed(call: Call) -> Array:
    return _of_any_dimension(call, partial(_by_transforms, mode=call.mode, axes=call.axes))


fftconvolve = implements("signal", "in1 in2", _refuse, "fftconvolve")(_transformed)
oaconvolve = implements("signal", "in1 in2", _refuse, "oaconvolve")(_transformed)

_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "reflect"}


def _refuse_images(call: Call) -> str | None:
    shapes = [jnp.shape(each) for each in (call.in1, call.in2)]
    if call.boundary not in _BOUNDARIES:
        return "boundary= is not one of 'fill', 'wrap' and 'symm'"
    if any(len(shape) != 2 for shape in shapes):
        return None
    if call.boundary != "fill" and any(k > n for n, k in zip(*shapes, strict=True)):
        return "in2= is larger than in1=, which SciPy repeats once at either end at most"
    if not is_jax(call.fillvalue):
        is_complex_fill = np.iscomplexobj(call.fillvalue)
        dtype = promoted(dtype_of(call.in1), dtype_of(call.in2))
        if is_complex_fill and not is_complex(dtype):
            return "fillvalue= is complex, and the arrays are not"
        if is_integer(dtype) and not is_complex_fill and dtype != np.bool_:
            limits = jnp.iinfo(dtype)
            fill = float(call.fillvalue)
            if not limits.min <= fill <= limits.max or not fill.is_integer():
                return f"fillvalue= is no {dtype}, as the arrays are"
    return _refuse(call)


def _image(call: Call, flip: bool) -> Array:
    first, second = jnp.asarray(call.in1), jnp.asarray(call.in2)
    if not first.ndim == second.ndim == 2:
        raise ValueError("in1 and in2 must both be 2-D arrays")
    if call.mode not in _MODES:
        raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")
    swapped = _is_swapped(call.mode, first.shape, second.shape)
    if swapped:
        first, second = second, first
    kernel = second if flip else second.conj()
    margins = _margins(call.mode, kernel.shape, flip)
    mode = _BOUNDARIES[call.boundary]
    result = _slid(first, kernel, margins, mode, call.fillvalue, flips=flip)
    return jnp.flip(result) if swapped and not flip else result


@implements("signal", "in1 in2 fillvalue", _refuse_images)
def convolve2d(call: Call) -> Array:
    return _image(call, flip=True)


@implements("signal", "in1 in2 fillvalue", _refuse_images)
def correlate2d(call: Call) -> Array:
    return _image(call, flip=False)
