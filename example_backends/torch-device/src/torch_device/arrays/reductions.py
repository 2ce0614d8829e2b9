"""Reductions, sorting, searching, and sums along a dimension."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op

    def cast(x: Any, dtype: Any) -> Any:
        return x if dtype is None else x.astype(xp.dtype(str(dtype)[6:]))

    def axes(x: Any, dim: Any) -> Any:
        if not x.ndim:  # PyTorch allows the dimension 0 of a number
            return None
        if dim is None or isinstance(dim, int):
            return dim
        return tuple(dim) or None

    def total(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        if dtype is None and x.dtype.kind in "biu":
            x = x.astype(xp.int64)
        return xp.sum(cast(x, dtype), axis=axes(x, dim), keepdims=keepdim)

    op(aten.sum.dim_IntList)(total)
    op(aten.sum.default)(lambda x, dtype=None: total(x, dtype=dtype))

    def mean(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        return xp.mean(cast(x, dtype), axis=axes(x, dim), keepdims=keepdim)

    op(aten.mean.dim)(mean)
    op(aten.mean.default)(lambda x, dtype=None: mean(x, dtype=dtype))

    def prod(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        return xp.prod(cast(x, dtype), axis=axes(x, dim), keepdims=keepdim)

    op(aten.prod.dim_int)(prod)

    @op(aten.var.correction)
    def var(x: Any, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
        found = xp.var(x, axis=axes(x, dim), keepdims=keepdim)
        count = x.size / max(found.size, 1)
        correction = 1 if correction is None else correction
        degrees = max(count - correction, 0)
        return found * xp.divide(xp.asarray(count, found.dtype), xp.asarray(degrees, found.dtype))

    op(aten.std.correction)(
        lambda x, dim=None, correction=None, keepdim=False: xp.sqrt(
            var(x, dim, correction, keepdim)
        )
    )
    for name, function in (("amax", xp.max), ("amin", xp.min)):
        op(getattr(aten, name).default)(
            lambda x, dim=(), keepdim=False, function=function: function(
                x, axis=axes(x, dim), keepdims=keepdim
            )
        )
    op(aten.max.default)(xp.max)
    op(aten.min.default)(xp.min)
    for name, argument in (("max", xp.argmax), ("min", xp.argmin)):

        def along(x: Any, dim: int, keepdim: bool = False, argument: Any = argument) -> Any:
            if not x.ndim:
                return x, xp.zeros((), xp.int64)
            index = argument(x, axis=dim, keepdims=True)
            value = xp.take_along_axis(x, index, axis=dim)
            found = value, index.astype(xp.int64)
            return found if keepdim else tuple(xp.squeeze(each, dim) for each in found)

        op(getattr(aten, name).dim)(along)
        op(getattr(aten, f"arg{name}").default)(
            lambda x, dim=None, keepdim=False, argument=argument: (
                argument(x, axis=dim, keepdims=keepdim).astype(xp.int64)
                if x.ndim
                else xp.zeros((), xp.int64)
            )
        )
    for name in ("any", "all"):
        packet, function = getattr(aten, name), getattr(xp, name)
        op(packet.default)(function)
        for overload in (packet.dim, packet.dims):
            op(overload)(
                lambda x, dim=None, keepdim=False, function=function: (
                    function(x, axis=axes(x, dim), keepdims=keepdim) if x.ndim else x.astype(bool)
                )
            )

    def running(function: Any) -> Any:
        def along(x: Any, dim: int, dtype: Any = None) -> Any:
            if dtype is None and x.dtype.kind in "biu":
                x = x.astype(xp.int64)
            return function(cast(x, dtype), axis=dim) if x.ndim else cast(x, dtype)

        return along

    op(aten.cumsum.default)(running(xp.cumsum))

    @op(aten.logsumexp.default)
    def logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
        if x.dtype.kind in "biu":
            x = x.astype(xp.float32)
        top = xp.max(xp.real(x), axis=axes(x, dim), keepdims=True)
        top = xp.where(xp.isfinite(top), top, 0)
        found = xp.log(xp.sum(xp.exp(x - top), axis=axes(x, dim), keepdims=keepdim))
        return found + (top if keepdim else xp.squeeze(top, axes(x, dim)))

    def softmax(x: Any, dim: int, half_to_float: bool = False) -> Any:
        if not x.ndim or not x.size:
            return xp.ones_like(x)
        e = xp.exp(x - xp.max(x, axis=dim, keepdims=True))
        return e / xp.sum(e, axis=dim, keepdims=True)

    def log_softmax(x: Any, dim: int, half_to_float: bool = False) -> Any:
        if not x.ndim or not x.size:
            return xp.zeros_like(x)
        x = x - xp.max(x, axis=dim, keepdims=True)
        return x - xp.log(xp.sum(xp.exp(x), axis=dim, keepdims=True))

    op(aten._softmax.default)(softmax)
    op(aten._log_softmax.default)(log_softmax)
    op(aten._softmax_backward_data.default)(
        lambda g, y, dim, dtype: y * (g - (xp.sum(g * y, axis=dim, keepdims=True) if y.ndim else g))
    )
    op(aten._log_softmax_backward_data.default)(
        lambda g, y, dim, dtype: (
            g - xp.exp(y) * (xp.sum(g, axis=dim, keepdims=True) if y.ndim else g)
        )
    )

    @op(aten.linalg_vector_norm.default)
    def norm(
        x: Any, order: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
    ) -> Any:
        x = xp.abs(cast(x, dtype))
        axis = axes(x, dim)
        if order == 0:
            return xp.sum((x != 0).astype(x.dtype), axis=axis, keepdims=keepdim)
        if order in (float("inf"), float("-inf")):
            return (xp.max if order > 0 else xp.min)(x, axis=axis, keepdims=keepdim)
        if order == 1:
            return xp.sum(x, axis=axis, keepdims=keepdim)
        if order == 2:
            return xp.sqrt(xp.sum(x * x, axis=axis, keepdims=keepdim))
        return xp.sum(x**order, axis=axis, keepdims=keepdim) ** (1 / order)

    @op(aten.sort.stable)
    def sort(x: Any, stable: Any = None, dim: int = -1, descending: bool = False, **_: Any) -> Any:
        if not x.ndim:
            return x, xp.zeros((), xp.int64)
        if descending:
            # Stable also when reversed: of equal elements, the first stays first.
            index = xp.argsort(xp.flip(x, dim), axis=dim, stable=True)
            index = xp.flip(x.shape[dim] - 1 - index, dim)
        else:
            index = xp.argsort(x, axis=dim, stable=True)
        return xp.take_along_axis(x, index, axis=dim), index.astype(xp.int64)

    op(aten.sort.default)(
        lambda x, dim=-1, descending=False: sort(x, dim=dim, descending=descending)
    )

    @op(aten.topk.default)
    def topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        found = sort(x, dim=dim, descending=largest)
        if not x.ndim:
            return found
        part = [slice(None)] * x.ndim
        part[dim] = slice(k)
        return tuple(each[tuple(part)] for each in found)

    _register_searching(op, xp)


def _register_searching(op: Any, xp: Any) -> None:
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

    op(aten.median.default)(lambda x: median(x.reshape(-1), 0)[0])

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

    @op(aten.repeat_interleave.Tensor)
    def repeat_interleave(repeats: Any, output_size: Any = None) -> Any:
        return xp.repeat(xp.arange(repeats.shape[0]), repeats).astype(repeats.dtype)
