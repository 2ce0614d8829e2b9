"""The negative log likelihood of classes, in which cross entropy ends."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register it for the functions of an array library."""
    op = environment.register_op
    is_numpy = xp.__name__ == "numpy"

    def classes(x: Any, target: Any, weight: Any, ignored: int) -> tuple[Any, Any]:
        """Return the index of each element's class, and its weight."""
        index = xp.where(target == ignored, 0, target)
        if is_numpy and index.size and not 0 <= index.min() <= index.max() < x.shape[-1]:
            raise IndexError(f"a target is out of bounds: there are {x.shape[-1]} classes")
        found = xp.ones((), x.dtype) if weight is None else weight[index]
        return index, xp.where(target == ignored, 0, found).astype(x.dtype)

    def last(x: Any) -> Any:
        return x if x.ndim < 2 else xp.moveaxis(x, 1, -1)

    @op([aten.nll_loss_forward.default, aten.nll_loss2d_forward.default])
    def forward(x: Any, target: Any, weight: Any, reduction: int, ignored: int) -> Any:
        x = last(x)
        index, weights = classes(x, target, weight, ignored)
        picked = xp.take_along_axis(x, index.reshape(*x.shape[:-1], 1), axis=-1)
        found = -picked.reshape(index.shape) * weights
        found = xp.where(weights == 0, 0, found)  # also where an ignored element is infinite
        if reduction == 0 and x.ndim > 1:
            return found, xp.zeros((), x.dtype)
        total = xp.sum(weights)
        found = xp.sum(found)
        return (found / total if reduction == 1 else found), total

    @op([aten.nll_loss_backward.default, aten.nll_loss2d_backward.default])
    def backward(
        g: Any, x: Any, target: Any, weight: Any, reduction: int, ignored: int, total: Any
    ) -> Any:
        moved = last(x)
        index, weights = classes(moved, target, weight, ignored)
        values = -g * weights
        if reduction == 1:
            values = values / total
        values = xp.broadcast_to(values, index.shape).reshape(*moved.shape[:-1], 1)
        chosen = index.reshape(values.shape) == xp.arange(moved.shape[-1])
        found = xp.where(chosen, values, xp.zeros((), x.dtype))
        return found if x.ndim < 2 else xp.moveaxis(found, -1, 1)
