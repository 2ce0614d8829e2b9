"""Conversions, for functions that CuPy does not have: ``backend_opts(fallback="convert")``.

Each copies between the GPU and the memory of the processor, and waits for the GPU.
"""

from __future__ import annotations

from scipy_dispatch.conversions import from_scipy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np


def to_default(x: Any) -> np.ndarray:
    """Return a NumPy array with the elements of a CuPy array."""
    array: np.ndarray = x.get()
    return array


def from_default(value: Any) -> Any:
    """Return a result of SciPy with CuPy arrays; numbers become arrays without dimensions."""
    return from_scipy(value, _from_array)


def copy_into(original: Any, converted: np.ndarray) -> None:
    """Write what SciPy has written into a NumPy array into the caller's CuPy array."""
    original[...] = _from_array(converted)


def _from_array(array: np.ndarray) -> Any:
    """Return a CuPy array with the elements of a NumPy array.

    Raises
    ------
    NotImplementedError
        If CuPy has no such numbers.
    """
    import cupy

    try:
        return cupy.asarray(array)
    except ValueError as error:
        raise NotImplementedError(f"SciPy's result is of {array.dtype}: {error}") from None
