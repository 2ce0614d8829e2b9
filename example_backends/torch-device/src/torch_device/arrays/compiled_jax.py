"""Implementations that JAX compiles as one: an operator then is one call instead of ten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import torch

from .._schema import OMITTED

if TYPE_CHECKING:
    from collections.abc import Callable

aten = torch.ops.aten

OPERATORS = """
    convolution convolution_backward native_layer_norm native_layer_norm_backward
    _native_batch_norm_legit_functional _native_batch_norm_legit.no_stats
    native_batch_norm_backward max_pool2d_with_indices max_pool2d_with_indices_backward
    max_pool3d_with_indices max_pool3d_with_indices_backward avg_pool2d avg_pool2d_backward
    avg_pool3d avg_pool3d_backward _adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d
    adaptive_max_pool2d_backward adaptive_max_pool3d_backward nll_loss_forward nll_loss2d_forward
    nll_loss_backward nll_loss2d_backward addmm baddbmm sum.dim_IntList mean.dim var.correction
    var_mean.correction std.correction logsumexp _softmax _log_softmax _softmax_backward_data
    _log_softmax_backward_data linalg_vector_norm sigmoid sigmoid_backward tanh_backward silu relu
    threshold_backward gelu gelu_backward leaky_relu hardtanh elu softplus log_sigmoid_forward
    embedding_dense_backward slice_backward select_backward constant_pad_nd sort topk
    _thnn_fused_lstm_cell _thnn_fused_lstm_cell_backward_impl _thnn_fused_gru_cell
    _thnn_fused_gru_cell_backward ones_like zeros_like empty_like
    as_strided as_strided_scatter
"""
"""Those whose other arguments rarely change: each value of these is compiled by itself."""


def register(environment: Any) -> None:
    """Compile implementations that are registered, and those of lists of tensors."""
    for each in OPERATORS.split():
        packet, _, overload = each.partition(".")
        operator = getattr(getattr(aten, packet), overload or "default")
        environment.register_op(operator)(_compiled(environment.operators[operator], operator))
    _register_lists(environment)


def _compiled(function: Callable[..., Any], operator: Any) -> Callable[..., Any]:
    arguments = [each for each in operator._schema.arguments if each.name not in OMITTED]
    constant = [each for each in arguments if "Tensor" not in str(each.type)]
    compiled = jax.jit(
        function,
        static_argnums=[
            number
            for number, each in enumerate(arguments)
            if each in constant and not each.kwarg_only
        ],
        static_argnames=[each.name for each in constant if each.kwarg_only],
    )

    def call(*args: Any, **kwargs: Any) -> Any:
        return compiled(*[tuple(a) if a.__class__ is list else a for a in args], **kwargs)

    return call


def _register_lists(environment: Any) -> None:
    """Register what optimizers call, for all parameters at once."""

    def register(name: str, function: Callable[..., Any]) -> None:
        packet, overload = name.split(".")

        def each_of(*lists: Any, **kwargs: Any) -> Any:
            size = len(lists[0])
            rows = [a if isinstance(a, list) else [a] * size for a in lists]
            return [function(*row, **kwargs) for row in zip(*rows, strict=True)]

        operator = getattr(getattr(aten, f"_foreach_{packet}"), overload)
        environment.register_op(operator)(jax.jit(each_of))

    register("add.List", lambda x, y, alpha=1: x + y * alpha)
    register("add.Scalar", jnp.add)
    register("mul.List", jnp.multiply)
    register("mul.Scalar", jnp.multiply)
    register("div.ScalarList", jnp.divide)
    register("sqrt.default", jnp.sqrt)
    register("lerp.Scalar", lambda x, y, weight: x + weight * (y - x))
    register("addcmul.Scalar", lambda x, a, b, value=1: x + value * a * b)
    register("addcdiv.ScalarList", lambda x, a, b, value: x + value * (a / b))
