"""Operators that choose, join, repeat or move elements."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op
    is_numpy = xp.__name__ == "numpy"

    def put(x: Any, index: Any, values: Any, how: str = "set") -> Any:
        """Return data with values in places: set, or combined (add, multiply, max, min)."""
        if not is_numpy:
            return getattr(x.at[index], how)(values)
        x = xp.array(x)
        if how == "set":
            x[index] = values
        else:
            combine = {"max": xp.maximum, "min": xp.minimum}.get(how) or getattr(xp, how)
            combine.at(x, index, values)
        return x

    def indices(index: Any) -> Any:
        # A dimension that is not indexed is taken whole.
        return tuple(slice(None) if each is None else each for each in index)

    @op(aten.index.Tensor)
    def get_index(x: Any, index: Any) -> Any:
        is_mask = any(each is not None and each.dtype.kind == "b" for each in index)
        if is_mask and not is_numpy and _is_traced(index):
            return NotImplemented
        return x[indices(index)]

    @op(aten.index_put.default)
    def index_put(x: Any, index: Any, values: Any, accumulate: bool = False) -> Any:
        return put(x, indices(index), values.astype(x.dtype), "add" if accumulate else "set")

    op(aten._index_put_impl.default)(
        lambda x, index, values, add=False, unsafe=False: index_put(x, index, values, add)
    )

    @op(aten.index_select.default)
    def index_select(x: Any, dim: int, index: Any) -> Any:
        return xp.take(x, index, axis=dim) if x.ndim else x

    @op(aten.gather.default)
    def gather(x: Any, dim: int, index: Any, sparse_grad: bool = False) -> Any:
        if not index.size:  # whose other dimensions PyTorch does not check
            return xp.zeros(index.shape, x.dtype)
        if not x.ndim or not index.ndim:
            return xp.broadcast_to(x.reshape(-1)[0], index.shape)
        return x[_positions(xp, index, dim)]

    def into(x: Any, dim: int, index: Any, values: Any, combine: Any) -> Any:
        """Return data with values in places of one dimension, as `combine` puts them there."""
        if not index.size:
            return x
        if not x.ndim:
            return combine(x.reshape(1), (index.reshape(-1),), values.reshape(-1))[0]
        if values.ndim:
            values = values[tuple(slice(n) for n in index.shape)]
        return combine(x, _positions(xp, index, dim), values.astype(x.dtype))

    def scatter(x: Any, dim: int, index: Any, values: Any, how: str = "set") -> Any:
        return into(x, dim, index, values, partial(put, how=how))

    op(aten.scatter.src)(scatter)
    op(aten.scatter.value)(
        lambda x, dim, index, value: scatter(x, dim, index, xp.asarray(value, x.dtype))
    )
    op(aten.scatter_add.default)(
        lambda x, dim, index, values: scatter(x, dim, index, values, "add")
    )

    @op(aten.cat.default)
    def cat(tensors: Any, dim: int = 0) -> Any:
        # PyTorch leaves empty tensors of one dimension out.
        rest = [each for each in tensors if each.shape != (0,)]
        return xp.concatenate(rest or tensors, axis=dim)

    op(aten.stack.default)(lambda tensors, dim=0: xp.stack(tensors, axis=dim))
    op(aten.flip.default)(lambda x, dims: xp.flip(x, tuple(dims)) if dims else x)

    @op(aten.constant_pad_nd.default)
    def pad(x: Any, widths: Any, value: Any = 0) -> Any:
        pairs = [(widths[i], widths[i + 1]) for i in range(0, len(widths), 2)]
        pairs = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
        cut = tuple(
            slice(max(-low, 0), n - max(-high, 0))
            for n, (low, high) in zip(x.shape, pairs, strict=True)
        )
        pairs = [(max(low, 0), max(high, 0)) for low, high in pairs]
        return xp.pad(x[cut], pairs, constant_values=xp.asarray(value, x.dtype))

    op(aten.tril.default)(lambda x, k=0: xp.tril(x, k))
    op(aten.triu.default)(lambda x, k=0: xp.triu(x, k))

    @op(aten.nonzero.default)
    def nonzero(x: Any) -> Any:
        if not x.ndim:
            return xp.zeros((int(bool(x)), 0), xp.int64)
        return xp.stack(xp.nonzero(x), -1).astype(xp.int64)

    @op(aten.masked_select.default)
    def masked_select(x: Any, mask: Any) -> Any:
        x, mask = xp.broadcast_arrays(x, mask)
        return x[mask]

    @op(aten.masked_scatter.default)
    def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
        if mask.dtype.kind != "b":
            raise RuntimeError("masked_scatter_ only supports boolean masks")
        x, mask = xp.broadcast_arrays(x, mask)
        if not source.size:
            return x
        order = xp.cumsum(mask.reshape(-1)) - 1
        values = source.reshape(-1)[xp.clip(order, 0, max(source.size - 1, 0))]
        return xp.where(mask, values.reshape(x.shape), x)

    @op(aten.embedding.default)
    def embedding(weight: Any, index: Any, *options: Any) -> Any:
        return xp.take(weight, index, axis=0)

    @op(aten.embedding_dense_backward.default)
    def embedding_backward(g: Any, index: Any, count: int, padding: int, scaled: bool) -> Any:
        if scaled:
            return NotImplemented
        flat = g.reshape(-1, g.shape[-1])
        index = index.reshape(-1)
        flat = xp.where((index == padding)[:, None], 0, flat)
        return put(xp.zeros((count, g.shape[-1]), g.dtype), (index,), flat, "add")

    @op(aten.put.default)
    def put_flat(x: Any, index: Any, values: Any, accumulate: bool = False) -> Any:
        how = "add" if accumulate else "set"
        return put(x.reshape(-1), index.reshape(-1), values.reshape(-1), how).reshape(x.shape)

    def reduced(x: Any, place: Any, values: Any, how: str, include: bool) -> Any:
        """Return data with the reduction of values into places."""
        names = {"sum": "add", "mean": "add", "prod": "multiply", "amax": "max", "amin": "min"}
        name = names.get(how, how)
        if not include:
            start = {"add": 0, "multiply": 1, "max": _limit(xp, x, -1), "min": _limit(xp, x, 1)}
            touched = put(xp.zeros(x.shape, bool), place, xp.asarray(True))
            x = xp.where(touched, xp.asarray(start[name], x.dtype), x)
        found = put(x, place, values, name)
        if how != "mean":
            return found
        count = put(xp.full(x.shape, int(include)), place, xp.asarray(1), "add")
        count = xp.maximum(count, 1)
        if x.dtype.kind in "iu":
            return xp.floor_divide(found, count).astype(x.dtype)
        return found / count.astype(x.dtype)

    @op(aten.scatter_reduce.two)
    def scatter_reduce(
        x: Any, dim: int, index: Any, values: Any, reduce: str, include_self: bool = True
    ) -> Any:
        how = partial(reduced, how=reduce, include=include_self)
        return into(x, dim, index, values, how)

    op(aten.scatter.reduce)(scatter_reduce)
    op(aten.scatter.value_reduce)(
        lambda x, dim, index, value, reduce: scatter_reduce(
            x, dim, index, xp.full(index.shape, value, x.dtype), reduce
        )
    )

    def widened(g: Any, size: Any, dim: int, part: Any) -> Any:
        """Return zeros of a size, with `g` in a part of one dimension."""
        where = [slice(None)] * len(size)
        where[dim] = part
        return put(xp.zeros(tuple(size), g.dtype), tuple(where), g)

    op(aten.select_backward.default)(widened)
    op(aten.slice_backward.default)(
        lambda g, size, dim, start, end, step: widened(g, size, dim, slice(start, end, step))
    )


def _positions(xp: Any, index: Any, dim: int) -> Any:
    """Return indices that replace the position in one dimension."""
    grid = list(xp.meshgrid(*(xp.arange(n) for n in index.shape), indexing="ij", sparse=True))
    grid[dim] = index
    return tuple(grid)


def _limit(xp: Any, x: Any, sign: int) -> Any:
    if x.dtype.kind == "b":
        return sign > 0
    if x.dtype.kind in "iu":
        return xp.iinfo(x.dtype).max if sign > 0 else xp.iinfo(x.dtype).min
    return sign * xp.inf


def _is_traced(index: Any) -> bool:
    import jax

    return any(isinstance(each, jax.core.Tracer) for each in index)
