"""SciPy's result for NumPy arrays: its data type, shape and size."""

from __future__ import annotations

import math

import numpy as np

from .._rules import kind_of
from ._table import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._call import Call

_OF_THE_SAME_SHAPE = {"medfilt", "medfilt2d", "order_filter", "wiener", "detrend", "savgol_filter"}


def as_scipy_returns_it(result: np.ndarray, call: Call) -> Any:
    """Return the result with SciPy's data type; NotImplemented if it differs otherwise.

    Parameters
    ----------
    result : numpy.ndarray
        The array that CuPy computed.
    call : Call
        The call, with NumPy arrays.
    """
    dtype, shape = _dtype(call), _shape(call)
    if result.dtype.kind == "c" and dtype.kind != "c":
        return NotImplemented  # never drop an imaginary part
    if shape is not None and result.shape != shape:
        return NotImplemented
    return result.astype(dtype, copy=False)


def _dtype(call: Call) -> np.dtype[Any]:
    if call["output"] is not None and not call.is_default("output"):
        dtype: np.dtype[Any] = np.dtype(call["output"])
        return dtype
    if call.module == "ndimage" and any(kind_of(call[each]) == "c" for each in call.arrays):
        return np.result_type(np.asarray(call[call.first]).dtype, np.complex64)
    dtypes = [np.asarray(call[name]).dtype for name in _operands(call)]
    return TABLE[call.module][call.name](*dtypes)


def _operands(call: Call) -> list[str]:
    """Return the arrays whose types determine the result's type: for filters, the image only."""
    names = {"in1", "in2", "h", "x"} if call.module == "signal" else {call.first}
    found = [name for name in call.arrays if name in names and call[name] is not None]
    return found or [call.first]


def _shape(call: Call) -> tuple[int, ...] | None:
    """Return the shape of the result; None if no simple rule gives it."""
    x: tuple[int, ...] = np.shape(call[call.first])
    if call.module == "ndimage":
        return _of_an_image(call, x)
    if call.name in _OF_THE_SAME_SHAPE:
        return x
    if call["in2"] is not None and call["axes"] is None:
        return _convolved(x, np.shape(call["in2"]), call["mode"])
    if call.name == "resample":
        return _with_length(x, call["axis"], call["num"])
    return _transformed(call, x) if call.module == "fft" else None


def _of_an_image(call: Call, x: tuple[int, ...]) -> tuple[int, ...] | None:
    if call.name == "map_coordinates":
        return tuple(np.shape(call["coordinates"])[1:])
    if call.name == "zoom":
        return _zoomed(call)
    if call.name == "rotate" and call["reshape"]:
        return None
    shape = call["output_shape"]
    return x if shape is None else tuple(map(int, shape))


def _zoomed(call: Call) -> tuple[int, ...]:
    shape = np.shape(call["input"])
    factors = np.broadcast_to(np.asarray(call["zoom"], float), (len(shape),))
    return tuple(round(length * factor) for length, factor in zip(shape, factors, strict=True))


def _convolved(x: tuple[int, ...], y: tuple[int, ...], mode: str) -> tuple[int, ...]:
    if mode == "same":
        return x
    if mode == "valid":
        return tuple(abs(a - b) + 1 for a, b in zip(x, y, strict=True))
    return tuple(a + b - 1 for a, b in zip(x, y, strict=True))


def _with_length(shape: tuple[int, ...], axis: int, length: int) -> tuple[int, ...]:
    new = list(shape)
    new[axis] = int(length)
    return tuple(new)


def result_size(call: Call) -> int:
    """Return the number of elements in the result, or an upper bound close to it.

    Parameters
    ----------
    call : Call
        The call, with NumPy arrays.
    """
    x = np.asarray(call[call.first])
    if call.name == "zoom":
        return math.prod(_zoomed(call))
    if call.name == "rotate":
        return 2 * x.size if call["reshape"] else x.size
    if call["output_shape"] is not None:
        return int(math.prod(call["output_shape"]))
    if call["in2"] is not None:
        other = np.shape(call["in2"])
        return math.prod(int(a + b) for a, b in zip(x.shape, other, strict=False))
    if call.name in ("upfirdn", "resample_poly"):
        return int(np.size(call["x"]) * call["up"] / call["down"]) + 1
    if call["num"] is not None:  # resample
        return int(x.size // x.shape[call["axis"]] * call["num"])
    if call["N"] is not None:  # hilbert
        return 2 * math.prod(_with_length(x.shape, call["axis"], call["N"]))
    # The factor of 2 accounts for transforms of real numbers, which store half of the spectrum.
    return 2 * math.prod(_transformed(call, x.shape)) if call.module == "fft" else x.size


def _transformed(call: Call, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a transform of an array of `shape`."""
    one = call["axis"] is not None
    axes, lengths = (call["axis"], call["n"]) if one else (call["axes"], call["s"])
    if axes is None:
        axes = range(-(len(shape) if lengths is None else np.size(lengths)), 0)
    axes = [int(each) for each in np.atleast_1d(axes)]
    new, last = list(shape), axes[-1]
    if lengths is not None:
        for axis, length in zip(axes, np.atleast_1d(lengths), strict=True):
            new[axis] = shape[axis] if length == -1 else int(length)
    elif call.name.startswith(("irfft", "hfft")):
        new[last] = 2 * (shape[last] - 1)
    if call.name.startswith(("rfft", "ihfft")):
        new[last] = new[last] // 2 + 1
    return tuple(new)
