"""Windows that move over an array: where they are, and what is beyond its ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ._arrays import (
    as_c_casts,
    checked_origin,
    for_each,
    has_64_bits,
    is_complex,
    is_integer,
    is_jax,
    narrowed,
    spread,
    spread_window,
)

# For filters, modes with and without "grid-" are equivalent.
_SAME = {"grid-mirror": "reflect", "grid-wrap": "wrap", "grid-constant": "constant"}
MODES = frozenset({"reflect", "mirror", "nearest", "wrap", "constant", *_SAME})


def checked_mode(mode: Any) -> str:
    """Return `mode` after checking that it is valid."""
    if not isinstance(mode, str) or mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    return mode


def is_constant(mode: str) -> bool:
    """Return whether `mode` extends an array by a constant, ``cval=``."""
    return _SAME.get(mode, mode) == "constant"


def positions(index: Any, length: int, mode: str) -> Any:
    """Return the positions in a line of the elements that a mode assigns to indices.

    These are of NumPy or JAX. The mode is none with a constant.
    """
    xp = np if isinstance(index, np.ndarray) else jnp
    mode = _SAME.get(mode, mode)
    if mode == "nearest" or (mode == "mirror" and length == 1):
        return xp.clip(index, 0, length - 1)
    if mode == "wrap":
        return index % length
    if mode == "mirror":
        index = index % (2 * length - 2)
        return xp.minimum(index, 2 * length - 2 - index)
    index = index % (2 * length)
    return xp.minimum(index, 2 * length - 1 - index)


_PADS = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap"}


def extended(
    x: Array, margins: Sequence[tuple[int, int]], modes: Sequence[str], cval: Any
) -> Array:
    """Return `x` with so many elements more before and after it along each axis."""
    for axis, (margin, mode) in enumerate(zip(margins, modes, strict=True)):
        if not any(margin):
            continue
        if is_constant(mode):
            # Not `jnp.pad`, which cannot be differentiated for the constant.
            fill = jnp.asarray(cval).astype(x.dtype)
            shapes = ((*x.shape[:axis], count, *x.shape[axis + 1 :]) for count in margin)
            before, after = (jnp.broadcast_to(fill, shape) for shape in shapes)
            x = jnp.concatenate([before, x, after], axis)
        else:
            widths = [margin if each == axis else (0, 0) for each in range(x.ndim)]
            x = jnp.pad(x, widths, _PADS[_SAME.get(mode, mode)])
    return x


Offsets: TypeAlias = tuple[tuple[int, ...], ...]

WRITTEN_OUT = 64
"""The largest number of elements of a window for which a computation is unrolled.

XLA compiles an unrolled computation to one loop over the array. Longer programs compile slowly,
so that larger windows are processed in a loop.
"""


@dataclass(frozen=True)
class Windows:
    """A window and its movement over an array. All attributes are known while JAX traces.

    Attributes
    ----------
    shape : tuple of int
        The length of the window along every axis of the array.
    offsets : tuple of tuple of int
        The positions in the window of the elements that are used, in the order of their use.
    margins : tuple of (int, int)
        How far the window extends beyond the start and the end of the array, for every axis.
    modes : tuple of str
        The boundary mode of every axis.
    working : data type
        The data type to which elements are converted first.
    dtype : data type
        The data type to which results are finally converted, with C's rules.
    """

    shape: tuple[int, ...]
    offsets: Offsets
    margins: tuple[tuple[int, int], ...]
    modes: tuple[str, ...]
    working: np.dtype[Any]
    dtype: np.dtype[Any]

    @classmethod
    def of(
        cls,
        ndim: int,
        footprint: np.ndarray,
        axes: tuple[int, ...],
        origin: Any,
        mode: Any,
        types: tuple[Any, Any],
        mirrored: bool = False,
    ) -> Windows:
        """Return windows along some axes of an array with `ndim` axes, with the marked elements.

        The mode is one for all of these axes, or one for each; the types are `working` and `dtype`.
        A mirrored window, as of a convolution, has its elements in reverse order.
        """
        shape, origins = spread_window(footprint.shape, origin, axes, ndim)
        if mirrored:
            footprint = np.flip(footprint)
            origins = [-o - (n % 2 == 0) for n, o in zip(shape, origins, strict=True)]
        before = [n // 2 + checked_origin(o, n) for n, o in zip(shape, origins, strict=True)]
        margins = tuple((k, n - 1 - k) for n, k in zip(shape, before, strict=True))
        modes = tuple(map(checked_mode, spread(for_each(mode, len(axes)), axes, ndim, "nearest")))
        offsets = offsets_of(footprint.reshape(shape))
        return cls(shape, offsets, margins, modes, *map(np.dtype, types))

    @property
    def count(self) -> int:
        """The number of elements that are used."""
        return len(self.offsets)

    def fill(self, cval: Any) -> Any:
        """Return `cval` as an element; None if no mode uses it."""
        if not any(map(is_constant, self.modes)):
            return None
        if is_jax(cval):
            return cval
        with np.errstate(all="ignore"):
            return np.asarray(cval).astype(self.working)

    def over(self, x: Array, cval: Any) -> Array:
        """Return `x`, converted and extended so that every window is inside."""
        return extended(x.astype(self.working), self.margins, self.modes, cval)

    def part(self, x: Array, number: Any) -> Array:
        """Return the part of an extended array that is below an element of the window.

        Its number may be traced.
        """
        shape = [n - size + 1 for n, size in zip(x.shape, self.shape, strict=True)]
        if not isinstance(number, int):
            return lax.dynamic_slice(x, jnp.asarray(_table(self.offsets))[number], shape)
        start = self.offsets[number]
        return lax.slice(x, start, [a + n for a, n in zip(start, shape, strict=True)])

    def reduced(
        self,
        x: Array,
        combine: Callable[[Array, Array], Array],
        changed: Callable[[Array, Any], Array] = lambda part, number: part,
    ) -> Array:
        """Return the combination of all parts, of which there is at least one."""

        def step(number: Any, total: Array) -> Array:
            return combine(total, changed(self.part(x, number), number))

        total = changed(self.part(x, 0), 0)
        if self.count > WRITTEN_OUT:
            return lax.fori_loop(1, self.count, step, total)
        for number in range(1, self.count):
            total = step(number, total)
        return total

    def zeros(self, x: Array, dtype: Any = None) -> Array:
        """Return an array of zeros with the shape and sharding of a part of `x`."""
        return jnp.zeros_like(self.part(x, 0), dtype=dtype)


@lru_cache(maxsize=16)
def _table(offsets: Offsets) -> np.ndarray[Any, Any]:
    """Return the offsets as an array, cached so that a trace contains it once."""
    return np.asarray(offsets, np.int32)


def offsets_of(footprint: np.ndarray) -> Offsets:
    """Return the positions of the marked elements of a window, in C order."""
    return tuple(map(tuple, np.argwhere(footprint).tolist()))


def running(combine: Callable[[Array, Array], Array], x: Array, count: int, axis: int) -> Array:
    """Return the combination of `count` consecutive elements, for every start.

    It is built from the combinations of 1, 2, 4, … elements, so that the number of steps, and of
    rounding errors, is about the number of binary digits of `count`. `combine` is commutative and
    associative.
    """

    def part(x: Array, begin: int, length: int) -> Array:
        return lax.slice_in_dim(x, begin, begin + length, axis=axis)

    length = x.shape[axis] - count + 1
    combined, width = x, 1  # width: the number of combined elements
    total: Any = None
    begin = 0
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


def result_dtype(output: Any, dtype: Any, complex_output: bool = False) -> np.dtype[Any]:
    """Return the data type of a filter's result, as `scipy.ndimage` chooses it.

    The result may be complex regardless of the data type of the array.
    """
    if output is not None:
        wanted = np.dtype(output)
        if isinstance(output, str) and not issubclass(wanted.type, np.number):
            raise RuntimeError("output must have numeric dtype")
        return narrowed(wanted)
    if not complex_output:
        return np.dtype(dtype)
    return jnp.promote_types(narrowed(np.float32) if dtype == jnp.bfloat16 else dtype, np.complex64)


def passing_dtype(result: np.dtype[Any]) -> np.dtype[Any]:
    """Return the data type that is passed from one axis to the next.

    This is the type of the result, except for booleans: SciPy passes them as bytes, which may
    have values other than 0 and 1.
    """
    return np.dtype(np.uint8) if result == np.bool_ else result


def finished(x: Array, result: np.dtype[Any]) -> Array:
    """Convert the last axis' values, or an unprocessed array, to the data type of the result."""
    return x != 0 if result == np.bool_ else as_c_casts(x, result)


def working_dtype(dtype: Any, result: np.dtype[Any]) -> np.dtype[Any]:
    """Return the data type in which a sum of products is computed.

    SciPy always uses double precision. Here single and half precision are computed in single
    precision, as JAX's users expect, and integers in double precision if JAX has it.
    """
    doubles = {np.dtype(np.float64), np.dtype(np.complex128)}
    is_double = has_64_bits() if is_integer(dtype) else bool({np.dtype(dtype), result} & doubles)
    if is_complex(dtype) or is_complex(result):
        return np.dtype(np.complex128 if is_double else np.complex64)
    return np.dtype(np.float64 if is_double else np.float32)
