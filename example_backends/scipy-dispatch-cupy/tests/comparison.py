"""Comparison of the same call with SciPy and with CuPy arrays."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
from tolerances import TOLERANCES

ROOTS = {"signal.tf2zpk", "signal.sos2zpk", "signal.ss2zpk", "signal.residue", "signal.residuez"}
ROOTS |= {"signal.lp2bs_zpk"}
"""Functions that return zeros or poles, in any order."""


def scipy_function(name: str) -> Any:
    """Return the function of SciPy, such as ``"ndimage.sobel"``."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"scipy.{module}"), function)


def dispatchable(name: str) -> Any:
    """Return the function of `scipy_dispatch` of the same name."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"scipy_dispatch.{module}"), function)


def on_device(value: Any) -> Any:
    """Return the value with NumPy arrays replaced by CuPy arrays."""
    import cupy

    if isinstance(value, np.ndarray):
        return cupy.asarray(value)
    if isinstance(value, tuple | list):
        return type(value)(on_device(each) for each in value)
    if isinstance(value, dict):
        return {key: on_device(each) for key, each in value.items()}
    return value


def on_host(value: Any) -> Any:
    """Return the value with CuPy arrays replaced by NumPy arrays."""
    import cupy

    if isinstance(value, cupy.ndarray):
        return value.get()
    if isinstance(value, tuple | list):
        return [on_host(each) for each in value]
    if isinstance(value, dict):
        return {key: on_host(each) for key, each in value.items()}
    return value


def why_deferred(name: str, backend: str, *args: Any, **kwargs: Any) -> str | None:
    """Return why a backend leaves a call to another; None if it does not."""
    explanation = dispatchable(name).explain(*args, **kwargs)
    if explanation.selected == backend:
        return None
    (reason,) = (each.reason for each in explanation.backends if each.backend == backend)
    return str(reason)


def compare(name: str, kind: str, result: Any, expected: Any) -> float:
    """Compare a result with SciPy's; return the largest difference, relative to the scale.

    Parameters
    ----------
    name, kind : str
        The function and the kind of data, which select an entry of the table.
    result, expected : array, number, or nested lists, tuples or dicts of those
        CuPy's result, moved to the host, and SciPy's.
    """
    if isinstance(expected, dict):
        assert sorted(map(float_or_text, result)) == sorted(map(float_or_text, expected))
        pairs = zip(
            sorted(result.items(), key=_key), sorted(expected.items(), key=_key), strict=True
        )
        return max((compare(name, kind, x[1], y[1]) for x, y in pairs), default=0.0)
    if _is_nested(expected):
        parts = list(result) if isinstance(result, list | tuple) else list(np.asarray(result))
        assert len(parts) == len(expected)
        return max(
            (compare(name, kind, x, y) for x, y in zip(parts, expected, strict=True)), default=0.0
        )
    if isinstance(expected, slice | str | type(None)):
        assert result == expected
        return 0.0
    return _compare_arrays(name, kind, np.asarray(result), np.asarray(expected))


def _compare_arrays(name: str, kind: str, x: np.ndarray, y: np.ndarray) -> float:
    assert x.shape == y.shape, f"{x.shape} for {y.shape}"
    if name in ROOTS and y.dtype.kind == "c" and y.ndim == 1:
        x, y = _in_order(x), _in_order(y)
    tolerance = TOLERANCES[name][kind]
    if not y.size:
        return 0.0
    finite = np.isfinite(y)
    np.testing.assert_array_equal(np.isfinite(x), finite)
    x, y = x[finite], y[finite]
    if not y.size:
        return 0.0
    if y.dtype.kind in "biu":
        difference = np.abs(x.astype(float) - y.astype(float))
        allowed = np.full(y.shape, float(tolerance.atol))
        scale = 1.0
    else:
        difference = np.abs(x - y)
        scale = float(np.abs(y).max()) or 1.0
        allowed = np.full(y.shape, tolerance.rtol * scale + tolerance.atol)
    worst = int(np.argmax(difference - allowed))
    assert (difference <= allowed).all(), (
        f"{name} of {kind}: {x.flat[worst]} for SciPy's {y.flat[worst]}, which is "
        f"{difference.flat[worst] / scale:.2g} of the scale, and {tolerance} is allowed"
    )
    return float(difference.max() / scale)


def _in_order(roots: np.ndarray) -> np.ndarray:
    return roots[np.lexsort((roots.imag.round(4), roots.real.round(4)))]


def _is_nested(value: Any) -> bool:
    return isinstance(value, tuple | list) or getattr(value, "dtype", None) == np.object_


def _key(item: tuple[Any, Any]) -> Any:
    return float_or_text(item[0])


def float_or_text(value: Any) -> Any:
    """Return a key for sorting, for numbers of any package and text."""
    return value if isinstance(value, str) else float(value)


def quietly(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function without its warnings, such as those about ill-conditioned filters."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)
