"""Pooling: averages and largest elements of windows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch

from .windows import everywhere, for_each_dimension, scattered, sizes_of, windows

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op
    is_numpy = xp.__name__ == "numpy"

    def pooled(dims: int, x: Any, kernel: Any, stride: Any, padding: Any, ceil: bool) -> Any:
        """Return the options of a pooling for each dimension, its sizes, and the widths to pad."""
        kernel, stride, padding = for_each_dimension(dims, kernel, stride or kernel, padding)
        full = [n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]
        sizes = sizes_of(full, kernel, stride, (1,) * dims)
        if ceil:
            for i, (n, k, s, p) in enumerate(
                zip(x.shape[2:], kernel, stride, padding, strict=True)
            ):
                sizes[i] = -(-(n + 2 * p - k) // s) + 1
                sizes[i] -= (sizes[i] - 1) * s >= n + p  # a window begins in the tensor
        widths = [
            (p, max((m - 1) * s + k - n - p, p))
            for n, m, k, s, p in zip(x.shape[2:], sizes, kernel, stride, padding, strict=True)
        ]
        return kernel, stride, padding, sizes, widths

    def divisors(
        x: Any, kernel: Any, stride: Any, padding: Any, sizes: Any, with_padding: bool, given: Any
    ) -> Any:
        """Return how many elements count below each window."""
        found = np.ones(sizes)
        for axis, (n, m, k, s, p) in enumerate(
            zip(x.shape[2:], sizes, kernel, stride, padding, strict=True)
        ):
            first = np.arange(m) * s - p
            last = np.minimum(first + k, n + p)
            if not with_padding:
                first, last = np.maximum(first, 0), np.minimum(last, n)
            found = found * (last - first).reshape(-1, *(1,) * (len(sizes) - axis - 1))
        return xp.asarray(found if given is None else np.full(sizes, given), x.dtype)

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
            alone = x.ndim == dims + 1
            x = x[None] if alone else x
            kernel, stride, padding, sizes, widths = pooled(dims, x, kernel, stride, padding, ceil)
            full = xp.pad(x, [(0, 0), (0, 0), *widths])
            found = xp.sum(windows(xp, full, kernel, stride, (1,) * dims, sizes), axis=0)
            count = divisors(x, kernel, stride, padding, sizes, with_padding, divisor)
            found = found / count
            return found[0] if alone else found

        return pool

    def average_backward(dims: int) -> Any:
        def call(
            g: Any,
            x: Any,
            kernel: Any,
            stride: Any,
            padding: Any,
            ceil: bool,
            with_padding: bool,
            divisor: Any,
        ) -> Any:
            alone = x.ndim == dims + 1
            x, g = (x[None], g[None]) if alone else (x, g)
            kernel, stride, padding, sizes, widths = pooled(dims, x, kernel, stride, padding, ceil)
            part = g / divisors(x, kernel, stride, padding, sizes, with_padding, divisor)
            count = int(np.prod(kernel))
            full = [n + low + high for n, (low, high) in zip(x.shape[2:], widths, strict=True)]
            found = scattered(
                xp, xp.broadcast_to(part, (count, *part.shape)),
                (*x.shape[:2], *full), kernel, stride, (1,) * dims,
            )  # fmt: skip
            inner = (slice(p, p + n) for p, n in zip(padding, x.shape[2:], strict=True))
            found = found[everywhere(tuple(inner))]
            return found[0] if alone else found

        return call

    op(aten.avg_pool2d_backward.default)(average_backward(2))
    op(aten.avg_pool3d_backward.default)(average_backward(3))
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

    def largest(found: Any, places: Any) -> Any:
        """Return the largest elements of the first dimension, and which they are in the input."""
        top = xp.max(found, axis=0)
        # Padding has no place, and is as low as an element may be.
        best = xp.argmax(((found == top) | (found != found)) & (places >= 0), axis=0)[None]
        index = xp.take_along_axis(xp.broadcast_to(places, found.shape), best, axis=0)
        return xp.take_along_axis(found, best, axis=0)[0], index[0]

    def adaptive_max(dims: int) -> Any:
        def call(x: Any, size: Any) -> Any:
            shape = x.shape[-dims:]
            values, index = [], []
            for place in itertools.product(*map(range, size)):
                part = tuple(
                    slice(i * n // m, -(-(i + 1) * n // m))
                    for i, n, m in zip(place, shape, size, strict=True)
                )
                numbers = np.arange(int(np.prod(shape))).reshape(shape)[part].reshape(-1)
                below = (Ellipsis, *part)
                moved = xp.moveaxis(x[below].reshape(*x.shape[:-dims], -1), -1, 0)
                numbers = xp.asarray(numbers.reshape(-1, *(1,) * (moved.ndim - 1)))
                value, found = largest(moved, numbers)
                values.append(value)
                index.append(found)
            made = (*x.shape[:-dims], *size)
            return tuple(xp.stack(each, -1).reshape(made) for each in (values, index))

        return call

    op(aten.adaptive_max_pool2d.default)(adaptive_max(2))
    op(aten.adaptive_max_pool3d.default)(adaptive_max(3))

    def max_pool(dims: int) -> Any:
        def call(
            x: Any,
            kernel: Any,
            stride: Any = (),
            padding: Any = 0,
            dilation: Any = 1,
            ceil: bool = False,
        ) -> Any:
            alone = x.ndim == dims + 1
            x = x[None] if alone else x
            (dilation,) = for_each_dimension(dims, dilation)
            (kernel,) = for_each_dimension(dims, kernel)
            wide = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
            _, stride, _, sizes, widths = pooled(dims, x, wide, stride or kernel, padding, ceil)
            low = -xp.inf if x.dtype.kind == "f" else xp.iinfo(x.dtype).min
            full = xp.pad(x, [(0, 0), (0, 0), *widths], constant_values=xp.asarray(low, x.dtype))
            numbers = np.arange(int(np.prod(x.shape[2:]))).reshape(1, 1, *x.shape[2:])
            numbers = np.pad(numbers, [(0, 0), (0, 0), *widths], constant_values=-1)
            places = windows(xp, xp.asarray(numbers), kernel, stride, dilation, sizes)
            found = windows(xp, full, kernel, stride, dilation, sizes)
            result = largest(found, places)
            return tuple(each[0] for each in result) if alone else result

        return call

    op(aten.max_pool2d_with_indices.default)(max_pool(2))
    op(aten.max_pool3d_with_indices.default)(max_pool(3))

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
