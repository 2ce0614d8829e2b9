"""Removal of trends."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from ._arrays import default_float, times_line
from ._axes import one_axis
from ._implement import Call, implements, require
from ._jax import Array, jax, jnp


def as_single_or_double(x: Array) -> Array:
    """Return an array of single or double precision; anything else becomes double."""
    return x if np.dtype(x.dtype).char in "dfDF" else x.astype(default_float())


def without_trend(x: Array, axis: int, type: str, breaks: Any = 0) -> Array:
    """Return `x` minus its mean, or minus the lines of best fit between the breaks."""
    require(type in ("linear", "l", "constant", "c"))
    x, axis = as_single_or_double(x), one_axis(axis, x.ndim)
    if type in ("constant", "c"):
        return x - x.mean(axis, keepdims=True)
    length = x.shape[axis]
    edges = np.unique([*map(operator.index, np.atleast_1d(breaks)), 0, length])
    require(edges[-1] == length and edges[0] == 0)
    x = jnp.moveaxis(x, axis, -1)
    x = _without_line(x) if len(edges) == 2 else _without_lines(x, *_pieces(edges))
    return jnp.moveaxis(x, -1, axis)


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
    line = jnp.asarray(ramp / (np.linalg.norm(ramp) or 1), jnp.finfo(x.dtype).dtype)
    x = x - x.mean(-1, keepdims=True)
    return x - times_line(times_line(x, line).sum(-1, keepdims=True), line)


@implements("signal", "data")
def detrend(call: Call) -> Array:
    return without_trend(call.data, call.axis, call.type, call.bp)
