"""The placement of arrays: their devices, and their sharding over a mesh."""

from __future__ import annotations

from ._arrays import is_traced
from ._jax import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def is_split(x: Array) -> bool:
    """Return whether the type of `x`, traced or not, has a sharding over axes of a mesh.

    Axes of `AxisType.Explicit`, such as those from `jax.make_mesh`, are part of an array's type.
    For other axes, JAX infers shardings when it compiles, and any function works.
    """
    # Older releases of JAX have no shardings in types.
    sharding = getattr(x.aval, "sharding", None)
    return sharding is not None and any(sharding.spec)


def are_apart(arrays: Sequence[Array]) -> bool:
    """Return whether arrays were put on different devices, so that JAX cannot combine them."""
    if len(arrays) < 2:
        return False
    put = [x.sharding.device_set for x in arrays if not is_traced(x) and x.committed]
    return any(each != put[0] for each in put)
