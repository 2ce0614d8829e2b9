"""Removal of trends."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

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

    Raises
    ------
    ValueError, IndexError or TypeError
        If an argument is invalid.
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


class _Pieces(NamedTuple):
    """Pieces of similar length of a line, as padded rows.

    Attributes
    ----------
    places : array of int
        The indices of the elements of each piece.
    is_there : array of bool
        A mask of the elements that are not padding.
    ramp : array of float
        A normalized ramp through the centre of the piece; 0 in the padding.
    sizes : array of float
        The number of elements in each piece, as a column.
    """

    places: np.ndarray
    is_there: np.ndarray
    ramp: np.ndarray
    sizes: np.ndarray


def _pieces(edges: np.ndarray) -> tuple[list[_Pieces], np.ndarray]:
    """Return the pieces between `edges` in groups, and each element's place in the joined rows.

    The compiled code depends only on the shapes of the groups. Widths are powers of 2, so that
    many pieces need few shapes, and other pieces of the same shapes need no compilation.
    """
    firsts, counts = edges[:-1], np.diff(edges)
    widths = 2 ** np.ceil(np.log2(counts)).astype(int)
    where, groups, total = np.zeros(edges[-1], int), [], 0
    for width in np.unique(widths):
        first, count = firsts[widths == width, None], counts[widths == width, None]
        steps = np.arange(width)
        is_there = steps < count
        ramp = np.where(is_there, steps - (count - 1) / 2, 0)
        norm = np.linalg.norm(ramp, axis=-1, keepdims=True)
        index = np.where(is_there, first + steps, first)
        where[index[is_there]] = total + np.flatnonzero(is_there)
        total += is_there.size
        groups.append(_Pieces(index, is_there, ramp / np.where(norm, norm, 1), count * 1.0))
    return groups, where


@partial(jax.jit)
def _without_lines(x: Array, groups: list[_Pieces], where: Any) -> Array:
    """Subtract from each piece its projection onto constants and lines."""
    rows = []
    for places, *tables in groups:
        is_there, line, sizes = (
            jnp.asarray(each).reshape((1,) * (x.ndim - 1) + each.shape) for each in tables
        )
        line, sizes = line.astype(x.dtype), sizes.astype(x.dtype)
        part = jnp.where(is_there, x[..., places], 0)
        part = jnp.where(is_there, part - part.sum(-1, keepdims=True) / sizes, 0)
        part = part - (part * line).sum(-1, keepdims=True) * line
        rows.append(part.reshape((*x.shape[:-1], -1)))
    return jnp.concatenate(rows, -1)[..., where]


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
