"""Images as SciPy and OpenCV see them: arguments, borders, and where to put the result."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeAlias

import cv2
import numpy as np
from scipy import ndimage

from scipy_dispatch.calls import Deferred
from scipy_dispatch.planning import Plan, Prepared

BORDERS = {
    "reflect": cv2.BORDER_REFLECT,
    "grid-mirror": cv2.BORDER_REFLECT,
    "mirror": cv2.BORDER_REFLECT_101,
    "nearest": cv2.BORDER_REPLICATE,
    "constant": cv2.BORDER_CONSTANT,
    "grid-constant": cv2.BORDER_CONSTANT,
    "wrap": cv2.BORDER_WRAP,
    "grid-wrap": cv2.BORDER_WRAP,
}
"""SciPy's modes; OpenCV's filters know the first four themselves."""
OWN_BORDERS = (cv2.BORDER_REFLECT, cv2.BORDER_REFLECT_101, cv2.BORDER_REPLICATE)

COMMON = {"input", "output", "mode", "cval"}
"""The parameters that are read here, for all functions."""

Operation: TypeAlias = Callable[[Any], Any]
"""Takes an image, and returns the result."""


def bound(name: str, dtypes: tuple[str, ...], make: Callable[..., Operation]) -> Plan:
    """Return the plan of a function of `scipy.ndimage`, with SciPy's parameters.

    `make` has those of SciPy's parameters that OpenCV serves. It returns the operation, or raises
    `Deferred` with the reason to defer. All other parameters must have SciPy's defaults.
    """
    scipys = signature(getattr(ndimage, name))
    served = signature(make).parameters.keys()

    @wraps(make)
    def plan(*args: Any, **kwargs: Any) -> Prepared:
        try:
            call = scipys.bind(*args, **kwargs)
            call.apply_defaults()
            arguments = call.arguments
            require_image(arguments, dtypes)
            for parameter in sorted(arguments.keys() - served - COMMON):
                value, default = arguments[parameter], scipys.parameters[parameter].default
                if value is not default and (default is None or np.any(value != default)):
                    raise Deferred(f"OpenCV has nothing like {parameter}=")
            operation = make(**{each: arguments[each] for each in served})
        except (TypeError, ValueError) as error:  # SciPy reports the arguments
            return f"the arguments do not fit: {error}"

        def compute() -> Any:
            result, output = operation(arguments["input"]), arguments["output"]
            if not isinstance(output, np.ndarray):
                return result
            output[...] = result
            return output

        return compute

    plan.__signature__ = scipys  # type: ignore[attr-defined]  # `inspect` reads it
    return plan


def require_image(arguments: dict[str, Any], dtypes: tuple[str, ...]) -> None:
    """Raise Deferred where OpenCV would not give SciPy's result for an image."""
    image, output, mode, cval = (arguments[name] for name in ("input", "output", "mode", "cval"))
    reason = ""
    if type(image) is not np.ndarray:
        reason = f"the input is a {type(image).__name__}, not a numpy.ndarray"
    elif image.ndim != 2 or not 0 < image.size < 2**31:
        reason = f"OpenCV takes images, not arrays of shape {image.shape}"
    elif not (image.dtype.isnative and image.dtype.name in dtypes):
        reason = f"OpenCV has no {image.dtype} with SciPy's results here, only {', '.join(dtypes)}"
    elif not isinstance(mode, str) or mode not in BORDERS:
        reason = f"OpenCV has no border mode={mode!r} for both axes"
    elif type(output) is np.ndarray and (output.dtype, output.shape) != (image.dtype, image.shape):
        reason = "the output is not like the input"
    elif type(output) is not np.ndarray and output is not None and output != image.dtype:
        reason = f"OpenCV's output has the data type of the input, not {output!r}"
    elif BORDERS[mode] == cv2.BORDER_CONSTANT and not _holds(image.dtype, cval):
        reason = f"no {image.dtype} is cval={cval!r}"
    elif image.dtype.kind == "f" and not cv2.checkRange(image)[0]:
        reason = "the image has infinite values or NaN"
    if reason:
        raise Deferred(reason)


def _holds(dtype: np.dtype[Any], value: Any) -> bool:
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max and (dtype.kind == "f" or value == int(value)))


def bordered(
    function: Callable[..., Any],
    shape: tuple[int, ...],
    mode: str,
    cval: float,
    own_borders: tuple[int, ...] = OWN_BORDERS,
) -> Operation:
    """Return a function of OpenCV as an operation with SciPy's borders.

    `function` takes an image and ``borderType=``, OpenCV's number for a border. The image is
    enlarged by half a window of `shape` for all borders but `own_borders`.
    """
    border = BORDERS[mode]
    if border in own_borders:
        return lambda image: function(image, borderType=border)
    rows, columns = (length // 2 for length in shape)

    def operation(image: Any) -> Any:
        sides = (rows, rows, columns, columns)
        large = cv2.copyMakeBorder(image, *sides, border, value=float(cval))
        result = function(large, borderType=cv2.BORDER_REPLICATE)
        return result[rows : rows + image.shape[0], columns : columns + image.shape[1]].copy()

    return operation


def pair(value: Any) -> tuple[Any, Any]:
    """Return the values of a parameter for both axes."""
    values = list(value) if np.iterable(value) else [value, value]
    if len(values) != 2:
        raise Deferred(f"{value!r} is not for two axes")
    return values[0], values[1]


def odd_sizes(size: Any) -> tuple[int, int]:
    """Return the rows and columns of a window, which have to be odd."""
    rows, columns = pair(size)
    if not all(isinstance(each, (int, np.integer)) for each in (rows, columns)):
        raise Deferred(f"size={size!r} is not whole")
    if not all(each > 0 and each % 2 for each in (rows, columns)):
        raise Deferred(f"a window of {size} pixels has no centre")
    return int(rows), int(columns)
