"""Convolutions, as products of matrices."""

from __future__ import annotations

import math
from typing import Any

import torch

from .windows import check_sizes, for_each_dimension, scattered, sizes_of, windows

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op

    # Within, the batch is the last dimension: windows are then long runs of elements.
    def channels_first(x: Any) -> Any:
        return xp.moveaxis(x, 0, -1)

    def as_rows(x: Any, groups: int) -> Any:
        """Return a matrix for each group, with a row for each channel."""
        channels = x.shape[1] // groups
        return channels_first(x).reshape(groups, channels, math.prod(x.shape) // x.shape[1])

    def as_matrix(w: Any, groups: int) -> Any:
        """Return the weights as a matrix for each group: (group, out, place * channel)."""
        found = w.reshape(groups, w.shape[0] // groups, w.shape[1], math.prod(w.shape[2:]))
        return xp.swapaxes(found, 2, 3).reshape(*found.shape[:2], -1)

    def columns(
        x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int, sizes: Any
    ) -> Any:
        """Return the windows as a matrix for each group: (group, place * channel, element)."""
        x = channels_first(x)[None]
        if any(padding):
            x = xp.pad(x, [(0, 0), (0, 0), *((each, each) for each in padding), (0, 0)])
        found = windows(xp, x, w.shape[2:], stride, dilation, sizes)
        channels = x.shape[1] // groups
        last = math.prod(sizes) * x.shape[-1]
        found = found.reshape(len(found), groups, channels, last)
        return xp.swapaxes(found, 0, 1).reshape(groups, len(found) * channels, last)

    def forward(
        x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int, sizes: Any = None
    ) -> Any:
        full = [n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]
        sizes = sizes or sizes_of(full, w.shape[2:], stride, dilation)
        check_sizes(sizes, full, w.shape[2:])
        matrix = columns(x, w, stride, padding, dilation, groups, sizes)
        found = xp.matmul(as_matrix(w, groups), matrix)
        return xp.moveaxis(found.reshape(w.shape[0], *sizes, x.shape[0]), -1, 0)

    def grad_input(
        g: Any, w: Any, shape: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        """Return the gradient of the input; it is also the transposed convolution."""
        found = xp.matmul(xp.swapaxes(as_matrix(w, groups), 1, 2), as_rows(g, groups))
        count, batch, sizes = math.prod(w.shape[2:]), g.shape[0], g.shape[2:]
        found = xp.swapaxes(found.reshape(groups, count, w.shape[1], found.shape[-1]), 0, 1)
        found = found.reshape(count, 1, shape[1], *sizes, batch)
        full = (1, shape[1], *(n + 2 * p for n, p in zip(shape[2:], padding, strict=True)), batch)
        found = scattered(xp, found, full, w.shape[2:], stride, dilation)[0]
        inner = (slice(p, p + n) for p, n in zip(padding, shape[2:], strict=True))
        part = (slice(None), *inner)
        return xp.moveaxis(found[part], -1, 0)

    def grad_weight(
        g: Any, x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        matrix = columns(x, w, stride, padding, dilation, groups, g.shape[2:])
        found = xp.matmul(as_rows(g, groups), xp.swapaxes(matrix, 1, 2))
        found = found.reshape(*found.shape[:2], math.prod(w.shape[2:]), w.shape[1])
        return xp.swapaxes(found, 2, 3).reshape(w.shape)

    @op(aten.convolution.default)
    def convolution(
        x: Any,
        w: Any,
        bias: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        transposed: bool,
        output_padding: Any,
        groups: int,
    ) -> Any:
        stride, padding, dilation, output_padding = for_each_dimension(
            w.ndim - 2, stride, padding, dilation, output_padding
        )
        alone = x.ndim == w.ndim - 1
        x = x[None] if alone else x
        if transposed:
            shape = (
                x.shape[0],
                w.shape[1] * groups,
                *(
                    (n - 1) * s - 2 * p + d * (k - 1) + o + 1
                    for n, s, p, d, k, o in zip(
                        *(x.shape[2:], stride, padding, dilation, w.shape[2:], output_padding),
                        strict=True,
                    )
                ),
            )
            found = grad_input(x, w, shape, stride, padding, dilation, groups)
        else:
            found = forward(x, w, stride, padding, dilation, groups)
        if bias is not None:
            found = found + bias.reshape(-1, *(1,) * (w.ndim - 2))
        return found[0] if alone else found

    @op(aten.convolution_backward.default)
    def convolution_backward(
        g: Any,
        x: Any,
        w: Any,
        bias_sizes: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        transposed: bool,
        output_padding: Any,
        groups: int,
        mask: Any,
    ) -> Any:
        stride, padding, dilation = for_each_dimension(w.ndim - 2, stride, padding, dilation)
        options = (stride, padding, dilation, groups)
        of_x = of_w = of_bias = None
        if mask[0]:
            # With an output padding, more windows would fit than the input has elements.
            of_x = (
                forward(g, w, *options, x.shape[2:])
                if transposed
                else grad_input(g, w, x.shape, *options)
            )
        if mask[1]:
            of_w = grad_weight(x, g, w, *options) if transposed else grad_weight(g, x, w, *options)
        if mask[2]:
            of_bias = xp.sum(g, axis=(0, *range(2, g.ndim)))
        return of_x, of_w, of_bias
