"""Removal of trends."""

from __future__ import annotations

from functools import partial

import numpy as np

from ._arrays import default_float, times_line
from ._axes import one_axis
from ._implement import Call, implements
from ._jax import Array, jax, jnp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def as_single_or_double(x: Any) -> Array:
    """Return an array of single or double precision; anything else becomes double."""
    x = jnp.asarray(x)
    return x if np.dtype(x.dtype).char in "dfDF" else x.astype(default_float())


def without_trend(x: Any, axis: int, type: str, breaks: Any = 0) -> Array:
    """Return `x` minus its mean or minus the lines of best fit.

    Parameters
    ----------
    x : array
        The data.
    axis : int
        The axis of the trend.
    type : str
        ``"constant"`` or ``"linear"``.
    breaks : int or array of int, optional
        The indices at which a new line begins.
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
    x = jnp.moveaxis(x, axis, -1)
    if len(edges) == 2:
        return jnp.moveaxis(_without_line(x), -1, axis)
    return jnp.moveaxis(_without_lines(x, *_pieces(edges)), -1, axis)


@partial(jax.jit, static_argnames="axis")
def _without_mean(x: Array, axis: int) -> Array:
    return x - x.mean(axis, keepdims=True)


def _pieces(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each element's piece, normalized ramps through the centres, and the lengths."""
    counts = np.diff(edges)
    piece = np.repeat(np.arange(counts.size), counts)
    ramp = np.arange(edges[-1]) - (edges[:-1] + (counts - 1) / 2)[piece]
    norms = np.sqrt(np.bincount(piece, ramp**2))
    return piece, ramp / np.where(norms, norms, 1)[piece], counts


@partial(jax.jit)
def _without_lines(x: Array, piece: Array, ramp: Array, counts: Array) -> Array:
    """Subtract from each piece its projection onto constants and lines."""

    def sums(x: Array) -> Array:
        total = jax.ops.segment_sum(jnp.moveaxis(x, -1, 0), piece, counts.size)
        return jnp.moveaxis(total, 0, -1)

    real = jnp.finfo(x.dtype).dtype
    ramp, shares = jnp.asarray(ramp, real), 1 / jnp.asarray(counts, real)
    x = x - times_line(sums(x), shares)[..., piece]
    return x - times_line(sums(times_line(x, ramp))[..., piece], ramp)


@partial(jax.jit)
def _without_line(x: Array) -> Array:
    """Subtract the projection onto constants and lines."""
    # An orthogonal basis in double precision, so that no linear system has to be solved.
    ramp = np.arange(x.shape[-1]) - (x.shape[-1] - 1) / 2
    ramp = ramp / (np.linalg.norm(ramp) or 1)
    line = jnp.asarray(ramp, jnp.finfo(x.dtype).dtype)
    x = x - x.mean(-1, keepdims=True)
    slope = times_line(x, line).sum(-1, keepdims=True)
    return x - times_line(slope, line)


def _refuse(call: Call) -> str | None:
    return "data= has no elements" if 0 in jnp.shape(call.data) else None


@implements("signal", "data", _refuse)
def detrend(call: Call) -> Array:
    return without_trend(call.data, call.axis, call.type, call.bp)
