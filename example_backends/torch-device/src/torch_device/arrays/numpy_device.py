"""The device of NumPy's arrays."""

from __future__ import annotations

from contextvars import Context
from typing import Any

import numpy as np
import torch

from ..environment import BackendEnvironment
from . import linear_scipy, register


def make_environment(name: str = "npy", *, conversions: bool = True) -> BackendEnvironment:
    """Return the device of NumPy's arrays.

    Parameters
    ----------
    name : str, default: "npy"
        The name of the device.
    conversions : bool, default: True
        Whether operators without an implementation run on the CPU.
    """
    environment = BackendEnvironment(
        name, np.ndarray, to_data, to_torch, settle=np.asarray, conversions=conversions
    )

    @environment.register_op(torch.ops.aten.as_strided.default)
    def as_strided(x: Any, size: Any, stride: Any, offset: int = 0) -> Any:
        if 0 in size:
            return np.empty(size, x.dtype)
        if not x.size:  # NumPy checks no bounds then
            raise RuntimeError("setStorage: the sizes and strides are out of bounds of the storage")
        if not x.flags.c_contiguous:
            x = np.ascontiguousarray(x)
        step = x.itemsize
        return np.ndarray(size, x.dtype, x, offset * step, [each * step for each in stride])

    @environment.register_op(torch.ops.aten.as_strided_scatter.default)
    def as_strided_scatter(x: Any, source: Any, size: Any, stride: Any, offset: int = 0) -> Any:
        x = np.array(x, order="C")
        as_strided(x, size, stride, offset)[...] = source
        return x

    register(environment, np)
    linear_scipy.register(environment)
    environment.run_in_context(environment.operators, _quiet)
    environment.register_default_decompositions()
    return environment


def _quiet() -> Context:
    """Return a context in which NumPy does not warn of what PyTorch computes silently."""
    made = Context()
    made.run(np.seterr, all="ignore")
    return made


def to_data(tensor: torch.Tensor) -> Any:
    """Return a tensor of the CPU as an array, which shares nothing with it."""
    if tensor.dtype is torch.bfloat16:
        raise NotImplementedError("NumPy has no bfloat16")
    return tensor.detach().numpy().copy()


def to_torch(array: Any) -> torch.Tensor:
    """Return an array as a tensor of the CPU, which can be resized and shares nothing with it."""
    return torch.from_numpy(np.array(array)).clone()
