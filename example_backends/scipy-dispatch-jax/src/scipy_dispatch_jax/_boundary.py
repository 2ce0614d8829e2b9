"""Boundary modes: the values beyond the ends of an array."""

from __future__ import annotations

import numpy as np

from ._jax import Array, jax, jnp, lax

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

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
    """Return the positions in a line of the elements that `mode` assigns to `index`.

    Parameters
    ----------
    index : array of int
        Positions, possibly beyond the ends of the line. A NumPy or a JAX array.
    length : int
        The length of the line, at least 1.
    mode : str
        Any mode except ``"constant"`` and ``"grid-constant"``.
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


def extended(
    x: Array, margins: Sequence[tuple[int, int]], modes: Sequence[str], cval: Any
) -> Array:
    """Return `x` extended according to its boundary modes.

    Parameters
    ----------
    x : jax.Array
        The array, without axes of length 0.
    margins : sequence of (int, int)
        The number of elements to add before and after, for every axis; not negative.
    modes : sequence of str
        The mode of every axis.
    cval : scalar
        The value for ``"constant"``.
    """
    for axis, ((before, after), mode) in enumerate(zip(margins, modes, strict=True)):
        if not before and not after:
            continue
        length = x.shape[axis]
        if is_constant(mode):
            fill = jnp.asarray(cval).astype(x.dtype)
            shapes = ([*x.shape[:axis], count, *x.shape[axis + 1 :]] for count in (before, after))
            first, last = (jnp.broadcast_to(fill, shape) for shape in shapes)
        else:
            beyond = np.arange(-before, 0), np.arange(length, length + after)
            first, last = (_taken(x, positions(index, length, mode), axis) for index in beyond)
        parts = [part for part in (first, x, last) if part.shape[axis]]
        x = jnp.concatenate(parts, axis)
    return x


def _taken(x: Array, index: np.ndarray[Any, Any], axis: int) -> Array:
    """Return elements along an axis.

    For an array that XLA splits between devices, gradients of indexing with 64-bit integers may
    crash the process. Before JAX 0.12 and with `jax_enable_x64`, indexing with any integers may.
    In that case consecutive elements are taken as slices. Slices are not used otherwise, because
    their gradients are slow.
    """
    if not index.size or x.shape[axis] > 2**31:
        return jnp.take(x, index, axis)
    if jax.__version_info__ >= (0, 12) or not jax.config.jax_enable_x64:
        return jnp.take(x, index.astype(np.int32), axis)
    first, steps = int(index.min()), np.diff(index)
    row = lax.slice_in_dim(x, first, int(index.max()) + 1, axis=axis)
    if (steps == 1).all():
        return row
    if (steps == -1).all():
        return lax.rev(row, (axis,))
    return jnp.take(row, (index - first).astype(np.int32), axis)
