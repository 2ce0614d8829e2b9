"""Recursive filters, which CuPy computes in blocks of elements.

Within a block it adds up in a tree what the elements leave behind, and what is left at the end of
a block it adds to the next one. Where large numbers cancel in that, digits are lost twice.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from ._rules import is_array, kind_of, on_host
from ._signals import common_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._call import Call

_BLOCK = 1024
"""How many elements a block has."""
_MOST = 512
"""How many elements back a recursion may reach: CuPy hands on those that half a block ends with."""
_GROWTH = 250.0
"""How large what is left of a 1 may become, for results that are good to 1e-7."""
_GROWTH_OF_SINGLES = 2500.0
"""The same for results that are of single precision in the end, and good to 1e-4."""
_SECTIONS = "second-order sections to sosfilt or sosfiltfilt"


def in_double(*names: str) -> Callable[[Call], Any]:
    """Return how to compute a recursive filter of what is of single precision: in double precision.

    Parameters
    ----------
    *names : str
        The arguments that decide what the result's type is.
    """

    def compute(call: Call) -> Any:
        if not _are_single(call, names):
            return call.run()
        # But for whole numbers, whose ends SciPy extends in their own type.
        wide = {
            name: call[name].astype(np.result_type(call[name].dtype, np.float64))
            for name in names
            if kind_of(call[name]) in "fc"
        }
        return call.replaced(**wide).run().astype(common_type(call, names))

    return compute


def tame_filter(call: Call) -> str | None:
    """Refuse filters that remember too well for CuPy."""
    x, a = call["x"], _line(call["a"])
    length = np.shape(x)[call["axis"]] if np.ndim(x) else 1
    reach = a.size - 1
    if call.name == "filtfilt":
        taps = max(a.size, np.size(call["b"]))
        if reach:
            reach = taps - 1  # see `_signals.adapted`
        if call["method"] == "pad" and call["padtype"] is not None:
            length += 2 * (3 * taps if call["padlen"] is None else call["padlen"])
        if length < taps - 1:
            return f"CuPy needs {taps - 1} elements to begin with, and there are {length}"
        if reach and call["method"] == "pad" and not a.sum():
            return "the coefficients of a= add up to 0, and SciPy refuses them"
    limit = _GROWTH_OF_SINGLES if _are_single(call, ("b", "a", "x")) else _GROWTH
    return _tame("a", a, reach, length, limit, _SECTIONS)


def sections(call: Call) -> str | None:
    """Refuse what are no sections, which CuPy does not look at, or none to begin in both ends."""
    sos = np.asarray(on_host(call["sos"]))
    if sos.ndim != 2 or sos.shape[1] != 6 or not np.all(sos[:, 3] == 1):
        return "sos= is no array of sections as SciPy takes them, of 6 columns, the fourth of 1"
    if call.name == "sosfiltfilt" and not np.all(sos[:, 3:].sum(axis=1)):
        return "the coefficients of a section add up to 0, and SciPy refuses them"
    return None


def tame_quotient(call: Call) -> str | None:
    """Refuse divisions of polynomials that remember too well for CuPy."""
    divisor = _line(call["divisor"])
    length = np.size(call["signal"]) - divisor.size + 1
    return _tame("divisor", divisor, divisor.size - 1, length, _GROWTH, "arrays of NumPy's")


def _tame(
    name: str, a: np.ndarray, reach: int, length: int, limit: float, instead: str
) -> str | None:
    if not a[0]:
        return f"{name}= begins with 0, which SciPy refuses"
    if reach > _MOST and length > _BLOCK:
        return (
            f"the filter reaches {reach} elements back, and CuPy loses what is more than "
            f"{_MOST} elements back; pass arrays of NumPy's"
        )
    length = min(length, _BLOCK)
    # No element reaches back further, the state that `filtfilt` begins in among them.
    growth = _growth(a[: length + 1] / a[0], length)
    if growth <= limit:
        return None
    return (
        f"{name}= makes what is filtered grow by {growth:.0e} on the way, and CuPy loses "
        f"twice as many digits of it as SciPy does; pass {instead}"
    )


def _growth(a: np.ndarray, length: int) -> float:
    """Return the largest value that a filter makes of a single 1 that it remembers."""
    if length < 2:
        return 1.0
    once = np.zeros(length, a.dtype)
    once[0] = 1
    most = 1.0
    with np.errstate(all="ignore"):
        answer = import_module("scipy.signal").lfilter([1.0], a, once)
        left = np.zeros_like(answer)
        # What is left of the element that is furthest back, then of the next one.
        for each in a[:0:-1]:
            left[1:] = left[:-1]
            left[0] = 0
            left -= each * answer
            largest = float(np.abs(left).max())
            if not np.isfinite(largest):
                return np.inf
            most = max(most, largest)
    return most


def _line(coefficients: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(on_host(coefficients)))


def _are_single(call: Call, names: tuple[str, ...]) -> bool:
    """Whether the result is of single precision; what is no array is of double precision."""
    return all(is_array(call[name]) for name in names) and common_type(call, names).char in "fF"
