"""Windows that move over an array, and the elements at their positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ._arrays import is_jax
from ._boundary import extended, is_constant
from ._jax import Array, jnp, lax

Offsets: TypeAlias = tuple[tuple[int, ...], ...]

WRITTEN_OUT = 64
"""The largest number of elements of a window for which a computation is unrolled.

XLA compiles an unrolled computation to one loop over the array. Longer programs compile slowly,
so that larger windows are processed in a loop.
"""


@dataclass(frozen=True)
class Parts:
    """Shifted parts of an extended array, one for each element of a window, by their starts."""

    offsets: Offsets
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of parts."""
        return len(self.offsets)

    def of(self, x: Array, number: Any) -> Array:
        """Return a part of `x` by its number, which may be traced."""
        if not isinstance(number, int):
            return lax.dynamic_slice(x, jnp.asarray(_table(self.offsets))[number], self.shape)
        start = self.offsets[number]
        return lax.slice(x, start, [a + n for a, n in zip(start, self.shape, strict=True)])

    def reduced(
        self,
        x: Array,
        combine: Callable[[Array, Array], Array],
        part: Callable[[Array, Any], Array] = lambda part, number: part,
    ) -> Array:
        """Return the combination of all parts, of which there is at least one."""

        def step(number: Any, total: Array) -> Array:
            return combine(total, part(self.of(x, number), number))

        total = part(self.of(x, 0), 0)
        if self.count > WRITTEN_OUT:
            return lax.fori_loop(1, self.count, step, total)
        for number in range(1, self.count):
            total = step(number, total)
        return total

    def zeros(self, x: Array, dtype: Any = None) -> Array:
        """Return an array of zeros with the shape and sharding of a part of `x`."""
        return jnp.zeros_like(self.of(x, 0), dtype=dtype)


@lru_cache(maxsize=16)
def _table(offsets: Offsets) -> np.ndarray[Any, Any]:
    """Return the offsets as an array, cached so that a trace contains it once."""
    return np.asarray(offsets, np.int32)


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

    def fill(self, cval: Any) -> Any:
        """Return `cval` as an element; None if no mode uses it."""
        if not any(map(is_constant, self.modes)):
            return None
        if is_jax(cval):
            return cval
        with np.errstate(all="ignore"):
            return np.asarray(cval).astype(self.working)

    def over(self, x: Array, cval: Any) -> tuple[Array, Parts]:
        """Return `x`, converted and extended, and its parts, one for each offset."""
        x = extended(x.astype(self.working), self.margins, self.modes, cval)
        shape = tuple(n - size + 1 for n, size in zip(x.shape, self.shape, strict=True))
        return x, Parts(self.offsets, shape)


def offsets_of(shape: tuple[int, ...], where: Any = None) -> Offsets:
    """Return the positions in a window of `shape` in C order: all, or those in the mask `where`."""
    chosen = np.ones(shape, dtype=bool) if where is None else where
    return tuple(map(tuple, np.argwhere(chosen).tolist()))


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
