"""Weighted sums of neighbours, along lines or in n-d windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import is_complex, is_integer, is_jax, limits_of
from ._frame import Frame
from ._jax import Array, jnp
from ._output import working_dtype
from ._sums import Adding, mean, weighted_sum
from ._window import offsets_of

_EPSILON = float(np.finfo(np.float64).eps)


def neighbours(
    x: Array, weights: Any, frame: Frame, dtype: np.dtype[Any], is_line: bool = False
) -> Array:
    """Correlate `x` with `weights`; the result is of the data type `dtype`.

    Lines are summed in the order of SciPy's 1-d filters, other windows as in its n-d filters.
    """
    is_known = not is_jax(weights)
    whole = _is_whole(x.dtype, weights, frame, dtype)
    complex_sum = is_complex(weights.dtype) or is_complex(dtype)
    working = working_dtype(x.dtype, dtype, whole, complex_sum)
    symmetry, where = 0, None
    if is_known and is_line:
        symmetry = _symmetry(weights)
    elif is_known:
        # SciPy's n-d filters skip weights this small, whatever the elements are.
        where = np.abs(weights.reshape(frame.shape) * 1.0) > _EPSILON
        weights = weights.reshape(frame.shape)[where]
    offsets = offsets_of(frame.shape, where)
    if not offsets:
        return jnp.zeros(x.shape, dtype)
    windows = frame.windows(working, dtype, offsets)
    adding = Adding(
        separately=is_integer(dtype) and not is_integer(working),
        symmetry=symmetry,
        last_first=is_line and not symmetry,
        # Known zeros have already been dropped.
        skips_zeros=not is_line and not is_known,
    )
    return weighted_sum(x, weights, windows.fill(frame.cval), windows, adding)


def _is_whole(dtype: Any, weights: Any, frame: Frame, result: np.dtype[Any]) -> bool:
    """Return whether a sum has integer terms only, and 32 bits hold its value or its low bits."""
    is_known = not is_jax(weights)
    if not is_integer(dtype) or not frame.is_whole:
        return False
    if not is_integer(weights.dtype) and not (is_known and (weights == np.rint(weights)).all()):
        return False
    total = np.abs(weights * 1.0).sum() if is_known else 0
    if is_integer(result):  # the low bits of a larger sum are correct
        return bool(total < 2**31)
    if not is_known or is_jax(frame.cval):
        return False
    largest = max(map(abs, (*limits_of(dtype), complex(frame.cval))))
    return bool(largest * total < 2**31)


def means(x: Array, frame: Frame, dtype: Any) -> Array:
    """Return the means of windows that are longer than one element along a single axis."""
    working = working_dtype(x.dtype, dtype, frame.is_whole)
    if is_integer(working) and x.dtype == np.uint32:
        working = np.dtype(np.uint32)
    windows = frame.windows(working, dtype, ())
    return mean(x, windows.fill(frame.cval), windows)


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
