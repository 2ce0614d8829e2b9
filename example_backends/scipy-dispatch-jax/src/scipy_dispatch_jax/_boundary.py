"""Boundary modes: the values beyond the ends of an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._jax import Array, jnp

# For filters, modes with and without "grid-" are equivalent.
_SAME = {"grid-mirror": "reflect", "grid-wrap": "wrap", "grid-constant": "constant"}
MODES = frozenset({"reflect", "mirror", "nearest", "wrap", "constant", *_SAME})


def checked_mode(mode: Any) -> str:
    """Return `mode` after checking that it is valid."""
    if not isinstance(mode, str) or mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    return mode


def is_constant(mode: str) -> bool:
    """Return whether `mode` extends an array by a constant, ``cval=``."""
    return _SAME.get(mode, mode) == "constant"


def positions(index: Any, length: int, mode: str) -> Any:
    """Return the positions in a line of the elements that a mode assigns to indices.

    These are of NumPy or JAX. The mode is none with a constant.
    """
    xp = np if isinstance(index, np.ndarray) else jnp
    mode = _SAME.get(mode, mode)
    if mode == "nearest" or (mode == "mirror" and length == 1):
        return xp.clip(index, 0, length - 1)
    if mode == "wrap":
        return index % length
    if mode == "mirror":
        index = index % (2 * length - 2)
        return xp.minimum(index, 2 * length - 2 - index)
    index = index % (2 * length)
    return xp.minimum(index, 2 * length - 1 - index)


_PADS = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap"}


def extended(
    x: Array, margins: Sequence[tuple[int, int]], modes: Sequence[str], cval: Any
) -> Array:
    """Return `x` with so many elements more before and after it along each axis."""
    for axis, (margin, mode) in enumerate(zip(margins, modes, strict=True)):
        if not any(margin):
            continue
        if is_constant(mode):
            # Not `jnp.pad`, which cannot be differentiated for the constant.
            fill = jnp.asarray(cval).astype(x.dtype)
            shapes = ((*x.shape[:axis], count, *x.shape[axis + 1 :]) for count in margin)
            before, after = (jnp.broadcast_to(fill, shape) for shape in shapes)
            x = jnp.concatenate([before, x, after], axis)
        else:
            widths = [margin if each == axis else (0, 0) for each in range(x.ndim)]
            x = jnp.pad(x, widths, _PADS[_SAME.get(mode, mode)])
    return x
