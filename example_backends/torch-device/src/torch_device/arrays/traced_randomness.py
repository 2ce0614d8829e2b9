"""Random numbers in steps that JAX compiles: the state of the generator is data, as a parameter."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from .. import _storage
from .._storage import Cell


class TracedGenerator:
    """Draws as NumPy's generators do, from a key of JAX that every compiled step replaces."""

    def __init__(self) -> None:
        self.cell = Cell(jnp.zeros(2, jnp.uint32), (2,), torch.uint32)

    @property
    def state(self) -> Any:
        """The state: two numbers, which JAX may trace."""
        if _storage.on_read is not None:
            _storage.on_read(self.cell)
        return self.cell.array

    @state.setter
    def state(self, state: Any) -> None:
        if _storage.on_write is not None:
            _storage.on_write(self.cell)
        self.cell.array = state

    def seed(self, seed: int) -> None:
        """Start anew from a seed."""
        self.state = jax.random.key_data(jax.random.key(seed % 2**63))

    def get_state(self) -> bytes:
        """Return the state, 8 bytes."""
        return np.asarray(self.state).tobytes()

    def set_state(self, state: bytes) -> None:
        """Go on from a state."""
        self.state = jnp.asarray(np.frombuffer(state, np.uint32))

    def _key(self) -> Any:
        keys = jax.random.split(jax.random.wrap_key_data(self.state))
        self.state = jax.random.key_data(keys[0])
        return keys[1]

    def random(self, shape: Any) -> Any:
        return jax.random.uniform(self._key(), shape, jnp.float32)

    def uniform(self, low: float, high: float, shape: Any) -> Any:
        return jax.random.uniform(self._key(), shape, jnp.float64, low, high)

    def normal(self, mean: float, scale: float, shape: Any) -> Any:
        return jax.random.normal(self._key(), shape, jnp.float64) * scale + mean

    def exponential(self, scale: float, shape: Any) -> Any:
        return jax.random.exponential(self._key(), shape, jnp.float64) * scale

    def lognormal(self, mean: float, scale: float, shape: Any) -> Any:
        return jnp.exp(self.normal(mean, scale, shape))

    def geometric(self, p: float, shape: Any) -> Any:
        return jax.random.geometric(self._key(), p, shape)

    def standard_cauchy(self, shape: Any) -> Any:
        return jax.random.cauchy(self._key(), shape, jnp.float64)

    def integers(self, low: int, high: int, shape: Any) -> Any:
        return jax.random.randint(self._key(), shape, low, high, jnp.int64)

    def permutation(self, count: int) -> Any:
        return jax.random.permutation(self._key(), count)
