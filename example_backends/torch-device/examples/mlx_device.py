"""A device of MLX's arrays: `pip install 'mlx[cpu]'` on Linux, `pip install mlx` on a Mac.

`python examples/train.py mlp mlx` trains a network on the CPU and on the device.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import torch

from torch_device import BackendEnvironment

aten = torch.ops.aten


def to_data(tensor: torch.Tensor) -> mx.array:
    """Return a tensor of the CPU as an array; MLX reads it from the start of its memory."""
    if tensor.dtype is torch.complex128:
        raise NotImplementedError("MLX has no complex128")
    return mx.array(tensor.clone(), mx.float64 if tensor.dtype is torch.float64 else None)


def to_torch(array: mx.array) -> torch.Tensor:
    """Return an array as a tensor of the CPU."""
    try:
        return torch.from_dlpack(array)
    except ValueError:  # of some views there is no capsule; NumPy has fewer dtypes
        return torch.from_numpy(np.array(array))


def axes(x: Any, dim: Any) -> Any:
    """Return the dimensions of a reduction as MLX takes them: all of them are None."""
    return None if dim == [] or not x.ndim else dim


def make_environment() -> BackendEnvironment:
    """Return the device; MLX has its streams by thread, and autograd's thread would have none."""
    made = BackendEnvironment("mlx", mx.array, to_data, to_torch, backward_in_thread=False)
    op: Any = made.register_op
    for name in ("tanh", "exp", "log", "sqrt", "rsqrt", "abs", "sigmoid", "erf"):
        op(getattr(aten, name).default, getattr(mx, name))
    op(aten.neg.default, mx.negative)
    op([aten.mul.Tensor, aten.mul.Scalar], mx.multiply)
    op([aten.div.Tensor, aten.div.Scalar], mx.divide)
    op(aten.add.Tensor, lambda x, y, alpha=1: x + y * alpha)
    op(aten.sub.Tensor, lambda x, y, alpha=1: x - y * alpha)
    op([aten.mm.default, aten.bmm.default], mx.matmul)
    op(aten.addmm.default, lambda b, x, y, beta=1, alpha=1: b * beta + (x @ y) * alpha)
    op(aten.relu.default, lambda x: mx.maximum(x, 0))
    op(aten.where.self, mx.where)
    op(
        aten.sum.dim_IntList,
        lambda x, dim, keepdim=False, dtype=None: mx.sum(x, axes(x, dim), keepdim),
    )
    op(aten._softmax.default, lambda x, dim, half_to_float: mx.softmax(x, axes(x, dim)))
    op(aten.expand.default, mx.broadcast_to)
    op(aten.as_strided.default, lambda x, *layout: mx.as_strided(mx.contiguous(x), *layout))
    made.register_default_decompositions()
    return made
