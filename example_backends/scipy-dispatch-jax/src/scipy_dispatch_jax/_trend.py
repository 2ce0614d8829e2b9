"""Trends, taken away."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from ._arrays import default_float, times_line
from ._axes import one_axis
from ._jax import Array, jax, jnp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def as_single_or_double(x: Any) -> Array:
    """Return an array of single or double precision; anything else becomes double."""
    x = jnp.asarray(x)
    return x if np.dtype(x.dtype).char in "dfDF" else x.astype(default_float())


def without_trend(x: Any, axis: int, type: str, breaks: Any = 0) -> Array:
    """Return `x` less its mean, or less lines that fit it best.

    Parameters
    ----------
    x : array
        The data.
    axis : int
        Along which axis.
    type : str
        ``"constant"`` or ``"linear"``.
    breaks : int or array of int, optional
        Where one line ends and the next begins.

    Raises
    ------
    ValueError, IndexError or TypeError
        If an argument makes no sense.
    """
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    x = as_single_or_double(x)
    axis = one_axis(axis, x.ndim)
    if type in ("constant", "c"):
        return _without_mean(x, axis)
    length = x.shape[axis]
    edges = np.unique(np.concatenate([np.atleast_1d(breaks), [0, length]]))
    if edges.dtype.kind not in "iu":
        raise TypeError(f"breakpoints must be integers, not {edges.dtype}")
    if edges[-1] > length or edges[0] < 0:
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    return _without_lines(x, axis, tuple(edges.tolist()))


@partial(jax.jit, static_argnames="axis")
def _without_mean(x: Array, axis: int) -> Array:
    return x - x.mean(axis, keepdims=True)


@partial(jax.jit, static_argnames=("axis", "edges"))
def _without_lines(x: Array, axis: int, edges: tuple[int, ...]) -> Array:
    x = jnp.moveaxis(x, axis, -1)
    parts = [_without_line(x[..., first:last]) for first, last in pairwise(edges)]
    return jnp.moveaxis(jnp.concatenate(parts, -1), -1, axis)


def _without_line(x: Array) -> Array:
    """Subtract the projection on constants and lines."""
    # Orthogonal to one another, in double precision, so that no system is to be solved.
    ramp = np.arange(x.shape[-1]) - (x.shape[-1] - 1) / 2
    ramp = ramp / (np.linalg.norm(ramp) or 1)
    line = jnp.asarray(ramp, jnp.finfo(x.dtype).dtype)
    x = x - x.mean(-1, keepdims=True)
    slope = times_line(x, line).sum(-1, keepdims=True)
    return x - times_line(slope, line)
