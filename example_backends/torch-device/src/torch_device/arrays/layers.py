"""What networks have layers of: normalization and losses."""

from __future__ import annotations

from typing import Any

import torch

from .._decompositions import batch_norm_in_place

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register it for the functions of an array library."""
    op = environment.register_op
    _register_batches(environment, xp)
    _register_losses(environment, xp)

    @op(aten.native_layer_norm.default)
    def layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
        axis = tuple(range(-len(shape), 0))
        mean = xp.mean(x, axis=axis, keepdims=True)
        scale = 1 / xp.sqrt(xp.var(x, axis=axis, keepdims=True) + xp.asarray(eps, x.dtype))
        found = (x - mean) * scale
        found = found if weight is None else found * weight
        return found if bias is None else found + bias, mean, scale

    @op(aten.native_layer_norm_backward.default)
    def layer_norm_backward(
        g: Any, x: Any, shape: Any, mean: Any, scale: Any, weight: Any, bias: Any, mask: Any
    ) -> Any:
        inner = tuple(range(-len(shape), 0))
        outer = tuple(range(x.ndim - len(shape)))
        normal = (x - mean) * scale
        weighted = g if weight is None else g * weight
        rest = weighted - xp.mean(weighted, axis=inner, keepdims=True)
        rest = rest - normal * xp.mean(weighted * normal, axis=inner, keepdims=True)
        return (
            scale * rest if mask[0] else None,
            xp.sum(g * normal, axis=outer) if mask[1] else None,
            xp.sum(g, axis=outer) if mask[2] else None,
        )


def _register_batches(environment: Any, xp: Any) -> None:
    op = environment.register_op

    def across(x: Any) -> tuple[Any, Any]:
        """Return all dimensions but that of the channels, and a shape of one of its rows."""
        return (0, *range(2, x.ndim)), (1, -1, *(1,) * (x.ndim - 2))

    @op(aten._native_batch_norm_legit_functional.default)
    def batch_norm(
        x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: Any, eps: Any
    ) -> Any:
        axes, row = across(x)
        running = mean, var
        if training:
            mean, var = xp.mean(x, axis=axes), xp.var(x, axis=axes)
            count = x.size / max(x.shape[1], 1)
            unbiased = var * (count / (count - 1) if count > 1 else float("nan"))
            if running[0] is not None:
                now = mean, unbiased
                running = tuple(
                    (1 - momentum) * a + momentum * b for a, b in zip(running, now, strict=True)
                )
        scale = 1 / xp.sqrt(var + xp.asarray(eps, var.dtype))
        saved = (mean, scale) if training else (xp.zeros(0, var.dtype),) * 2
        factor = scale if weight is None else scale * weight
        shift = -mean * factor if bias is None else bias - mean * factor
        return x * factor.reshape(row) + shift.reshape(row), *saved, *running

    op(aten._native_batch_norm_legit.no_stats)(
        lambda x, weight, bias, training, momentum, eps: batch_norm(
            x, weight, bias, None, None, training, momentum, eps
        )[:3]
    )

    for each in (aten.native_batch_norm.default, aten._native_batch_norm_legit.default):
        environment.register_kernel(each, batch_norm_in_place(environment))

    @op(aten.native_batch_norm_backward.default)
    def batch_norm_backward(
        g: Any,
        x: Any,
        weight: Any,
        running_mean: Any,
        running_var: Any,
        mean: Any,
        scale: Any,
        training: bool,
        eps: float,
        mask: Any,
    ) -> Any:
        axes, row = across(x)
        if not training:
            mean, scale = running_mean, 1 / xp.sqrt(running_var + xp.asarray(eps, x.dtype))
        normal = (x - mean.reshape(row)) * scale.reshape(row)
        of_bias = xp.sum(g, axis=axes)
        of_weight = xp.sum(g * normal, axis=axes)
        of_x = None
        if mask[0]:
            rest = g
            if training:
                count = x.size / max(x.shape[1], 1)
                rest = g - (of_bias.reshape(row) + normal * of_weight.reshape(row)) / count
            of_x = rest * (scale if weight is None else scale * weight).reshape(row)
        return of_x, of_weight if mask[1] else None, of_bias if mask[2] else None


def _register_losses(environment: Any, xp: Any) -> None:
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
        values = xp.where(target == ignored, 0, values)  # also if all are ignored
        values = xp.broadcast_to(values, index.shape).reshape(*moved.shape[:-1], 1)
        chosen = index.reshape(values.shape) == xp.arange(moved.shape[-1])
        found = xp.where(chosen, values, xp.zeros((), x.dtype))
        return found if x.ndim < 2 else xp.moveaxis(found, -1, 1)
