"""Operators that look for elements: medians, orders, bins, extremes so far."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op

    def take(x: Any, index: Any, dim: int, keepdim: bool) -> Any:
        value = xp.take_along_axis(x, index, axis=dim)
        found = value, index.astype(xp.int64)
        return found if keepdim else tuple(xp.squeeze(each, dim) for each in found)

    def place(x: Any, position: Any, dim: int, keepdim: bool) -> Any:
        order = xp.argsort(x, axis=dim, stable=True)
        part = [slice(None)] * x.ndim
        if isinstance(position, int):
            part[dim] = slice(position, position + 1)
            return take(x, order[tuple(part)], dim, keepdim)
        return take(x, xp.take_along_axis(order, position, axis=dim), dim, keepdim)

    @op(aten.kthvalue.default)
    def kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
        if not x.ndim:
            return x, xp.zeros((), xp.int64)
        if not 1 <= k <= x.shape[dim]:
            raise RuntimeError("kthvalue(): selected number k out of range for dimension")
        return place(x, k - 1, dim, keepdim)

    def missing(x: Any) -> Any:
        return xp.isnan(x) if x.dtype.kind == "f" else xp.zeros(x.shape, bool)

    @op(aten.median.dim)
    def median(x: Any, dim: int, keepdim: bool = False) -> Any:
        if not x.ndim:
            return x, xp.zeros((), xp.int64)
        nans = xp.sum(missing(x), axis=dim, keepdims=True)
        first = xp.full(nans.shape, x.shape[dim] - 1)
        # NaN is sorted to the end: with any, the first of these is the median.
        middle = xp.where(nans > 0, first - nans + 1, (x.shape[dim] - 1) // 2)
        return place(x, middle, dim, keepdim)

    @op(aten.nanmedian.dim)
    def nanmedian(x: Any, dim: int, keepdim: bool = False) -> Any:
        if not x.ndim:
            return x, xp.zeros((), xp.int64)
        count = x.shape[dim] - xp.sum(missing(x), axis=dim, keepdims=True)
        return place(x, xp.maximum(count - 1, 0) // 2, dim, keepdim)

    op(aten.median.default)(lambda x: median(x.reshape(-1), 0)[0])
    op(aten.nanmedian.default)(lambda x: nanmedian(x.reshape(-1), 0)[0])

    @op(aten.searchsorted.Tensor)
    def searchsorted(
        edges: Any,
        x: Any,
        out_int32: bool = False,
        right: bool = False,
        side: Any = None,
        sorter: Any = None,
    ) -> Any:
        side = side or ("right" if right else "left")
        if sorter is not None:
            edges = xp.take_along_axis(edges, sorter, axis=-1)
        dtype = xp.int32 if out_int32 else xp.int64
        if edges.ndim == 1:
            return xp.searchsorted(edges, x, side=side).astype(dtype)
        rows = edges.reshape(-1, edges.shape[-1])
        values = x.reshape(rows.shape[0], -1)
        found = [xp.searchsorted(a, b, side=side) for a, b in zip(rows, values, strict=True)]
        return xp.stack(found).reshape(x.shape).astype(dtype)

    @op(aten.bucketize.Tensor)
    def bucketize(x: Any, edges: Any, out_int32: bool = False, right: bool = False) -> Any:
        return searchsorted(edges, x, out_int32, right)

    op(aten.bucketize.Scalar)(
        lambda x, edges, out_int32=False, right=False: searchsorted(
            edges, xp.asarray(x), out_int32, right
        )
    )

    for name, is_max in (("cummax", True), ("cummin", False)):

        def extremes(x: Any, dim: int, is_max: bool = is_max) -> Any:
            if not x.ndim:
                return x, xp.zeros((), xp.int64)
            x = xp.moveaxis(x, dim, 0)
            values, index = [x[0]], [xp.zeros(x.shape[1:], xp.int64)]
            for number in range(1, x.shape[0]):
                last = values[-1]
                is_new = (x[number] >= last) if is_max else (x[number] <= last)
                is_new = is_new | missing(x[number])
                values.append(xp.where(is_new, x[number], last))
                index.append(xp.where(is_new, number, index[-1]))
            return tuple(xp.moveaxis(xp.stack(each), 0, dim) for each in (values, index))

        def refuse_empty(x: Any, dim: int, extremes: Any = extremes) -> Any:
            if x.ndim and not x.shape[dim]:
                return x, xp.zeros(x.shape, xp.int64)
            return extremes(x, dim)

        environment.register_kernel(
            getattr(aten, f"_{name}_helper").default, _writing(environment, refuse_empty)
        )

    @op(aten.mode.default)
    def mode(x: Any, dim: int = -1, keepdim: bool = False) -> Any:
        if not x.ndim:
            return x, xp.zeros((), xp.int64)
        last = xp.moveaxis(x, dim, -1)
        counts = xp.sum(last[..., :, None] == last[..., None, :], axis=-1)
        best = counts == xp.max(counts, axis=-1, keepdims=True)
        high = xp.max(last, axis=-1, keepdims=True)
        value = xp.min(xp.where(best, last, high), axis=-1, keepdims=True)
        n = last.shape[-1]
        index = n - 1 - xp.argmax(xp.flip(last == value, -1), axis=-1, keepdims=True)
        return take(x, xp.moveaxis(index, -1, dim), dim, keepdim)

    @op(aten.isin.Tensor_Tensor)
    def isin(x: Any, y: Any, assume_unique: bool = False, invert: bool = False) -> Any:
        return xp.isin(x, y, invert=invert)

    op(aten.isin.Tensor_Scalar)(
        lambda x, y, assume_unique=False, invert=False: xp.isin(x, y, invert=invert)
    )
    op(aten.isin.Scalar_Tensor)(
        lambda x, y, assume_unique=False, invert=False: xp.isin(x, y, invert=invert)
    )

    @op(aten._unique2.default)
    def unique(x: Any, ordered: bool = True, inverse: bool = False, counts: bool = False) -> Any:
        found = xp.unique(x.reshape(-1), return_inverse=True, return_counts=True)
        empty = xp.zeros((0,), xp.int64)
        return (
            found[0],
            found[1].reshape(x.shape).astype(xp.int64) if inverse or counts else empty,
            found[2].astype(xp.int64) if counts else empty,
        )

    op(aten._unique.default)(lambda x, ordered=True, inverse=False: unique(x, ordered, inverse)[:2])

    @op(aten.bincount.default)
    def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
        return xp.bincount(x, weights, minlength)

    @op(aten.histc.default)
    def histc(x: Any, bins: int = 100, low: Any = 0, high: Any = 0) -> Any:
        if low == high:
            low, high = (x.min(), x.max()) if x.size else (0, 1)
        if low == high:
            low, high = low - 1, high + 1
        return xp.histogram(x, bins, (low, high))[0].astype(x.dtype)

    @op(aten.repeat_interleave.Tensor)
    def repeat_interleave(repeats: Any, output_size: Any = None) -> Any:
        return xp.repeat(xp.arange(repeats.shape[0]), repeats).astype(repeats.dtype)

    @op(aten.unique_consecutive.default)
    def consecutive(
        x: Any, inverse: bool = False, counts: bool = False, dim: int | None = None
    ) -> Any:
        if dim is not None:
            return NotImplemented
        flat = x.reshape(-1)
        is_first = xp.concatenate([xp.ones(min(flat.size, 1), bool), flat[1:] != flat[:-1]])
        starts = xp.nonzero(is_first)[0]
        empty = xp.zeros((0,), xp.int64)
        place = (xp.cumsum(is_first) - 1).reshape(x.shape).astype(xp.int64)
        ends = xp.concatenate([starts[1:], xp.asarray([flat.size])[: starts.size]])
        return (
            flat[is_first],
            place if inverse else empty,
            (ends - starts).astype(xp.int64) if counts else empty,
        )

    @op(aten.nonzero_static.default)
    def nonzero_static(x: Any, *, size: int, fill_value: int = -1) -> Any:
        found = xp.stack(xp.nonzero(x), -1)[:size] if x.ndim else xp.zeros((int(bool(x)), 0))
        rest = xp.full((size - found.shape[0], x.ndim), fill_value)
        return xp.concatenate([found, rest]).astype(xp.int64)

    @op(aten._logcumsumexp.default)
    def logcumsumexp(x: Any, dim: int) -> Any:
        if not x.ndim:
            return x
        moved = xp.moveaxis(x, dim, 0)
        rows = [moved[:1]]
        for number in range(1, moved.shape[0]):
            rows.append(xp.logaddexp(rows[-1], moved[number : number + 1]))
        return xp.moveaxis(xp.concatenate(rows), 0, dim)


def _writing(environment: Any, function: Any) -> Any:
    def kernel(x: torch.Tensor, values: torch.Tensor, index: torch.Tensor, dim: int) -> None:
        found = function(environment.data.read(x), dim)
        environment.data.write(values, found[0])
        environment.data.write(index, found[1])

    return kernel
