"""Convolutions of several channels, for which XLA is faster than products of matrices."""

from __future__ import annotations

from typing import Any

import jax
import torch

from .windows import check_sizes, for_each_dimension

aten = torch.ops.aten


def register(environment: Any) -> None:
    """Register them where they are faster; the others stay products of matrices."""
    op = environment.register_op
    product = environment.operators[aten.convolution.default]
    product_backward = environment.operators[aten.convolution_backward.default]

    def is_wide(x: Any, w: Any, transposed: bool) -> bool:
        is_batch = x.ndim == w.ndim
        return is_batch and w.shape[1] > 1 and x.dtype.kind == "f" and not transposed

    def convolved(x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
        stride, padding, dilation = for_each_dimension(w.ndim - 2, stride, padding, dilation)
        return jax.lax.conv_general_dilated(
            x, w, stride, [(n, n) for n in padding],
            rhs_dilation=dilation, feature_group_count=groups,
        )  # fmt: skip

    @op(aten.convolution.default)
    def convolution(
        x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
        output_padding: Any, groups: int,
    ) -> Any:  # fmt: skip
        if not is_wide(x, w, transposed):
            options = (stride, padding, dilation, transposed, output_padding, groups)
            return product(x, w, bias, *options)
        found = convolved(x, w, stride, padding, dilation, groups)
        check_sizes(found.shape[2:], x.shape[2:], w.shape[2:])
        return found if bias is None else found + bias.reshape(-1, *(1,) * (w.ndim - 2))

    @op(aten.convolution_backward.default)
    def convolution_backward(
        g: Any, x: Any, w: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
        transposed: bool, output_padding: Any, groups: int, mask: Any,
    ) -> Any:  # fmt: skip
        if not is_wide(x, w, transposed):
            options = (stride, padding, dilation, transposed, output_padding, groups, mask)
            return product_backward(g, x, w, bias_sizes, *options)
        _, pull = jax.vjp(lambda x, w: convolved(x, w, stride, padding, dilation, groups), x, w)
        of_bias = g.sum((0, *range(2, g.ndim)))
        found = (*pull(g), of_bias)
        return tuple(
            each if is_wanted else None for each, is_wanted in zip(found, mask, strict=True)
        )
