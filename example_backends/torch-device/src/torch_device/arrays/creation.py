"""New tensors, and copies of tensors."""

from __future__ import annotations

from typing import Any

import torch

aten = torch.ops.aten


def register(environment: Any, xp: Any) -> None:
    """Register them for the functions of an array library."""
    op = environment.register_op

    def dtype_of(dtype: Any, default: Any = None) -> Any:
        if dtype is None:
            dtype = default or torch.get_default_dtype()
        if dtype is torch.bfloat16 and xp.__name__ == "numpy":
            raise NotImplementedError("NumPy has no bfloat16")
        if dtype is torch.complex32:
            raise NotImplementedError("complex32 is not supported by this device")
        return xp.dtype(str(dtype)[6:])

    def kind(value: Any) -> Any:
        return {bool: torch.bool, int: torch.int64, complex: torch.complex64}.get(type(value))

    @op(aten.full.default)
    def full(size: Any, value: Any, dtype: Any = None) -> Any:
        return xp.full(tuple(size), value, dtype_of(dtype, kind(value)))

    op(aten.zeros.default)(lambda size, dtype=None: xp.zeros(tuple(size), dtype_of(dtype)))
    op(aten.ones.default)(lambda size, dtype=None: xp.ones(tuple(size), dtype_of(dtype)))
    op(aten.scalar_tensor.default)(lambda value, dtype=None: xp.asarray(value, dtype_of(dtype)))

    def like(value: Any) -> Any:
        def make(x: Any, dtype: Any = None) -> Any:
            return xp.full(x.shape, value, x.dtype if dtype is None else dtype_of(dtype))

        return make

    op(aten.zeros_like.default)(like(0))
    op(aten.ones_like.default)(like(1))
    op(aten.empty_like.default)(like(0))
    op(aten.full_like.default)(lambda x, value, dtype=None: like(value)(x, dtype))
    op(aten.fill.Scalar)(lambda x, value: xp.full(x.shape, value, x.dtype))
    op(aten.fill.Tensor)(lambda x, value: xp.broadcast_to(value.astype(x.dtype), x.shape))
    op(aten.zero.default)(lambda x: xp.zeros(x.shape, x.dtype))
    op(aten.clone.default)(lambda x: x)

    @op(aten._to_copy.default)
    def to_copy(x: Any, dtype: Any = None) -> Any:
        if dtype is None:
            return x
        wanted = dtype_of(dtype)
        if x.dtype.kind == "c" and wanted.kind != "c":
            x = xp.real(x)
        return x.astype(wanted)

    @op(aten.view.dtype)
    def view_dtype(x: Any, dtype: Any) -> Any:
        x = xp.ascontiguousarray(x) if xp.__name__ == "numpy" else x
        return x.reshape(-1).view(dtype_of(dtype))

    @op(aten.arange.start_step)
    def arange(start: Any, end: Any, step: Any = 1, dtype: Any = None) -> Any:
        whole = all(isinstance(each, int) for each in (start, end, step))
        wanted = dtype_of(dtype, torch.int64 if whole else None)
        if step == 0 or (end - start) / step < 0:
            raise RuntimeError("upper bound and lower bound inconsistent with step sign")
        return xp.arange(+start, +end, +step).astype(wanted)  # numbers, where they are bool

    op(aten.arange.default)(lambda end, dtype=None: arange(0, end, 1, dtype))
    op(aten.arange.start)(lambda start, end, dtype=None: arange(start, end, 1, dtype))

    op(aten.expand.default)(lambda x, size: xp.broadcast_to(x, _sizes(x, size)))


def _sizes(x: Any, size: Any) -> tuple[int, ...]:
    old = (1,) * (len(size) - x.ndim) + tuple(x.shape)
    return tuple(n if each == -1 else each for n, each in zip(old, size, strict=True))
