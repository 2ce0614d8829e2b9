"""Resampling along dimensions: interpolation and adaptive pooling, and their gradients.

Each element of a result is a weighted sum of some elements of the input, its taps. The gradient
gives each tap its part of the result's gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

aten = torch.ops.aten
Taps = tuple[Any, Any]
"""For each element of a result, the places of its taps and their weights; an unused one has 0."""


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op
    is_numpy = xp.__name__ == "numpy"

    def gathered(x: Any, axis: int, taps: Taps) -> Any:
        places, weights = taps
        shape = [1] * x.ndim
        shape[axis] = -1
        total = 0
        for place, weight in zip(places.T, weights.T, strict=True):
            weight = xp.asarray(weight.reshape(shape), x.dtype)
            total = total + xp.take(x, xp.asarray(place), axis=axis) * weight
        return total

    def spread(g: Any, axis: int, size: int, taps: Taps) -> Any:
        places, weights = taps
        moved = xp.moveaxis(g, axis, 0)
        found = xp.zeros((size, *moved.shape[1:]), g.dtype)
        for place, weight in zip(places.T, weights.T, strict=True):
            part = moved * xp.asarray(weight.reshape(-1, *[1] * (moved.ndim - 1)), g.dtype)
            if is_numpy:
                xp.add.at(found, place, part)
            else:
                found = found.at[place].add(part)
        return xp.moveaxis(found, 0, axis)

    def backward(find: Any, dims: int) -> Any:
        def call(g: Any, size: Any, input_size: Any, *options: Any) -> Any:
            aligned = bool(options[0]) if len(options) > dims else False
            scales = options[-dims:]
            for axis in range(-dims, 0):
                taps = find(input_size[axis], size[axis], aligned, scales[axis])
                g = spread(g, axis, input_size[axis], taps)
            return g

        return call

    def forward(find: Any, dims: int) -> Any:
        def call(x: Any, size: Any, *options: Any) -> Any:
            aligned, scales = bool(options[0]), options[-dims:]
            for axis in range(-dims, 0):
                x = gathered(x, axis, find(x.shape[axis], size[axis], aligned, scales[axis]))
            return x

        return call

    for dims, linear in ((1, "linear1d"), (2, "bilinear2d"), (3, "trilinear3d")):
        op(getattr(aten, f"upsample_nearest{dims}d_backward").default)(backward(_nearest, dims))
        op(getattr(aten, f"_upsample_nearest_exact{dims}d_backward").default)(
            backward(_nearest_exact, dims)
        )
        op(getattr(aten, f"upsample_{linear}_backward").default)(backward(_linear, dims))
    op(aten.upsample_bicubic2d_backward.default)(backward(_cubic, 2))
    for name, smooth in (("bilinear", _smooth_linear), ("bicubic", _smooth_cubic)):
        op(getattr(aten, f"_upsample_{name}2d_aa").default)(forward(smooth, 2))
        op(getattr(aten, f"_upsample_{name}2d_aa_backward").default)(backward(smooth, 2))

    def adaptive(dims: int) -> Any:
        def call(g: Any, x: Any) -> Any:
            for axis in range(-dims, 0):
                g = spread(g, axis, x.shape[axis], _means(x.shape[axis], g.shape[axis]))
            return g

        return call

    op(aten._adaptive_avg_pool2d_backward.default)(adaptive(2))
    op(aten._adaptive_avg_pool3d_backward.default)(adaptive(3))

    def padding(dims: int) -> Any:
        def call(g: Any, x: Any, widths: Any) -> Any:
            for number in range(dims):
                axis, low, high = -1 - number, widths[2 * number], widths[2 * number + 1]
                n = x.shape[axis]
                places = np.clip(np.arange(-low, n + high), 0, n - 1)[:, None]
                g = spread(g, axis, n, (places, np.ones(places.shape)))
            return g

        return call

    for dims in (1, 2, 3):
        op(getattr(aten, f"replication_pad{dims}d_backward").default)(padding(dims))


def _scale(n: int, size: int, scale: float | None) -> np.float32:
    return np.float32(1 / scale if scale is not None and scale > 0 else n / size)


def _nearest(n: int, size: int, aligned: bool, scale: float | None, shift: float = 0) -> Taps:
    places = np.floor(
        (np.arange(size, dtype=np.float32) + np.float32(shift)) * _scale(n, size, scale)
    )
    places = np.minimum(places.astype(int), n - 1)[:, None]
    return places, np.ones(places.shape)


def _nearest_exact(n: int, size: int, aligned: bool, scale: float | None) -> Taps:
    return _nearest(n, size, aligned, scale, 0.5)


def _source(n: int, size: int, aligned: bool, scale: float | None) -> Any:
    """Return where the elements of a result lie among those of the input."""
    places = np.arange(size, dtype=np.float64)
    if aligned:
        return places * ((n - 1) / (size - 1) if size > 1 else 0)
    return _scale(n, size, scale) * (places + 0.5) - 0.5


def _linear(n: int, size: int, aligned: bool, scale: float | None) -> Taps:
    source = np.maximum(_source(n, size, aligned, scale), 0)
    first = np.minimum(source.astype(int), n - 1)
    part = np.clip(source - first, 0, 1)
    places = np.stack([first, np.minimum(first + 1, n - 1)], 1)
    return places, np.stack([1 - part, part], 1)


def _cubic_weight(distance: Any, a: float) -> Any:
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _cubic(n: int, size: int, aligned: bool, scale: float | None) -> Taps:
    source = _source(n, size, aligned, scale)[:, None]
    places = np.floor(source) + np.arange(-1, 3)
    return np.clip(places, 0, n - 1).astype(int), _cubic_weight(source - places, -0.75)


def _smooth(n: int, size: int, aligned: bool, scale: float | None, width: int, weight: Any) -> Taps:
    """Return taps of a filter that widens where the result has fewer elements."""
    if aligned:
        step = (n - 1) / (size - 1) if size > 1 else 0.0
    else:
        step = float(_scale(n, size, scale))
    support = width / 2 * max(step, 1)
    center = step * (np.arange(size) + 0.5)
    first = np.maximum((center - support + 0.5).astype(int), 0)
    last = np.minimum((center + support + 0.5).astype(int), n)
    places = first[:, None] + np.arange(max(int(np.max(last - first, initial=1)), 1))
    found = weight((places - center[:, None] + 0.5) / max(step, 1))
    found = np.where(places < last[:, None], found, 0)
    total = found.sum(1, keepdims=True)
    return np.minimum(places, n - 1), found / np.where(total == 0, 1, total)


def _smooth_linear(n: int, size: int, aligned: bool, scale: float | None) -> Taps:
    return _smooth(n, size, aligned, scale, 2, lambda d: np.maximum(1 - np.abs(d), 0))


def _smooth_cubic(n: int, size: int, aligned: bool, scale: float | None) -> Taps:
    return _smooth(n, size, aligned, scale, 4, lambda d: _cubic_weight(d, -0.5))


def _means(n: int, size: int) -> Taps:
    """Return taps of adaptive pooling: each element is the mean of a part."""
    number = np.arange(size)
    first, last = number * n // size, -(-(number + 1) * n // size)
    places = first[:, None] + np.arange(int(np.max(last - first, initial=1)))
    weights = np.where(places < last[:, None], 1 / (last - first)[:, None], 0)
    return np.minimum(places, n - 1), weights
