"""JAX: for type checkers everything of it is anything, whichever release is installed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    jax: Any
    jnp: Any
    lax: Any
    Array: TypeAlias = Any
else:
    import jax
    import jax.numpy as jnp
    from jax import Array, lax

__all__ = ["Array", "jax", "jnp", "lax"]
