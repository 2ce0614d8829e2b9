"""Where arrays are: on which devices, and how a mesh of these splits them."""

from __future__ import annotations

from ._arrays import is_traced
from ._jax import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def is_split(x: Array) -> bool:
    """Whether `x` is sharded over axes of a mesh that are part of its type, traced or not.

    Of `AxisType.Explicit`, which those of `jax.make_mesh` are: what JAX finds a sharding of the
    result for by itself, over other axes, needs no care.
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
