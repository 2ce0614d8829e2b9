"""Comparison of a result with SciPy's, by the tolerances that a backend states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Array = np.ndarray[Any, np.dtype[Any]]


class Tolerance(NamedTuple):
    """The allowed difference of an element from SciPy's.

    Attributes
    ----------
    rtol : float
        Relative to the largest finite value of SciPy's result.
    atol : float
        An additional absolute difference.
    reason : str
        The reason for the tolerance.
    counts : float, optional
        The absolute difference for integer results; by default `atol`.
    """

    rtol: float
    atol: float
    reason: str = ""
    counts: float | None = None


EXACT = Tolerance(0, 0, "exact: the same bits")
"""The tolerance of functions that choose, move or compare elements."""

_KINDS = {
    "b1": ("bool", "integers"),
    "f2": ("float16", "half"),
    "f4": ("float32", "single"),
    "c8": ("complex64", "single"),
    "f8": ("float64", "double"),
    "c16": ("complex128", "double"),
}
_WHOLE = {"bool", "int", "integers", "integers32"}
ROOTS = {
    *("signal.tf2zpk", "signal.sos2zpk", "signal.ss2zpk", "signal.lp2bs_zpk"),
    *("signal.residue", "signal.residuez"),
}
"""Functions that return roots, in no particular order."""


def allowed_for(kinds: Mapping[str, Tolerance], arrays: Iterable[Array]) -> Tolerance:
    """Return the widest tolerance that applies to the data type of any of the arrays.

    Parameters
    ----------
    kinds : mapping of str to Tolerance
        A function's tolerances by kind of data: names of data types, with ``"int"`` for all
        integers; or ``"integers"``, ``"half"``, ``"single"`` and ``"double"``; or ``"all"``.
    arrays : iterable of numpy.ndarray
        The arrays of the call.

    Examples
    --------
    >>> allowed_for({"single": Tolerance(1e-6, 0, "sums")}, [np.zeros(1, np.float32)])
    Tolerance(rtol=1e-06, atol=0.0, reason='sums', counts=0.0)
    """
    named = {kind for each in arrays for kind in kinds_of(each.dtype)} & set(kinds)
    wholes = [kinds[kind] for kind in kinds if kind in _WHOLE]
    others = [kind for kind in kinds if kind not in _WHOLE]
    reals = [kinds[kind] for kind in others if kind in named] or [kinds[kind] for kind in others]
    return Tolerance(
        max((float(each.rtol) for each in reals), default=0.0),
        max((float(each.atol) for each in reals), default=0.0),
        "; ".join(dict.fromkeys(each.reason for each in reals if each.reason)),
        max((float(each.atol) for each in (*wholes, *reals)), default=0.0),
    )


def kinds_of(dtype: np.dtype[Any]) -> tuple[str, ...]:
    """Return the names of a data type in tables of tolerances.

    Examples
    --------
    >>> kinds_of(np.dtype("uint8")), kinds_of(np.dtype("complex64"))
    (('int', 'integers'), ('complex64', 'single'))
    """
    return _KINDS.get(f"{dtype.kind}{dtype.itemsize}", ("int", "integers"))


def leaves(value: Any) -> Iterator[Array]:
    """Yield the NumPy arrays in nested lists, tuples and dictionaries."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from leaves(each)


def difference(
    name: str,
    result: Any,
    expected: Any,
    allowed: Tolerance | None,
    scale: float = 0.0,
    *,
    dtype_of: Callable[[np.dtype[Any]], np.dtype[Any]] | None = lambda dtype: dtype,
) -> str | None:
    """Return how a result differs from SciPy's; None if it does not.

    Parameters
    ----------
    name : str
        The function, such as ``"signal.tf2zpk"``.
    result, expected : array, number, or nested lists, tuples or dicts of those
        The backend's result, converted to NumPy arrays, and SciPy's.
    allowed : Tolerance or None
        The allowed deviation, relative to the largest value of the expected array. None requires
        the same bits and the same classes; the bits of NaN do not count. Otherwise, an array
        without dimensions is equivalent to a number, and a list to a tuple.
    scale : float, optional
        A lower bound for the value that the relative tolerance refers to.
    dtype_of : callable or None, optional
        Returns the data type that the result has to have for one of SciPy's, if not the same; None
        if it does not matter.

    Examples
    --------
    >>> difference("ndimage.sobel", np.array([1.0, 2.0]), np.array([1.0, 2.5]), EXACT)
    '2.0 for 2.5, 2.0e-01 of the largest, in 1 of 2 elements'
    """
    if allowed is None and type(result) is not type(expected):
        return _unlike(result, expected)
    if isinstance(expected, dict) and isinstance(result, dict):
        keys = sorted(expected, key=str)
        if sorted(result, key=str) != keys:
            return f"the keys {sorted(result, key=str)} for {keys}"
        result, expected = [result[each] for each in keys], [expected[each] for each in keys]
    if isinstance(expected, list | tuple) or _holds_objects(expected):
        if not hasattr(result, "__len__") or len(result) != len(expected):
            return _unlike(result, expected)
        for pair in zip(result, expected, strict=True):
            wrong = difference(name, *pair, allowed, scale, dtype_of=dtype_of)
            if wrong is not None:
                return wrong
        return None
    if isinstance(expected, slice | str):
        return None if result == expected else _unlike(result, expected)
    if not isinstance(expected, np.ndarray | np.generic | int | float | complex):
        # Other objects, such as systems, are compared by class only.
        return None if type(result) is type(expected) else _unlike(result, expected)
    if isinstance(expected, np.ndarray) and expected.ndim and not hasattr(result, "dtype"):
        return _unlike(result, expected)
    x, y = np.asarray(result), np.asarray(expected)
    if x.shape != y.shape:
        return f"the shape {x.shape} for {y.shape}"
    if dtype_of is not None:
        if hasattr(expected, "dtype") and x.dtype != dtype_of(y.dtype):
            return f"{x.dtype} for {dtype_of(y.dtype)}"
        if _letter(x) != _letter(y):
            return _unlike(result, expected)
    wrong = _off(x, y, allowed, scale)
    if wrong and name in ROOTS and y.ndim == 1 and allowed is not None:
        wrong = _off(_in_order(x), _in_order(y), allowed, scale)
    return wrong


def _off(x: Array, y: Array, allowed: Tolerance | None, scale: float) -> str | None:
    if y.dtype.kind == "b":
        # Some of SciPy's functions store bytes other than 0 and 1 in boolean arrays.
        y = y.view(np.uint8) != 0
        x = x.view(np.uint8) != 0 if x.dtype == bool else x
    if np.array_equal(x, y, equal_nan=y.dtype.kind in "fc"):
        return _other_signs(x, y) if allowed is None and y.dtype.kind in "fc" else None
    if y.dtype.kind not in "iufc":
        return _unlike(x, y)
    finite = np.isfinite(y)
    if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
        return f"other numbers for NaN and infinity, of which there are {int((~finite).sum())}"
    # Python's integers do not overflow when subtracted.
    wide = {"f": float, "c": complex}.get(y.dtype.kind, object)
    x = x[finite].astype(complex if x.dtype.kind == "c" else wide)
    y = y[finite].astype(wide)
    if not y.size:
        return None
    apart = np.abs(x - y).astype(float)
    largest = max(float(np.abs(y).max()), scale)
    limit, worst = 0.0, int(apart.argmax())
    if allowed is not None:
        counts = allowed.atol if allowed.counts is None else allowed.counts
        limit = counts if wide is object else allowed.atol + allowed.rtol * (largest or 1.0)
        if apart[worst] <= limit:
            return None
    return (
        f"{x[worst]} for {y[worst]}, {apart[worst] / (largest or 1.0):.1e} of the largest, in "
        f"{int((apart > limit).sum())} of {y.size} elements"
    )


def _other_signs(x: Array, y: Array) -> str | None:
    """Return whether the signs of zeros differ; the sign of NaN is ignored."""
    for part in ("real", "imag"):
        ours, theirs = getattr(x, part), getattr(y, part)
        signs = np.signbit(ours) != np.signbit(theirs)
        if (signs & ~np.isnan(theirs)).any():
            return f"zeros of another sign, {int(signs.sum())} of {y.size}"
    return None


def _in_order(roots: Any) -> Any:
    # Sort by rounded values, so that rounding errors of real parts do not reorder conjugates.
    return roots[np.lexsort((roots.imag.round(4), roots.real.round(4)))]


def _letter(values: Array) -> str:
    kind = values.dtype.kind
    return "i" if kind == "u" else kind


def _holds_objects(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "O"


def _unlike(result: Any, expected: Any) -> str:
    return f"{_brief(result)} for {_brief(expected)}"


def _brief(value: Any) -> str:
    return f"{type(value).__name__} {repr(value)[:60]}"
