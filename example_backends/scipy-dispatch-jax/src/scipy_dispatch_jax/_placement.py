"""Where arrays are: on which devices, and how a mesh of these splits them."""

from __future__ import annotations

from ._arrays import is_traced
from ._jax import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def is_split(x: Array) -> bool:
    """Whether the type of `x`, traced or not, says over which axes of a mesh it is sharded.

    It does with axes of `AxisType.Explicit`, as `jax.make_mesh` makes them. Over others JAX finds
    shardings when it compiles, for whatever there is to compute.
    """
    # Old releases have no shardings in types.
    sharding = getattr(x.aval, "sharding", None)
    return sharding is not None and any(sharding.spec)


def are_apart(arrays: Sequence[Array]) -> bool:
    """Whether arrays have been put on different devices, so that JAX does not compute with both."""
    if len(arrays) < 2:
        return False
    put = [x.sharding.device_set for x in arrays if not is_traced(x) and x.committed]
    return any(each != put[0] for each in put)
