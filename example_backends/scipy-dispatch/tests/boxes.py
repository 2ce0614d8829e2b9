"""A type of arrays that a backend only converts, and calls with such arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from scipy_dispatch.conversions import from_scipy


class Box:
    """An array that SciPy cannot read."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def nbytes(self) -> int:
        return self.array.nbytes

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a box is not an array")


def to_default(box: Box) -> np.ndarray:
    return box.array.copy()


def from_default(value: Any) -> Any:
    return from_scipy(value, Box)


def copy_into(original: Box, converted: np.ndarray) -> None:
    original.array[...] = converted


DESCRIPTION = {
    "name": "boxes",
    "primary_types": [f"{__name__}:Box"],
    "to_default": to_default,
    "from_default": from_default,
    "copy_into": copy_into,
}


def boxed(value: Any) -> Any:
    """Return the value with arrays of numbers in boxes."""
    if isinstance(value, np.ndarray):
        return Box(value)
    if isinstance(value, (tuple, list)):
        return type(value)(map(boxed, value))
    if type(value) is dict:
        return {key: boxed(each) for key, each in value.items()}
    return value
