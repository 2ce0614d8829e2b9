"""New tensors, copies of tensors, and random numbers."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
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
        whole = all(type(each) is int for each in (start, end, step))
        wanted = dtype_of(dtype, torch.int64 if whole else None)
        if step == 0 or (end - start) / step < 0:
            raise RuntimeError("upper bound and lower bound inconsistent with step sign")
        return xp.arange(start, end, step).astype(wanted)

    op(aten.arange.default)(lambda end, dtype=None: arange(0, end, 1, dtype))
    op(aten.arange.start)(lambda start, end, dtype=None: arange(start, end, 1, dtype))

    op(aten.expand.default)(lambda x, size: xp.broadcast_to(x, _sizes(x, size)))

    _register_random(environment, xp)


def _sizes(x: Any, size: Any) -> tuple[int, ...]:
    old = (1,) * (len(size) - x.ndim) + tuple(x.shape)
    return tuple(n if each == -1 else each for n, each in zip(old, size, strict=True))


class Randomness:
    """A generator of NumPy: the numbers are drawn by the host, and are data of the device then."""

    def __init__(self) -> None:
        self.generator: Any = np.random.default_rng(0)

    def seed(self, seed: int) -> None:
        """Start anew from a seed."""
        self.generator = np.random.default_rng(seed % 2**64)

    def get_state(self) -> torch.Tensor:
        """Return the state as bytes in a tensor of the CPU."""
        state: Any = self.generator.bit_generator.state
        numbers = [state["state"]["state"], state["state"]["inc"]]
        data = b"".join(each.to_bytes(16, "little") for each in numbers)
        data += bytes([state["has_uint32"]]) + state["uinteger"].to_bytes(8, "little")
        return torch.frombuffer(bytearray(data), dtype=torch.uint8)

    def set_state(self, state: torch.Tensor) -> None:
        """Go on from a state."""
        expected = self.get_state()
        if state.dtype is not torch.uint8 or state.shape != expected.shape:
            raise RuntimeError(
                f"a state of this device is {len(expected)} bytes (torch.uint8), as get_rng_state "
                f"returns it, and not {tuple(state.shape)} of {state.dtype}"
            )
        data = io.BytesIO(state.cpu().numpy().tobytes())
        numbers = [int.from_bytes(data.read(16), "little") for _ in range(2)]
        self.generator.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": numbers[0], "inc": numbers[1]},
            "has_uint32": data.read(1)[0],
            "uinteger": int.from_bytes(data.read(8), "little"),
        }


def _register_random(environment: Any, xp: Any) -> None:
    """Register the functional operators; in-place ones follow from them."""
    module, random = environment.module, Randomness()
    module.seed = random.seed
    module.get_state, module.set_state = random.get_state, random.set_state
    environment.random = random

    def drawn(function: Any) -> Any:
        def draw(x: Any, *args: Any) -> Any:
            found = function(random.generator, tuple(x.shape), *args)
            return xp.asarray(found).astype(x.dtype)

        return draw

    def op(operator: Any) -> Any:
        return lambda function: environment.register_op(operator, drawn(function))

    op(aten.uniform.default)(lambda g, shape, low=0.0, high=1.0: g.uniform(low, high, shape))
    op(aten.normal_functional.default)(
        lambda g, shape, mean=0.0, std=1.0: g.normal(mean, std, shape)
    )
    op(aten.bernoulli.p)(lambda g, shape, p=0.5: g.random(shape) < p)
    op(aten.random.to)(lambda g, shape, high: g.integers(0, high, shape))
    op(aten.random.default)(lambda g, shape: g.integers(0, 128, shape))

    @op(getattr(aten.random, "from"))
    def random_from(g: Any, shape: Any, low: int, high: int | None) -> Any:
        return g.integers(low, 2**24 if high is None else high, shape)

    @environment.register_op(aten.bernoulli.default)
    def bernoulli(p: Any) -> Any:
        return drawn(lambda g, shape: g.random(shape))(p) < p

    def permutation(n: int, *, generator: Any = None, out: torch.Tensor) -> torch.Tensor:
        if generator is not None:
            raise NotImplementedError(
                f"the device {environment.name!r} does not support generators of the program, "
                "only that of torch.manual_seed"
            )
        environment.data.write(out.resize_((n,)), xp.asarray(random.generator.permutation(n)))
        return out

    environment.register_kernel(aten.randperm.generator_out, permutation)
    environment.register_kernel(aten.randperm.out, permutation)

    @environment.register_op(aten.native_dropout.default)
    def dropout(x: Any, p: float, train: Any = True) -> Any:
        if not train or p == 0:
            return x, xp.ones(x.shape, bool)
        mask = drawn(lambda g, shape: g.random(shape))(x) >= p
        return xp.where(mask, x / max(1 - p, 1e-30), 0), mask
