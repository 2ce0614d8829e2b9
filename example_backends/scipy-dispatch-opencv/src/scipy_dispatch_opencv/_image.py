"""Images as SciPy and OpenCV see them: data types, borders, and where to put the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

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
FLOATS = ("float32", "float64")
ORDERED = ("uint8", "uint16", "int16", *FLOATS)

Operation = Callable[[Any, int], Any]
"""Takes an image and OpenCV's number for a border, and returns an image of the same shape."""


def why_not(
    image: Any, output: Any, mode: Any, cval: Any, dtypes: tuple[str, ...], **neutral: Any
) -> str:
    """Return why OpenCV would not give SciPy's result for an image, or an empty text.

    `neutral` are other parameters, which have to be None; ``order`` and ``origin``, 0.
    """
    if type(image) is not np.ndarray:
        return f"the input is a {type(image).__name__}, not a numpy.ndarray"
    if image.ndim != 2 or not 0 < image.size < 2**31:
        return f"OpenCV takes images, not arrays of shape {image.shape}"
    if not (image.dtype.isnative and image.dtype.name in dtypes):
        return f"OpenCV has no {image.dtype} with SciPy's results here, only {', '.join(dtypes)}"
    if not isinstance(mode, str) or mode not in BORDERS:
        return f"OpenCV has no border mode={mode!r} for both axes"
    for name, value in neutral.items():
        if value is not None and (name not in ("order", "origin") or np.any(value)):
            return f"OpenCV has nothing like {name}="
    if isinstance(output, np.ndarray):
        if type(output) is not np.ndarray or (output.dtype, output.shape) != (
            *(image.dtype, image.shape),
        ):
            return "the output is not like the input"
    elif output is not None and output != image.dtype:
        return f"OpenCV's output has the data type of the input, not {output!r}"
    if BORDERS[mode] == cv2.BORDER_CONSTANT and not _holds(image.dtype, cval):
        return f"no {image.dtype} is cval={cval!r}"
    if image.dtype.kind == "f" and not cv2.checkRange(image)[0]:
        return "the image has infinite values or NaN"
    return ""


def _holds(dtype: np.dtype[Any], value: Any) -> bool:
    if not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    if dtype.kind == "f":
        return bool(abs(value) <= np.finfo(dtype).max)
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max and value == int(value))


def run(
    operation: Operation,
    image: Any,
    margin: tuple[int, int],
    mode: str,
    cval: float,
    own_borders: tuple[int, ...] = OWN_BORDERS,
) -> Any:
    """Return the result of an operation on an image that goes on behind its borders.

    Parameters
    ----------
    operation : callable
        The filter.
    image : numpy.ndarray
        The image.
    margin : tuple of int
        How many rows and columns behind the border it reads.
    mode, cval
        As in SciPy.
    own_borders : tuple of int, optional
        The borders that the filter has itself; for all others the image is enlarged.
    """
    border = BORDERS[mode]
    if border in own_borders:
        return operation(image, border)
    rows, columns = margin
    large = cv2.copyMakeBorder(image, rows, rows, columns, columns, border, value=float(cval))
    result = operation(large, cv2.BORDER_REPLICATE)
    return result[rows : rows + image.shape[0], columns : columns + image.shape[1]].copy()


def deliver(result: Any, output: Any) -> Any:
    """Return the result, or the array that the caller gave for it."""
    if not isinstance(output, np.ndarray):
        return result
    output[...] = result
    return output


def pair(value: Any) -> tuple[Any, Any] | None:
    """Return the values of a parameter for both axes; None if there are others."""
    values = list(value) if np.iterable(value) else [value, value]
    return (values[0], values[1]) if len(values) == 2 else None
