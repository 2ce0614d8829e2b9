"""Sums of weighted neighbours, along lines and in windows of any number of dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from ._arrays import as_c_casts, has_64_bits, is_complex, is_integer, is_jax
from ._boundary import extended
from ._jax import Array, jnp
from ._output import working_dtype
from ._window import offsets_of, plain_sum, weighted_sum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Boundary:
    """What is beyond the ends: a mode for every axis, and the value for ``"constant"``."""

    modes: tuple[str, ...]
    cval: Any

    @property
    def is_whole(self) -> bool:
        """Whether that value, if it matters, is known to be a whole number."""
        if not any("constant" in mode for mode in self.modes):
            return True
        if is_jax(self.cval):
            return is_integer(self.cval.dtype)
        return bool(np.isrealobj(self.cval) and float(self.cval).is_integer())


def as_weights(weights: Any) -> Any:
    """Return a JAX array as it is, and a NumPy array for all else, of numbers that JAX has."""
    return weights if is_jax(weights) else np.asarray(weights)


def neighbours(
    x: Array,
    weights: Any,
    origins: Sequence[int],
    boundary: Boundary,
    dtype: np.dtype[Any],
    is_line: bool = False,
) -> Array:
    """Correlate `x` with `weights`, of as many dimensions.

    Parameters
    ----------
    x : jax.Array
        The array.
    weights : array
        From `as_weights`, as they are laid on the array.
    origins : sequence of int
        How far the middle of the weights is from their center, for every axis.
    boundary : Boundary
        What is beyond the ends.
    dtype : data type
        Of the result.
    is_line : bool, optional
        Whether to add in the order in which SciPy does along a line, and not in a window of
        any number of dimensions.
    """
    static = not is_jax(weights)
    whole = is_integer(weights.dtype) or (static and bool(np.all(weights == np.rint(weights))))
    complex_sum = is_complex(x.dtype) or is_complex(weights.dtype) or is_complex(dtype)
    working = working_dtype(x.dtype, dtype, whole and boundary.is_whole, complex_sum)
    padded = _padded(x, weights.shape, origins, boundary, working)
    if padded is None:
        return jnp.zeros(x.shape, dtype)
    symmetry = 0
    where = None
    if static and is_line:
        symmetry = _symmetry(weights.ravel())
    elif static:
        # As SciPy does where there is more than one dimension, whatever lies beneath.
        where = np.abs(weights) > _EPSILON
        if not where.any():
            return jnp.zeros(x.shape, dtype)
    offsets = offsets_of(weights.shape, where)
    flat = jnp.ravel(jnp.asarray(weights if where is None else weights[where]))
    if is_line and not symmetry:
        # SciPy begins with the last one.
        offsets, flat = (offsets[-1], *offsets[:-1]), jnp.roll(flat, 1)
    if is_complex(flat.dtype) or not is_complex(working):
        flat = flat.astype(working)
    else:
        flat = flat.astype(np.dtype(working.char.lower()))
    separately = is_integer(dtype) and not is_integer(working)
    result = weighted_sum(
        padded, flat, offsets, x.shape, separately, symmetry, skips_zeros=not is_line
    )
    return as_c_casts(result, dtype)


def means(
    x: Array, shape: Sequence[int], origins: Sequence[int], boundary: Boundary, dtype: Any
) -> Array:
    """Return the means of windows; arguments as those of `neighbours`."""
    working = working_dtype(x.dtype, dtype, boundary.is_whole)
    count = prod(shape)
    offsets = offsets_of(tuple(shape))
    if working != np.int32 or has_64_bits():
        padded = _padded(x, shape, origins, boundary, working)
        if padded is None:
            return jnp.zeros(x.shape, dtype)
        return as_c_casts(plain_sum(padded, offsets, x.shape) / count, dtype)
    # Sums of 32 bits have no place in 32 bits: quotients and remainders do.
    wide = np.dtype(np.uint32 if x.dtype == np.uint32 else np.int32)
    padded = _padded(x, shape, origins, boundary, wide)
    if padded is None:
        return jnp.zeros(x.shape, dtype)
    quotients = plain_sum(padded // count, offsets, x.shape)
    rest = plain_sum(padded % count, offsets, x.shape)
    if not is_integer(dtype):
        return quotients.astype(dtype) + rest.astype(dtype) / count
    floor = quotients + rest // count
    if wide == np.int32:
        floor = floor + ((floor < 0) & (rest % count != 0))
    return as_c_casts(floor, dtype)


def _padded(
    x: Array, shape: Sequence[int], origins: Sequence[int], boundary: Boundary, working: Any
) -> Array | None:
    if not x.size:
        return None
    margins = margins_of(shape, origins)
    return extended(x.astype(working), margins, boundary.modes, boundary.cval)


def margins_of(shape: Sequence[int], origins: Sequence[int]) -> list[tuple[int, int]]:
    """Return how far a window reaches before and after its middle."""
    return [
        (size // 2 + origin, size - size // 2 - 1 - origin)
        for size, origin in zip(shape, origins, strict=True)
    ]


def _symmetry(weights: np.ndarray) -> int:
    if weights.size % 2 == 0 or np.iscomplexobj(weights):
        return 0
    backwards = weights[::-1]
    if (np.abs(weights - backwards) <= _EPSILON).all():
        return 1
    middle = weights.size // 2
    pairs = np.abs(weights + backwards) <= _EPSILON
    return -1 if np.delete(pairs, middle).all() else 0
