"""Arguments on the device, and what has to be passed otherwise than SciPy takes it."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call

_INTERPOLATION = {"affine_transform", "map_coordinates", "rotate", "shift", "zoom"}
_ITERATED = {"binary_erosion", "binary_dilation", "binary_opening", "binary_closing"}
# A pair of numbers is an interval here, no array.
_INTERVALS = {"find_peaks"}


def on_device(call: Call) -> Call:
    """Return `call` with arrays of CuPy where arrays may be, and as CuPy wants it.

    Parameters
    ----------
    call : Call
        The call, with arrays of NumPy's or of CuPy's.
    """
    moved = {
        name: _move(call.given[name], call.name not in _INTERVALS)
        for name in call.arrays
        if name in call.given
    }
    return _adapted(call.replaced(**moved))


def _move(value: Any, lists: bool) -> Any:
    import cupy

    if isinstance(value, np.ndarray):
        return cupy.asarray(value)
    if isinstance(value, tuple) and any(hasattr(each, "dtype") for each in value):
        return tuple(_move(each, lists) for each in value)  # a system, say
    if lists and isinstance(value, list | tuple):
        try:
            array = np.asarray(value)
        except (TypeError, ValueError):
            return value
        return cupy.asarray(array) if array.dtype.kind in "biufc" else value
    return value


def _adapted(call: Call) -> Call:
    if call.module != "ndimage":
        return call
    changes: dict[str, Any] = {}
    output = call["output"]
    if isinstance(output, str | np.dtype):
        # Some functions of CuPy take nothing but a type.
        changes["output"] = output = np.dtype(output).type
    x = call[call.first]
    if call.name in _INTERPOLATION and x.dtype.char not in "dD":
        # CuPy would compute in single precision, positions too. SciPy does not.
        changes[call.first] = x.astype(np.result_type(x.dtype, np.float64))
        changes["output"] = x.dtype.type if output is None else output
    if call.name in _ITERATED and call["iterations"] != 1:
        # The result is the same, and CuPy has no other way to iterate.
        changes["brute_force"] = True
    return call.replaced(**changes)
