"""Random numbers, of a generator of the device whose state can be saved."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import torch

aten = torch.ops.aten


class Randomness:
    """A generator of NumPy: the numbers are drawn by the host, and are data of the device then.

    Parameters
    ----------
    traced : TracedGenerator, optional
        Draws the numbers of compiled steps.
    """

    def __init__(self, traced: Any = None) -> None:
        self.generator = np.random.default_rng(0)
        self.traced = traced

    def seed(self, seed: int) -> None:
        """Start anew from a seed."""
        self.generator = np.random.default_rng(seed % 2**64)
        if self.traced is not None:
            self.traced.seed(seed)

    def get_state(self) -> torch.Tensor:
        """Return the state as bytes in a tensor of the CPU."""
        state: Any = self.generator.bit_generator.state
        numbers = [state["state"]["state"], state["state"]["inc"]]
        data = b"".join(each.to_bytes(16, "little") for each in numbers)
        data += bytes([state["has_uint32"]]) + state["uinteger"].to_bytes(8, "little")
        if self.traced is not None:
            data += self.traced.get_state()
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
        if self.traced is not None:
            self.traced.set_state(data.read(8))


def register(environment: Any, xp: Any) -> None:
    """Register the functional operators; in-place ones follow from them."""
    traced = None
    if xp.__name__.startswith("jax"):
        from .traced_randomness import TracedGenerator  # imports JAX

        traced = TracedGenerator()
    random = Randomness(traced)

    def get_state() -> torch.Tensor:
        if environment.is_tracing():  # the state is a tensor of the device, not known yet
            return environment.data.wrap(random.traced.state)  # type: ignore[no-any-return]
        return random.get_state()

    def set_state(state: torch.Tensor) -> None:
        if environment.is_tracing() and state.device.type == environment.name:
            random.traced.state = environment.data.read(state)
        else:
            random.set_state(state)

    module = environment.module
    module.seed, module.get_state, module.set_state = random.seed, get_state, set_state

    def source() -> Any:
        return random.traced if environment.is_tracing() else random.generator

    def drawn(function: Any) -> Any:
        def draw(x: Any, *args: Any) -> Any:
            found = function(source(), tuple(x.shape), *args)
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
        environment.data.write(out.resize_((n,)), xp.asarray(source().permutation(n)))
        return out

    environment.register_kernel(aten.randperm.generator_out, permutation)
    environment.register_kernel(aten.randperm.out, permutation)

    @environment.register_op(aten.native_dropout.default)
    def dropout(x: Any, p: float, train: Any = True) -> Any:
        if not train or p == 0:
            return x, xp.ones(x.shape, bool)
        mask = drawn(lambda g, shape: g.random(shape))(x) >= p
        return xp.where(mask, x / max(1 - p, 1e-30), 0), mask
