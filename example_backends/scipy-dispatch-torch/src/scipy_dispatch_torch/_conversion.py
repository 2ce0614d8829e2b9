"""Conversions, for functions that PyTorch does not have: ``backend_opts(fallback="convert")``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from scipy_dispatch.conversions import from_scipy

if TYPE_CHECKING:
    import numpy as np


def to_default(x: Tensor) -> np.ndarray[Any, Any]:
    """Return a NumPy array with the elements of a tensor.

    Raises
    ------
    NotImplementedError
        If the result would lose what the tensor has: a gradient, or its device.
    """
    if x.requires_grad:
        raise NotImplementedError("it requires a gradient; pass x.detach()")
    if x.device.type != "cpu":
        raise NotImplementedError(f"it is on {x.device}; pass x.cpu()")
    if x.dtype == torch.bfloat16:
        raise NotImplementedError("NumPy has no bfloat16; pass x.float()")
    array: np.ndarray[Any, Any] = x.numpy().copy()
    return array


def from_default(value: Any) -> Any:
    """Return a result of SciPy with tensors; numbers become tensors without dimensions."""
    return from_scipy(value, lambda array: torch.from_numpy(array.copy()))


def copy_into(original: Tensor, converted: np.ndarray[Any, Any]) -> None:
    """Write what SciPy has written into a NumPy array into the caller's tensor."""
    original.copy_(torch.from_numpy(converted))
