"""Arrays with units, for all functions of scipy_dispatch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import scipy.ndimage

from spatch_core import BackendImplementation

backend = BackendImplementation("units")


@dataclass(eq=False)
class Quantity:
    """An array with a unit; that of pure numbers is ``"1"``."""

    values: Any
    unit: str = "1"


def to_numbers(quantity: Quantity) -> Any:
    """Return the array for SciPy, which would lose a unit: then None, which says "cannot"."""
    return quantity.values if quantity.unit == "1" else None


def from_numbers(array: Any) -> Quantity:
    """Return what SciPy has made of pure numbers."""
    return Quantity(array)


@backend.implements("scipy_dispatch.ndimage:gaussian_filter")
def gaussian_filter(input: Quantity, sigma: Any, *args: Any, **kwargs: Any) -> Any:
    """Keeps the unit."""
    if not isinstance(input, Quantity):  # a quantity is the output, for example
        return NotImplemented
    return Quantity(scipy.ndimage.gaussian_filter(input.values, sigma, *args, **kwargs), input.unit)
