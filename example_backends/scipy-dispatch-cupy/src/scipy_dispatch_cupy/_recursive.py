"""Recursive filters, which CuPy computes in blocks of elements.

Within a block, CuPy combines the contributions of the elements in a tree. It adds the state at
the end of a block to the next block. If large numbers cancel in these sums, digits are lost
twice.
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
"""The number of elements in a block."""
_MOST = 512
"""The longest recursion: CuPy passes only the last half of a block on to the next."""
_GROWTH = 250.0
"""The largest response to a unit impulse for which results are accurate to 1e-7."""
_GROWTH_OF_SINGLES = 2500.0
"""The same for single-precision results, which are accurate to 1e-4."""
_SECTIONS = "second-order sections to sosfilt or sosfiltfilt"


def in_double(*names: str) -> Callable[[Call], Any]:
    """Return a function that computes a single-precision recursive filter in double precision.

    Parameters
    ----------
    *names : str
        The arguments that determine the data type of the result.
    """

    def compute(call: Call) -> Any:
        if not _are_single(call, names):
            return call.run()
        # Integers stay as they are, because SciPy extends their ends in the integer type.
        wide = {
            name: call[name].astype(np.result_type(call[name].dtype, np.float64))
            for name in names
            if kind_of(call[name]) in "fc"
        }
        return call.replaced(**wide).run().astype(common_type(call, names))

    return compute


def tame_filter(call: Call) -> str | None:
    """Reject filters whose impulse response grows too large for CuPy's accuracy."""
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
    limit = _GROWTH_OF_SINGLES if _are_single(call, ("b", "a", "x")) else _GROWTH
    return _tame("a", a, reach, length, limit, _SECTIONS)


def sections(call: Call) -> str | None:
    """Reject sections whose fourth column CuPy would take for 1."""
    sos = np.asarray(on_host(call["sos"]))
    if sos.ndim == 2 and sos.shape[1] == 6 and not np.all(sos[:, 3] == 1):
        return "the fourth column of sos= is not 1, and CuPy does not look at it"
    return None


def tame_quotient(call: Call) -> str | None:
    """Reject polynomial divisions whose impulse response grows too large for CuPy's accuracy."""
    divisor = _line(call["divisor"])
    length = np.size(call["signal"]) - divisor.size + 1
    return _tame("divisor", divisor, divisor.size - 1, length, _GROWTH, "arrays of NumPy's")


def _tame(
    name: str, a: np.ndarray, reach: int, length: int, limit: float, instead: str
) -> str | None:
    if a.ndim != 1 or not a[0]:
        return None  # the result is infinite, or CuPy reports the error
    if reach > _MOST and length > _BLOCK:
        return (
            f"the filter reaches {reach} elements back, and CuPy loses what is more than "
            f"{_MOST} elements back; pass arrays of NumPy's"
        )
    length = min(length, _BLOCK)
    # No recursion reaches back further than the block, nor does the initial state of `filtfilt`.
    growth = _growth(a[: length + 1] / a[0], length)
    if growth <= limit:
        return None
    return (
        f"{name}= makes what is filtered grow by {growth:.0e} on the way, and CuPy loses "
        f"twice as many digits of it as SciPy does; pass {instead}"
    )


def _growth(a: np.ndarray, length: int) -> float:
    """Return the largest absolute value in the state of a filter after a unit impulse."""
    if length < 2:
        return 1.0
    once = np.zeros(length, a.dtype)
    once[0] = 1
    most = 1.0
    with np.errstate(all="ignore"):
        answer = import_module("scipy.signal").lfilter([1.0], a, once)
        left = np.zeros_like(answer)
        # The state that belongs to the furthest coefficient, then to the next nearer one.
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
    """Return whether the result is of single precision; non-arrays count as double precision."""
    return all(is_array(call[name]) for name in names) and common_type(call, names).char in "fF"
