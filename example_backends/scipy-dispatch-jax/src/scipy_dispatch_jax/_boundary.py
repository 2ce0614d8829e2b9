"""What lies beyond the ends of an array, by boundary mode."""

from __future__ import annotations

import numpy as np

from ._jax import Array, jax, jnp, lax

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# Filters know no difference between the modes with and without "grid-".
_SAME = {"grid-mirror": "reflect", "grid-wrap": "wrap", "grid-constant": "constant"}
MODES = frozenset({"reflect", "mirror", "nearest", "wrap", "constant", *_SAME})


def checked_mode(mode: Any) -> str:
    """Return `mode` if it is one.

    Raises
    ------
    RuntimeError
        If not, as SciPy does.
    """
    if not isinstance(mode, str) or mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    return mode


def is_constant(mode: str) -> bool:
    """Whether `mode` puts one value beyond the ends, which is given as ``cval=``."""
    return _SAME.get(mode, mode) == "constant"


def positions(index: Any, length: int, mode: str) -> Any:
    """Return where in a line of `length` the elements are that `mode` puts at `index`.

    Parameters
    ----------
    index : array of int
        Positions, also before and after the line. A NumPy or a JAX array.
    length : int
        Of the line, at least 1.
    mode : str
        Any but ``"constant"`` and ``"grid-constant"``.
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
    """Return `x` with what its boundary modes put around it.

    Parameters
    ----------
    x : jax.Array
        Without axes of no length.
    margins : sequence of (int, int)
        How many elements to put before and after, for every axis; none may be negative.
    modes : sequence of str
        The mode of every axis.
    cval : scalar
        What to put there with ``"constant"``.
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

    XLA may end the process over gradients of an array that it splits between devices, if elements
    were taken by numbers of 64 bits, and before JAX 0.12, with `jax_enable_x64`, if by any numbers.
    There they are taken as slices, where these are in a row; elsewhere not, as the gradients of
    slices are slow.
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
