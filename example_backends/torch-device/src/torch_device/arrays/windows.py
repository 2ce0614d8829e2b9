"""Windows of arrays, the elements below a kernel at each of its places: convolutions, pooling."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import torch
from torch._meta_registrations import pooling_output_shape

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    register_convolutions(environment, xp)
    register_pooling(environment, xp)


def windows(xp: Any, x: Any, kernel: Any, stride: Any, dilation: Any, sizes: Any = None) -> Any:
    """Return the elements below each place of a kernel: (place, batch, channel, out...).

    What follows the dimensions of the kernel stays, here and in the opposite.
    """
    sizes = sizes or sizes_of(x.shape[2:], kernel, stride, dilation)
    places = itertools.product(*map(range, kernel))
    return xp.stack([x[everywhere(_steps(each, sizes, stride, dilation))] for each in places])


def scattered(xp: Any, parts: Any, shape: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    """Return the sum of what lies below each element of a kernel: the opposite."""
    found = xp.zeros(shape, parts.dtype)
    sizes = parts.shape[3 : 3 + len(kernel)]
    for number, place in enumerate(itertools.product(*map(range, kernel))):
        part = everywhere(_steps(place, sizes, stride, dilation))
        if xp.__name__ == "numpy":
            found[part] += parts[number]
        else:
            found = found.at[part].add(parts[number])
    return found


def everywhere(part: Any) -> Any:
    """Return an index of all pictures and channels."""
    return slice(None), slice(None), *part


def sizes_of(sizes: Any, kernel: Any, stride: Any, dilation: Any) -> list[int]:
    return [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(sizes, kernel, stride, dilation, strict=True)
    ]


def for_each_dimension(count: int, *options: Any) -> Any:
    """Return options that are numbers, or lists of one, once for each dimension."""
    found = []
    for each in options:
        each = [each] if isinstance(each, int) else list(each)
        found.append(each * count if len(each) == 1 else each)
    return found


def _steps(place: Any, sizes: Any, stride: Any, dilation: Any) -> Any:
    """Return where the elements of one place of a kernel are."""
    return (
        slice(p * d, p * d + (n - 1) * s + 1, s)
        for p, d, n, s in zip(place, dilation, sizes, stride, strict=True)
    )


def check_sizes(sizes: Any, full: Any, kernel: Any) -> None:
    """Raise PyTorch's error if a kernel fits nowhere."""
    if min(sizes) < 1:
        raise RuntimeError(
            f"Calculated padded input size per channel: {tuple(full)}. Kernel size: "
            f"{tuple(kernel)}. Kernel size can't be greater than actual input size"
        )


def register_convolutions(environment: Any, xp: Any) -> None:
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


def register_pooling(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op
    is_numpy = xp.__name__ == "numpy"

    def largest(found: Any, places: Any) -> Any:
        """Return the largest elements of the first dimension, and which they are in the input."""
        top = xp.max(found, axis=0)
        # Padding has no place, and is as low as an element may be.
        best = xp.argmax(((found == top) | (found != found)) & (places >= 0), axis=0)[None]
        index = xp.take_along_axis(xp.broadcast_to(places, found.shape), best, axis=0)
        return xp.take_along_axis(found, best, axis=0)[0], index[0]

    @op(aten.max_pool2d_with_indices.default)
    def max_pool(
        x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
        ceil: bool = False,
    ) -> Any:  # fmt: skip
        alone = x.ndim == 3
        x = x[None] if alone else x
        kernel, stride, padding, dilation = for_each_dimension(
            2, kernel, stride or kernel, padding, dilation
        )
        options = list(zip(x.shape[2:], kernel, padding, stride, dilation, strict=True))
        sizes = [pooling_output_shape(*each, ceil) for each in options]
        widths = [
            (p, max((m - 1) * s + d * (k - 1) + 1 - n - p, p))
            for m, (n, k, p, s, d) in zip(sizes, options, strict=True)
        ]
        low = -xp.inf if x.dtype.kind == "f" else xp.iinfo(x.dtype).min
        full = xp.pad(x, [(0, 0), (0, 0), *widths], constant_values=xp.asarray(low, x.dtype))
        numbers = np.arange(int(np.prod(x.shape[2:]))).reshape(1, 1, *x.shape[2:])
        numbers = np.pad(numbers, [(0, 0), (0, 0), *widths], constant_values=-1)
        places = windows(xp, xp.asarray(numbers), kernel, stride, dilation, sizes)
        result = largest(windows(xp, full, kernel, stride, dilation, sizes), places)
        return tuple(each[0] for each in result) if alone else result

    def chosen_backward(dims: int) -> Any:
        def call(g: Any, x: Any, *options: Any) -> Any:
            """Return the gradient of operators that choose elements: their places come last."""
            index = options[-1]
            rows = index.reshape(*index.shape[:-dims], -1)
            flat = xp.zeros((*x.shape[:-dims], int(np.prod(x.shape[-dims:]))), g.dtype)
            grid = list(
                xp.meshgrid(*(xp.arange(n) for n in rows.shape), indexing="ij", sparse=True)
            )
            grid[-1] = rows
            values = g.reshape(rows.shape)
            if is_numpy:
                xp.add.at(flat, tuple(grid), values)
            else:
                flat = flat.at[tuple(grid)].add(values)
            return flat.reshape(x.shape)

        return call

    for dims in (2, 3):
        for name in (f"max_pool{dims}d_with_indices", f"adaptive_max_pool{dims}d"):
            op(getattr(aten, f"{name}_backward").default)(chosen_backward(dims))
