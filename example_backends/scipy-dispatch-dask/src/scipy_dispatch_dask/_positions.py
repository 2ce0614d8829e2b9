"""Positions: where in the input each element of an interpolated result is, as SciPy rounds them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ._call import Call
from ._pieces import Range, Shape

Positions: TypeAlias = "Grid | Affine"


@dataclass(frozen=True, eq=False)
class Grid:
    """A table for each axis: the position follows from the index along the same axis."""

    tables: tuple[Any, ...]

    def chunks(self, lengths: Sequence[int]) -> list[int]:
        """Return the lengths of blocks that need about as many elements as they have."""
        steps = [np.abs(np.diff(table)).max(initial=1) for table in self.tables]
        return [max(1, int(n / step)) for n, step in zip(lengths, steps, strict=True)]

    def within(self, block: Sequence[Range]) -> Grid:
        """Return the positions of a block of the result."""
        cut = zip(self.tables, block, strict=True)
        return Grid(tuple(table[start:stop] for table, (start, stop) in cut))

    def extents(self) -> list[tuple[float, float]]:
        """Return the least and the greatest position along each axis."""
        return [(float(table.min()), float(table.max())) for table in self.tables]

    def arrays(self) -> list[Any]:
        """Return the positions along each axis, which broadcast to the shape of the block."""
        return list(np.ix_(*self.tables))


@dataclass(frozen=True, eq=False)
class Affine:
    """Positions are a matrix times the indices within a `block`, plus an offset."""

    # With a row for each axis of the input, in double precision.
    matrix: Any
    offset: Any
    block: Sequence[Range] = ()

    def chunks(self, lengths: Sequence[int]) -> list[int]:
        """Return the lengths of blocks with equal sides, as the input is cut at an angle."""
        side = math.prod(lengths) ** (1 / len(lengths)) / max(1, np.abs(self.matrix).max())
        return [max(1, round(side))] * self.matrix.shape[1]

    def within(self, block: Sequence[Range]) -> Affine:
        """Return the positions of a block of the result."""
        return replace(self, block=block)

    def extents(self) -> list[tuple[float, float]]:
        """Return the least and the greatest position along each axis."""
        corners = np.array(np.meshgrid(*[(start, stop - 1) for start, stop in self.block]))
        found = np.tensordot(self.matrix, corners, 1).reshape(len(self.matrix), -1)
        ends = zip(found.min(1) + self.offset, found.max(1) + self.offset, strict=True)
        return [(float(low), float(high)) for low, high in ends]

    def arrays(self) -> list[Any]:
        """Return the positions along each axis, which broadcast to the shape of the block."""
        indices = np.ogrid[tuple(slice(float(start), float(stop)) for start, stop in self.block)]
        found = []
        for row, position in zip(self.matrix, self.offset, strict=True):
            for factor, index in zip(row, indices, strict=True):
                position = position + index * factor
            found.append(position)
        return found


def of_zoom(call: Call, shape: Shape) -> tuple[Shape, Positions]:
    """Return the shape and the positions of ``zoom``."""
    factors = np.broadcast_to(call["zoom"], len(shape)).tolist()
    result = tuple(round(n * factor) for n, factor in zip(shape, factors, strict=True))
    half, one = (0.5, 0) if call["grid_mode"] else (0.0, 1)
    steps = [(n - one) / (m - one) if m != one else 1 for n, m in zip(shape, result, strict=True)]
    tables = [(np.arange(m) + half) * step - half for m, step in zip(result, steps, strict=True)]
    return result, Grid(tuple(tables))


def of_shift(call: Call, shape: Shape) -> tuple[Shape, Positions]:
    """Return the shape and the positions of ``shift``."""
    distances = np.broadcast_to(np.asarray(call["shift"], dtype=float), len(shape))
    return shape, Grid(tuple(np.arange(n) - by for n, by in zip(shape, distances, strict=True)))


def of_affine(call: Call, shape: Shape) -> tuple[Shape, Positions]:
    """Return the shape and the positions of ``affine_transform``."""
    n = len(shape)
    matrix, offset = np.asarray(call["matrix"], dtype=float), call["offset"]
    if matrix.shape in ((n, n + 1), (n + 1, n + 1)):
        matrix, offset = matrix[:n, :n], matrix[:n, n]
    offset = np.broadcast_to(np.asarray(offset, dtype=float), n)
    result = shape if call["output_shape"] is None else tuple(map(int, call["output_shape"]))
    if matrix.ndim == 2:
        return result, Affine(matrix, offset)
    lines = zip(result, matrix, offset / matrix, strict=True)
    return result, Grid(tuple((np.arange(m) + by) * step for m, step, by in lines))


def of_rotation(call: Call, shape: Shape) -> tuple[Shape, Positions]:
    """Return the shape and the positions of ``rotate`` in the plane of its axes."""
    from scipy.special import cosdg, sindg

    cos, sin = cosdg(call["angle"]), sindg(call["angle"])
    matrix = np.array([[cos, sin], [-sin, cos]])
    plane = result = np.array(shape)
    if call["reshape"]:
        rows, columns = shape
        corners = matrix @ [[0, 0, rows, rows], [0, columns, 0, columns]]
        result = (np.ptp(corners, axis=1) + 0.5).astype(int)
    offset = (plane - 1) / 2 - matrix @ ((result - 1) / 2)
    return tuple(result.tolist()), Affine(matrix, offset)


def plane_axes(call: Call, ndim: int) -> tuple[int, ...]:
    """Return the two axes of a plane that is rotated."""
    return tuple(sorted(int(axis) % ndim for axis in call["axes"]))


def tiny_zoom(call: Call) -> Call:
    """Replace the factors of zoom for the probe: they do not change the type of the result."""
    factors = call["zoom"]
    return call.replaced(zoom=np.full(np.shape(factors), 2))


def tiny_shape(call: Call) -> Call:
    """Replace the shape of the result for the probe by one element along each axis."""
    shape = call["output_shape"]
    return call if shape is None else call.replaced(output_shape=(1,) * len(shape))


def folded(positions: Any, n: int, mode: str) -> Any:
    """Return `positions` along an axis of `n` elements, moved into it as SciPy does for `mode`.

    Modes that continue the array with a constant or its last element need nothing moved.
    """
    at = np.asarray(positions)
    grid = mode in ("reflect", "grid-mirror")
    # SciPy moves positions next to the first element itself, when the block is interpolated.
    low, high = at < (-1 if grid else 0), at > n - 1
    if mode not in _HALF_PERIODS or not (low.any() or high.any()):
        return at
    if n == 1:
        return np.zeros_like(at)
    if mode == "grid-wrap":
        below = at + n * (np.trunc((-1 - at) / n) + 1)
        above = at - n * np.trunc(at / n)
    elif mode == "wrap":
        period = n - 1
        below, above = (
            at + period * (np.trunc(-at / period) + 1),
            at - period * np.trunc(at / period),
        )
    else:
        period = 2 * n if grid else 2 * n - 2
        rest = np.abs(at) - period * np.trunc(np.abs(at) / period)
        above = np.where(rest >= n, period - rest - grid, rest)
        rest = np.where(-at == period, period, rest) if grid else rest
        below = np.where(rest > n if grid else rest >= n - 1, period - rest, rest - grid)
    moved = np.where(low, below, above)
    if grid:  # what is below 0 will be moved again by SciPy, to where it has moved it first
        moved = np.where(moved < 0, np.minimum(-1 - moved, -1e-300), moved)
    return np.where(low | high, moved, at)


def relative(positions: Any, start: int, n: int, mode: str, order: int) -> Any:
    """Return `positions` along an axis of `n` elements, relative to the element `start`.

    It is the first of the range that `needed` has returned.
    """
    at = folded(positions, n, mode) - start
    margin = order + 1
    return margin + np.mod(at - margin, n) if mode == "grid-wrap" else at


def needed(low: float, high: float, n: int, mode: str, order: int) -> Range:
    """Return the range of elements of an axis that positions from `low` to `high` are made from.

    For the mode ``grid-wrap``, elements below 0 and above `n` are those of the other end.
    """
    margin = order + 1
    if mode == "grid-wrap":
        if high - low >= n:
            return -margin, n + margin
        return math.floor(low) - margin, math.ceil(high) + margin + 1
    if mode in _HALF_PERIODS and (low < 0 or high > n - 1):
        half, start = _HALF_PERIODS[mode]
        period = max(n + half, 1)
        first, last = math.ceil((low - start) / period), math.floor((high - start) / period)
        turns = [each * period + start for each in range(first, min(last, first + 2) + 1)]
        ends = folded(np.array([low, high, *turns]), n, mode)
        low, high = float(ends.min()), float(ends.max())
        if mode == "wrap" and turns:
            low, high = 0, n - 1
    low, high = (min(max(each, -1.0), float(n)) for each in (low, high))
    return max(math.floor(low) - margin, 0), min(math.ceil(high) + margin + 1, n)


# How much longer than the axis the distance between turns is, and where one is.
_HALF_PERIODS = {
    "mirror": (-1, 0.0),
    "reflect": (0, -0.5),
    "grid-mirror": (0, -0.5),
    "wrap": (-1, 0.0),
    "grid-wrap": (0, 0.0),
}
