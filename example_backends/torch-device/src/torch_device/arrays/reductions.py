"""Reductions, sorting, searching, and sums along a dimension."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten

REDUCTIONS = {
    "sum": "default dim_IntList",
    "mean": "default dim",
    "prod": "dim_int",
    **dict.fromkeys(("amax", "amin", "max", "min"), "default"),
    **dict.fromkeys(("any", "all"), "default dim dims"),
}
"""Functions of array libraries, and the overloads of their operators."""


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

    def reducing(function: Any) -> Any:
        def reduce(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
            return function(cast(x, dtype), axis=axes(x, dim), keepdims=keepdim)

        return reduce

    def total(x: Any, **options: Any) -> Any:
        # PyTorch's sum of integers is int64.
        return xp.sum(x.astype(xp.int64) if x.dtype.kind in "biu" else x, **options)

    for name, overloads in REDUCTIONS.items():
        function = total if name == "sum" else getattr(xp, name)
        for each in overloads.split():
            op(getattr(getattr(aten, name), each))(reducing(function))

    @op(aten.var.correction)
    def var(x: Any, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
        found = xp.var(x, axis=axes(x, dim), keepdims=keepdim)
        count = x.size / max(found.size, 1)
        correction = 1 if correction is None else correction
        degrees = max(count - correction, 0)
        return found * xp.divide(xp.asarray(count, found.dtype), xp.asarray(degrees, found.dtype))

    for name in ("max", "min"):

        def along(x: Any, dim: int, keepdim: bool = False, argument: Any = f"arg{name}") -> Any:
            if not x.ndim:
                return x, xp.zeros((), xp.int64)
            index = getattr(xp, argument)(x, axis=dim, keepdims=True)
            found = xp.take_along_axis(x, index, axis=dim), index
            return found if keepdim else tuple(xp.squeeze(each, dim) for each in found)

        op(getattr(aten, name).dim)(along)
        op(getattr(aten, f"arg{name}").default)(reducing(getattr(xp, f"arg{name}")))

    @op(aten.cumsum.default)
    def cumsum(x: Any, dim: int, dtype: Any = None) -> Any:
        if dtype is None and x.dtype.kind in "biu":
            x = x.astype(xp.int64)
        return xp.cumsum(cast(x, dtype), axis=dim) if x.ndim else cast(x, dtype)

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

    op(aten.bincount.default)(xp.bincount)
    op(aten.repeat_interleave.Tensor)(
        lambda n, output_size=None: xp.repeat(xp.arange(len(n)), n).astype(n.dtype)
    )
