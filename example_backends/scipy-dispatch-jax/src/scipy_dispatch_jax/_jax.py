"""JAX without type information: type checkers see all its names as ``Any`` in any release."""

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
