"""Convolutions, as products of matrices."""

from __future__ import annotations

from typing import Any

import torch

from .windows import everywhere, for_each_dimension, scattered, sizes_of, windows

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op

    def padded(x: Any, padding: Any) -> Any:
        if not any(padding):
            return x
        return xp.pad(x, [(0, 0), (0, 0), *((each, each) for each in padding)])

    def cut(x: Any, padding: Any) -> Any:
        part = tuple(slice(p, n - p) for p, n in zip(padding, x.shape[2:], strict=True))
        return x[everywhere(part)]

    def columns(
        x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int, sizes: Any = None
    ) -> Any:
        """Return the windows as a matrix for each group: (group, channel * kernel, places)."""
        found = windows(xp, padded(x, padding), w.shape[2:], stride, dilation, sizes)
        count, batch, channels = found.shape[:3]
        found = found.reshape(count, batch, groups, channels // groups, -1)
        found = xp.transpose(found, (2, 3, 0, 1, 4))
        return found.reshape(groups, channels // groups * count, -1)

    def forward(
        x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int, sizes: Any = None
    ) -> Any:
        sizes = sizes or sizes_of(padded_shape(x, padding), w.shape[2:], stride, dilation)
        matrix = w.reshape(groups, w.shape[0] // groups, -1)
        found = xp.matmul(matrix, columns(x, w, stride, padding, dilation, groups, sizes))
        found = found.reshape(w.shape[0], x.shape[0], *sizes)
        return xp.swapaxes(found, 0, 1)

    def padded_shape(x: Any, padding: Any) -> Any:
        return [n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]

    def grad_input(
        g: Any, w: Any, shape: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        """Return the gradient of the input; it is also the transposed convolution."""
        channels, kernel = shape[1], w.shape[2:]
        count = 1
        for each in kernel:
            count *= each
        matrix = xp.swapaxes(w.reshape(groups, w.shape[0] // groups, -1), 1, 2)
        flat = xp.swapaxes(g, 0, 1).reshape(groups, w.shape[0] // groups, -1)
        found = xp.matmul(matrix, flat)
        found = found.reshape(groups, channels // groups, count, g.shape[0], *g.shape[2:])
        order = (2, 3, 0, 1, *range(4, found.ndim))
        found = xp.transpose(found, order).reshape(count, g.shape[0], channels, *g.shape[2:])
        full = (*shape[:2], *(n + 2 * p for n, p in zip(shape[2:], padding, strict=True)))
        return cut(scattered(xp, found, full, kernel, stride, dilation), padding)

    def grad_weight(
        g: Any, x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        flat = xp.swapaxes(g, 0, 1).reshape(groups, w.shape[0] // groups, -1)
        cols = columns(x, w, stride, padding, dilation, groups, g.shape[2:])
        return xp.matmul(flat, xp.swapaxes(cols, 1, 2)).reshape(w.shape)

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
