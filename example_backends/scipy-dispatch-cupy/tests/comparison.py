"""Comparison of the same call with SciPy and with CuPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from tolerances import TOLERANCES

from scipy_dispatch.testing import ROOTS, Comparison, call, difference, leaves


def _cupy(value: Any) -> Any:
    import cupy

    return cupy.asarray(value)


CUPY = Comparison("cupy", TOLERANCES, _cupy, lambda value: value.get())


def on_device(value: Any) -> Any:
    """Return the value with NumPy arrays replaced by CuPy arrays."""
    return CUPY.given(call(value)).args[0]


def on_host(value: Any) -> Any:
    """Return the value with CuPy arrays replaced by NumPy arrays."""
    return CUPY.fetched(value)


def why_deferred(name: str, *args: Any, **kwargs: Any) -> str | None:
    """Return why CuPy leaves a call to another; None if it does not."""
    return CUPY.why_deferred(name, call(*args, **kwargs))


def compare(name: str, kind: str, result: Any, expected: Any) -> float:
    """Fail unless a result is SciPy's, within the tolerance for this kind of data.

    Returns
    -------
    float
        The largest difference, relative to the largest value of an array.
    """
    tolerance = TOLERANCES[name][kind]
    wrong = difference(name, result, expected, tolerance, checks_dtype=False)
    assert wrong is None, f"{name} of {kind}: {wrong}; allowed: {tolerance}"
    found = [0.0]
    for x, y in zip(leaves(result), leaves(expected), strict=False):
        finite = np.isfinite(y) if y.dtype.kind in "fc" else np.zeros(y.shape, bool)
        if finite.any() and x.shape == y.shape and name not in ROOTS:
            x, y = x[finite], y[finite]
            found.append(float(np.abs(x - y).max() / (np.abs(y).max() or 1)))
    return max(found)
