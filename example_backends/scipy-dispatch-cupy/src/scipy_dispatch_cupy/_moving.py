"""Conversion of arguments for CuPy: arrays and values that stand for arrays move to the device."""

from __future__ import annotations

import numpy as np

from ._rules import is_array, of_cupy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._call import Call

# For these functions a pair of numbers is an interval, not an array.
_INTERVALS = {"find_peaks"}
# A plain number is a polynomial of degree 0.
_POLYNOMIALS = {"b", "a", "num", "den"}


def on_device(call: Call) -> Call:
    """Return the call with all arrays on the device.

    Parameters
    ----------
    call : Call
        The call, with NumPy or CuPy arrays, or with lists, tuples, ranges, polynomials and
        numbers that stand for arrays.
    """
    return call.replaced(
        **{name: _argument(call, name) for name in call.arrays if name in call.given}
    )


def _argument(call: Call, name: str) -> Any:
    value = call.given[name]
    if call.name in _INTERVALS and name != call.first:
        if is_array(value) and value.shape == (2,):
            value = tuple(value.tolist())
        parts = value if isinstance(value, list | tuple) else (value,)
        moved = tuple(_moved(number(each)) for each in parts)
        return moved if parts is value else moved[0]
    if isinstance(value, list | tuple | range):
        if name in call.tuples:
            return tuple(
                stacked(each) if isinstance(each, list | tuple) else _moved(each) for each in value
            )
        return stacked(value)
    if call.module == "signal" and name in _POLYNOMIALS:
        if is_array(value) and not value.ndim:
            value = value.reshape(1)
        elif np.isscalar(value):
            value = np.atleast_1d(value)
    return _moved(value)


def number(value: Any) -> Any:
    """Return a Python number for an array without dimensions, such as a sum or a mean.

    Parameters
    ----------
    value : object
        Any value; other values are returned unchanged.
    """
    return value.item() if is_array(value) and not value.ndim else value


def _moved(value: Any) -> Any:
    import cupy

    if isinstance(value, np.poly1d):
        value = value.coeffs
    if isinstance(value, np.ndarray):
        return cupy.asarray(value)
    # CuPy treats Python numbers as scalars, but not NumPy scalars.
    return value.item() if isinstance(value, np.generic) else value


def stacked(values: Sequence[Any]) -> Any:
    """Return an array of numbers or of arrays of one shape; return other values unchanged.

    Parameters
    ----------
    values : list, tuple or range
        Numbers, lists of numbers, or NumPy or CuPy arrays; or a window's name and its
        parameters.
    """
    import cupy

    if any(isinstance(each, str) for each in values):
        return tuple(map(number, values))  # a window's name and its parameters
    if is_on_device(values):
        return cupy.stack(
            [
                stacked(each) if isinstance(each, list | tuple) else cupy.asarray(each)
                for each in values
            ]
        )
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        return values
    return cupy.asarray(array) if array.dtype.kind in "biufc" else values


def is_on_device(value: Any) -> bool:
    """Return whether `value` is a CuPy array, or a list or tuple that contains one.

    Parameters
    ----------
    value : object
        Any value.
    """
    if isinstance(value, list | tuple):
        return any(map(is_on_device, value))
    return of_cupy(value)
