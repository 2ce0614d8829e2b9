"""Conversions of SciPy's results, for backends that convert arrays.

A backend that has ``to_default`` and ``from_default`` serves every function that it does not
implement, if the user chooses ``backend_opts(fallback="convert")``.
"""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["from_scipy"]


def from_scipy(value: Any, convert: Callable[[np.ndarray], Any]) -> Any:
    """Return an object that SciPy has returned with other arrays; for ``from_default``.

    Parameters
    ----------
    value : object
        An array or a number of NumPy; an object with arrays as attributes, such as
        `scipy.signal.place_poles` returns; anything else is returned as it is.
    convert : callable
        Converts an array of numbers or booleans.

    Returns
    -------
    object
        Numbers become arrays without dimensions, and arrays of objects lists.

    Examples
    --------
    >>> from_scipy(np.float64(2), repr)
    'array(2.)'
    >>> from_scipy(np.array([np.arange(2), None]), repr)
    ['array([0, 1])', None]
    """
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind != "O":
            return convert(np.asarray(value)) if value.dtype.kind in "biufc" else value
        items = value.tolist()
        listed = isinstance(items, list)
        return [from_scipy(each, convert) for each in items] if listed else items
    if isinstance(value, dict):
        # A class of SciPy's: Python's own dictionaries are converted before.
        result = type(value)()
        result.update({key: from_scipy(each, convert) for key, each in value.items()})
        return result
    if type(value).__name__ == "Bunch":
        return type(value)(**{key: from_scipy(each, convert) for key, each in vars(value).items()})
    return value
