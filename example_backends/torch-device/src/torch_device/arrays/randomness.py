"""Random numbers, of a generator of the device whose state can be saved."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import torch

aten = torch.ops.aten


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


def register(environment: Any, xp: Any) -> None:
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
    op(aten.exponential.default)(lambda g, shape, rate=1.0: g.exponential(1 / rate, shape))
    op(aten.log_normal.default)(lambda g, shape, mean=1.0, std=2.0: g.lognormal(mean, std, shape))
    op(aten.geometric.default)(lambda g, shape, p: g.geometric(p, shape))
    op(aten.cauchy.default)(
        lambda g, shape, median=0.0, sigma=1.0: g.standard_cauchy(shape) * sigma + median
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
