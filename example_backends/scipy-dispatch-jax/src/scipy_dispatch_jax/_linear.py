"""Weighted sums of neighbours, along lines or in n-d windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._arrays import is_complex, is_integer, is_jax, limits_of
from ._boundary import is_constant
from ._jax import Array, jnp
from ._output import working_dtype
from ._sums import Adding, mean, weighted_sum
from ._window import Windows, offsets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._window import Offsets

_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Boundary:
    """The boundary: a mode for every axis, and the value for ``"constant"``."""

    modes: tuple[str, ...]
    cval: Any

    @property
    def is_whole(self) -> bool:
        """Return whether the constant, if any mode uses it, is known to be an integer."""
        if not any(map(is_constant, self.modes)):
            return True
        if is_jax(self.cval):
            return is_integer(self.cval.dtype)
        return bool(np.isrealobj(self.cval) and float(self.cval).is_integer())


def as_weights(weights: Any) -> Any:
    """Return a JAX array unchanged, and any other value as a NumPy array."""
    return weights if is_jax(weights) else np.asarray(weights)


def neighbours(
    x: Array,
    weights: Any,
    shape: Sequence[int],
    origins: Sequence[int],
    boundary: Boundary,
    dtype: np.dtype[Any],
    is_line: bool = False,
) -> Array:
    """Correlate `x` with `weights`.

    Parameters
    ----------
    x : jax.Array
        The array.
    weights : array
        The weights from `as_weights`, in the order for a correlation.
    shape : sequence of int
        The shape of the weights, with a length for every axis of `x`.
    origins : sequence of int
        The shift of the weights from their centre, for every axis.
    boundary : Boundary
        The boundary modes and the constant.
    dtype : data type
        The data type of the result.
    is_line : bool, optional
        Whether to sum in the order of SciPy's 1-d filters instead of its n-d filters.
    """
    static = not is_jax(weights)
    whole = _is_whole(x.dtype, weights, boundary, dtype)
    complex_sum = is_complex(x.dtype) or is_complex(weights.dtype) or is_complex(dtype)
    working = working_dtype(x.dtype, dtype, whole, complex_sum)
    symmetry = 0
    where = None
    if static and is_line:
        symmetry = _symmetry(weights.ravel())
    elif static:
        # SciPy's n-d filters skip weights this small, whatever the elements are.
        where = np.abs(weights.reshape(shape) * 1.0) > _EPSILON
        weights = weights.reshape(shape)[where]
    offsets = offsets_of(tuple(shape), where)
    if not x.size or not offsets:
        return jnp.zeros(x.shape, dtype)
    windows = _windows(shape, offsets, origins, boundary, working, dtype)
    adding = Adding(
        separately=is_integer(dtype) and not is_integer(working),
        symmetry=symmetry,
        last_first=is_line and not symmetry,
        # Known zeros have already been dropped.
        skips_zeros=not is_line and not static,
    )
    return weighted_sum(x, weights, windows.fill(boundary.cval), windows, adding)


def _is_whole(dtype: Any, weights: Any, boundary: Boundary, result: np.dtype[Any]) -> bool:
    """Return whether a sum has integer terms only, and 32 bits hold its value or its low bits."""
    if not is_integer(dtype) or not boundary.is_whole:
        return False
    static = not is_jax(weights)
    if not is_integer(weights.dtype) and not (static and (weights == np.rint(weights)).all()):
        return False
    # For an integer result, the low bits of a larger sum are correct. A real result needs them
    # all.
    largest: float = 1
    if not is_integer(result):
        if not static or is_jax(boundary.cval):
            return False
        largest = max(map(abs, (*limits_of(dtype), complex(boundary.cval))))
    total = np.abs(weights * 1.0).sum() if static else 0
    return bool(largest * total < 2**31)


def means(
    x: Array, shape: Sequence[int], origins: Sequence[int], boundary: Boundary, dtype: Any
) -> Array:
    """Return the means of windows that are longer than one element along a single axis.

    The parameters are those of `neighbours`.
    """
    if not x.size:
        return jnp.zeros(x.shape, dtype)
    working = working_dtype(x.dtype, dtype, boundary.is_whole)
    if is_integer(working) and x.dtype == np.uint32:
        working = np.dtype(np.uint32)
    windows = _windows(shape, (), origins, boundary, working, dtype)
    return mean(x, windows.fill(boundary.cval), windows)


def _windows(
    shape: Sequence[int],
    offsets: Offsets,
    origins: Sequence[int],
    boundary: Boundary,
    working: np.dtype[Any],
    dtype: Any,
) -> Windows:
    margins = margins_of(shape, origins)
    return Windows(tuple(shape), offsets, margins, boundary.modes, working, np.dtype(dtype))


def margins_of(shape: Sequence[int], origins: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the number of elements before and after the centre of a window, for every axis."""
    return tuple(
        (size // 2 + origin, size - size // 2 - 1 - origin)
        for size, origin in zip(shape, origins, strict=True)
    )


def _symmetry(weights: np.ndarray) -> int:
    if weights.size % 2 == 0 or np.iscomplexobj(weights):
        return 0
    weights = weights.astype(np.float64)  # as SciPy does; narrow integers would overflow
    backwards = weights[::-1]
    if (np.abs(weights - backwards) <= _EPSILON).all():
        return 1
    middle = weights.size // 2
    pairs = np.abs(weights + backwards) <= _EPSILON
    return -1 if np.delete(pairs, middle).all() else 0
