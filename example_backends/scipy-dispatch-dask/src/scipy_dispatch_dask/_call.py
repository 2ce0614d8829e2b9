"""Calls of functions of `scipy_dispatch`, and whether their arguments are Dask arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from scipy_dispatch.calls import BoundCall as Call

from ._dask import Array, da

__all__ = [
    "Call",
    "dispatchable",
    "has_unknown_chunks",
    "holds_dask_array",
    "is_dask_array",
    "is_lazy_number",
    "kept",
]


def dispatchable(identifier: str) -> Callable[..., Any]:
    """Return the function that an identifier names, such as ``"scipy_dispatch.ndimage:sobel"``."""
    module, _, name = identifier.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def kept(call: Call) -> Call:
    """Return a call with copies of its arrays, which the caller cannot change."""
    try:
        copies = {name: _copied(value) for name, value in call.arguments.items()}
    except RecursionError:  # a list that contains itself
        return call
    return Call(call.function, copies)


def is_dask_array(value: Any) -> bool:
    """Return whether `value` is a Dask array."""
    return isinstance(value, da.Array)


def is_lazy_number(value: Any) -> bool:
    """Return whether `value` is a number not yet computed: a Dask array without dimensions."""
    return is_dask_array(value) and value.ndim == 0


def holds_dask_array(value: Any) -> bool:
    """Return whether `value` is a Dask array, or a list or tuple that contains one."""
    if not isinstance(value, list | tuple):
        return is_dask_array(value)
    try:
        return any(holds_dask_array(each) for each in value)
    except RecursionError:  # a list that contains itself
        return False


def has_unknown_chunks(x: Array) -> bool:
    """Return whether some axis of `x` has a length that only computing it would show."""
    return any(math.isnan(length) for length in x.shape)


def _copied(value: Any) -> Any:
    """Return `value` with copies of all NumPy arrays in it, in C order.

    Dask names arrays by hashing their bytes in memory order, which are the same for an array and
    its transpose.
    """
    if isinstance(value, np.ma.MaskedArray):
        return value.copy(order="C")
    if isinstance(value, np.ndarray):
        return np.array(value, order="C", subok=not isinstance(value, np.memmap))
    if type(value) is dict:
        return {key: _copied(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    return value
