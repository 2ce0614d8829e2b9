"""Windows that move over an array, and what is at each of their places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ._arrays import is_jax
from ._boundary import extended, is_constant
from ._jax import Array, jnp, lax

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Offsets: TypeAlias = tuple[tuple[int, ...], ...]

WRITTEN_OUT = 64
"""So many elements of a window are written out, one after the other.

XLA makes one loop over the array of that. A longer program takes long to compile: a loop over the
window then.
"""


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


def running(combine: Callable[[Array, Array], Array], x: Array, count: int, axis: int) -> Array:
    """Return what `combine` makes of `count` elements in a row, wherever they begin.

    It is made from that of 1, 2, 4, … elements, in about as many steps as `count` has binary
    digits, so that sums are rounded as few times.

    Parameters
    ----------
    combine : callable
        Takes two arrays, in any order.
    x : jax.Array
        The array.
    count : int
        How many elements.
    axis : int
        Along which axis.
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
