"""Convolution, pooling and normalization."""

from __future__ import annotations

import itertools
from typing import Any

import torch

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op
    is_numpy = xp.__name__ == "numpy"

    def windows(x: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
        """Return the elements below each element of a kernel: (kernel..., batch, channel, out...)."""
        sizes = _sizes(x.shape[2:], kernel, stride, dilation)
        parts = []
        for place in itertools.product(*map(range, kernel)):
            part = tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, n, s in zip(place, dilation, sizes, stride, strict=True)
            )
            parts.append(x[(slice(None), slice(None), *part)])
        return xp.stack(parts)

    def scattered(parts: Any, shape: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
        """Return the sum of what lies below each element of a kernel: the opposite."""
        found = xp.zeros(shape, parts.dtype)
        sizes = parts.shape[3:]
        for number, place in enumerate(itertools.product(*map(range, kernel))):
            part = (
                slice(None),
                slice(None),
                *(
                    slice(p * d, p * d + (n - 1) * s + 1, s)
                    for p, d, n, s in zip(place, dilation, sizes, stride, strict=True)
                ),
            )
            if is_numpy:
                found[part] += parts[number]
            else:
                found = found.at[part].add(parts[number])
        return found

    def padded(x: Any, padding: Any) -> Any:
        if not any(padding):
            return x
        return xp.pad(x, [(0, 0), (0, 0), *((each, each) for each in padding)])

    def cut(x: Any, padding: Any) -> Any:
        part = tuple(slice(p, n - p) for p, n in zip(padding, x.shape[2:], strict=True))
        return x[(slice(None), slice(None), *part)]

    def columns(x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
        """Return the windows as a matrix for each group: (group, channel * kernel, places)."""
        found = windows(padded(x, padding), w.shape[2:], stride, dilation)
        count, batch, channels = found.shape[:3]
        found = found.reshape(count, batch, groups, channels // groups, -1)
        found = xp.transpose(found, (2, 3, 0, 1, 4))
        return found.reshape(groups, channels // groups * count, -1)

    def forward(x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
        sizes = _sizes(padded_shape(x, padding), w.shape[2:], stride, dilation)
        matrix = w.reshape(groups, w.shape[0] // groups, -1)
        found = xp.matmul(matrix, columns(x, w, stride, padding, dilation, groups))
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
        return cut(scattered(found, full, kernel, stride, dilation), padding)

    def grad_weight(
        g: Any, x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        flat = xp.swapaxes(g, 0, 1).reshape(groups, w.shape[0] // groups, -1)
        cols = columns(x, w, stride, padding, dilation, groups)
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
        stride, padding, dilation, output_padding = _equal(
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
        stride, padding, dilation = _equal(w.ndim - 2, stride, padding, dilation)
        options = (stride, padding, dilation, groups)
        of_x = of_w = of_bias = None
        if mask[0]:
            of_x = forward(g, w, *options) if transposed else grad_input(g, w, x.shape, *options)
        if mask[1]:
            of_w = grad_weight(x, g, w, *options) if transposed else grad_weight(g, x, w, *options)
        if mask[2]:
            of_bias = xp.sum(g, axis=(0, *range(2, g.ndim)))
        return of_x, of_w, of_bias

    def average(dims: int) -> Any:
        def pool(
            x: Any,
            kernel: Any,
            stride: Any = (),
            padding: Any = 0,
            ceil: bool = False,
            with_padding: bool = True,
            divisor: Any = None,
        ) -> Any:
            if ceil:
                return NotImplemented
            kernel, stride, padding = _equal(dims, kernel, stride or kernel, padding)
            alone = x.ndim == dims + 1
            x = x[None] if alone else x
            once = (1,) * dims
            found = xp.sum(windows(padded(x, padding), kernel, stride, once), axis=0)
            if divisor is None and with_padding:
                divisor = 1
                for each in kernel:
                    divisor *= each
            elif divisor is None:
                ones = padded(xp.ones((1, 1, *x.shape[2:]), x.dtype), padding)
                divisor = xp.sum(windows(ones, kernel, stride, once), axis=0)
            found = found / divisor
            return found[0] if alone else found

        return pool

    op(aten.avg_pool2d.default)(average(2))
    op(aten.avg_pool3d.default)(average(3))

    @op(aten._adaptive_avg_pool3d.default)
    def adaptive_average(x: Any, size: Any) -> Any:
        for axis, count in zip((-3, -2, -1), size, strict=True):
            n = x.shape[axis]
            parts = []
            for i in range(count):
                part = [slice(None)] * x.ndim
                part[axis] = slice(i * n // count, -(-(i + 1) * n // count))
                parts.append(xp.mean(x[tuple(part)], axis=axis, keepdims=True))
            x = xp.concatenate(parts, axis=axis)
        return x

    @op(aten.adaptive_max_pool2d.default)
    def adaptive_max(x: Any, size: Any) -> Any:
        height, width = x.shape[-2:]
        values, index = [], []
        for i in range(size[0]):
            top, bottom = i * height // size[0], -(-(i + 1) * height // size[0])
            for j in range(size[1]):
                left, right = j * width // size[1], -(-(j + 1) * width // size[1])
                part = x[..., top:bottom, left:right].reshape(*x.shape[:-2], -1)
                best = xp.argmax(part, axis=-1)
                values.append(xp.max(part, axis=-1))
                row, column = best // (right - left) + top, best % (right - left) + left
                index.append((row * width + column).astype(xp.int64))
        shape = (*x.shape[:-2], *size)
        return tuple(xp.stack(each, -1).reshape(shape) for each in (values, index))

    @op(aten.max_pool2d_with_indices.default)
    def max_pool(
        x: Any,
        kernel: Any,
        stride: Any = (),
        padding: Any = 0,
        dilation: Any = 1,
        ceil: bool = False,
    ) -> Any:
        if ceil:
            return NotImplemented
        kernel, stride, padding, dilation = _equal(2, kernel, stride or kernel, padding, dilation)
        alone = x.ndim == 3
        x = x[None] if alone else x
        low = -xp.inf if x.dtype.kind == "f" else xp.iinfo(x.dtype).min
        full = xp.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)], constant_values=low)
        found = windows(full, kernel, stride, dilation)
        best = xp.argmax(found, axis=0)
        rows, cols = best // kernel[1] * dilation[0], best % kernel[1] * dilation[1]
        rows = rows + xp.arange(best.shape[2])[:, None] * stride[0] - padding[0]
        cols = cols + xp.arange(best.shape[3]) * stride[1] - padding[1]
        result = xp.max(found, axis=0), (rows * x.shape[3] + cols).astype(xp.int64)
        return tuple(each[0] for each in result) if alone else result

    @op(aten.max_pool2d_with_indices_backward.default)
    def max_pool_backward(
        g: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: Any, index: Any
    ) -> Any:
        rows = index.reshape(*index.shape[:-2], -1)
        flat = xp.zeros((*x.shape[:-2], x.shape[-2] * x.shape[-1]), g.dtype)
        grid = list(xp.meshgrid(*(xp.arange(n) for n in rows.shape), indexing="ij", sparse=True))
        grid[-1] = rows
        values = g.reshape(rows.shape)
        if is_numpy:
            xp.add.at(flat, tuple(grid), values)
        else:
            flat = flat.at[tuple(grid)].add(values)
        return flat.reshape(x.shape)

    @op(aten.native_layer_norm.default)
    def layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
        axis = tuple(range(-len(shape), 0))
        mean = xp.mean(x, axis=axis, keepdims=True)
        scale = 1 / xp.sqrt(xp.var(x, axis=axis, keepdims=True) + xp.asarray(eps, x.dtype))
        found = (x - mean) * scale
        found = found if weight is None else found * weight
        return found if bias is None else found + bias, mean, scale


def _sizes(sizes: Any, kernel: Any, stride: Any, dilation: Any) -> list[int]:
    return [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(sizes, kernel, stride, dilation, strict=True)
    ]


def _equal(count: int, *options: Any) -> Any:
    """Return options that are numbers, or lists of one, once for each dimension."""
    found = []
    for each in options:
        each = [each] if isinstance(each, int) else list(each)
        found.append(each * count if len(each) == 1 else each)
    return found
