"""Convolution and correlation of `scipy_dispatch.signal`, directly or by Fourier transforms."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from scipy.fft import next_fast_len

from ._arrays import as_inexact, dtype_of, is_complex, is_floating, is_integer, promoted, some_axes
from ._calls import Arguments, implements, require, why_not_element
from ._sums import weighted_sum
from ._windows import Windows, offsets_of
from .fft import transformed

_ARRAYS = "in1:ifhc in2:ifhc"
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
    require(all(shape2[axis] >= shape1[axis] for axis in axes))
    return True


def _refuse(call: Arguments) -> str | None:
    return "in2= has no elements" if 0 in call.in2.shape else None


def _slid(x: Array, kernel: Array, margins: Any, mode: str, cval: Any, flips: bool) -> Array:
    """Return the sums of products of the kernel with each window of the extended array."""
    dtype = promoted(x.dtype, kernel.dtype)
    working = np.dtype(np.float32 if is_floating(dtype) and dtype.itemsize < 4 else dtype)
    offsets = offsets_of(np.ones(kernel.shape, bool))
    if flips:
        offsets = offsets[::-1]
    windows = Windows(kernel.shape, offsets, margins, (mode,) * x.ndim, working, dtype)
    return weighted_sum(x, kernel, windows.fill(cval), windows)


def by_products(first: Array, second: Array, mode: str) -> Array:
    """Return the convolution as sums of products."""
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
    require(axes is None or np.size(axes))
    shape1, shape2 = first.shape, second.shape
    axes = some_axes(axes, first.ndim)
    axes = tuple(axis for axis in axes if shape1[axis] != 1 and shape2[axis] != 1)
    if axes:
        first, second = as_inexact(first), as_inexact(second)
    dtype = promoted(first.dtype, second.dtype)
    first, second = first.astype(dtype), second.astype(dtype)
    others = [axis for axis in range(first.ndim) if axis not in axes]
    require(all(shape1[a] == shape2[a] or 1 in (shape1[a], shape2[a]) for a in others))
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


def _multiplied(first: Array, second: Array, axes: tuple[int, ...]) -> Array:
    """Return the product of the transforms, transformed back."""
    if not axes:
        return first * second
    sizes = [first.shape[axis] + second.shape[axis] - 1 for axis in axes]
    is_real = not is_complex(first.dtype)
    there, back = ("real to complex", "complex to real") if is_real else ("complex to complex",) * 2
    where = axes, tuple(next_fast_len(size, is_real) for size in sizes), None
    spectra = (transformed(each, (there, True, *where)) for each in (first, second))
    result = transformed(operator.mul(*spectra), (back, False, *where))
    for axis, size in zip(axes, sizes, strict=True):
        result = lax.slice_in_dim(result, 0, size, axis=axis)
    return result


def convolved(first: Array, second: Array, mode: str, method: str) -> Array:
    """Return the convolution by a method, as `scipy.signal.convolve` does."""
    require(method in ("auto", "direct", "fft"))
    _is_swapped(mode, first.shape, second.shape)
    dtype = promoted(first.dtype, second.dtype)
    few = min(first.size, second.size) <= _DIRECTLY
    if is_integer(dtype) or method == "direct" or (method == "auto" and few):
        return by_products(first, second, mode)
    return _by_transforms(first, second, mode).astype(dtype)


def _of_any_dimension(call: Arguments, work: Callable[[Array, Array], Array]) -> Array:
    first, second = call.in1, jnp.asarray(call.in2)
    require(first.ndim == second.ndim and call.mode in _MODES)
    return work(first, second) if first.ndim else first * second


@implements("signal", _ARRAYS, _refuse)
def convolve(call: Arguments) -> Array:
    """Integers are convolved directly, because transforms are inexact."""
    return _of_any_dimension(call, partial(convolved, mode=call.mode, method=call.method))


@implements("signal", _ARRAYS, _refuse)
def correlate(call: Arguments) -> Array:
    """Integers are convolved directly, because transforms are inexact."""
    other = call.but(in2=jnp.flip(jnp.asarray(call.in2).conj()))
    return _of_any_dimension(other, partial(convolved, mode=call.mode, method=call.method))


def _transformed(call: Arguments) -> Array:
    return _of_any_dimension(call, partial(_by_transforms, mode=call.mode, axes=call.axes))


fftconvolve = implements("signal", _ARRAYS, _refuse, "fftconvolve")(_transformed)
oaconvolve = implements("signal", _ARRAYS, _refuse, "oaconvolve")(_transformed)

_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "reflect"}


def _refuse_images(call: Arguments) -> str | None:
    if call.boundary != "fill" and np.less(call.in1.shape, call.in2.shape).any():
        return "in2= is larger than in1=, which SciPy repeats once at either end at most"
    dtype = promoted(dtype_of(call.in1), dtype_of(call.in2))
    return why_not_element("fillvalue", call.fillvalue, dtype) or _refuse(call)


def _image(call: Arguments, flip: bool) -> Array:
    first, second = call.in1, jnp.asarray(call.in2)
    require(first.ndim == second.ndim == 2 and call.mode in _MODES)
    swapped = _is_swapped(call.mode, first.shape, second.shape)
    if swapped:
        first, second = second, first
    kernel = second if flip else second.conj()
    margins, mode = _margins(call.mode, kernel.shape, flip), _BOUNDARIES[call.boundary]
    result = _slid(first, kernel, margins, mode, call.fillvalue, flips=flip)
    return jnp.flip(result) if swapped and not flip else result


@implements("signal", _ARRAYS + " fillvalue", _refuse_images)
def convolve2d(call: Arguments) -> Array:
    return _image(call, flip=True)


@implements("signal", _ARRAYS + " fillvalue", _refuse_images)
def correlate2d(call: Arguments) -> Array:
    return _image(call, flip=False)
