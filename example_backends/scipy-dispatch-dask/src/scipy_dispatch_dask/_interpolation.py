"""Interpolation: each block of the result needs the part of the input that it is made from."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, product
from math import prod
from operator import getitem
from typing import Any, TypeAlias

import dask.array as da
import numpy as np
from dask.array import Array
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from scipy_dispatch.calls import BoundCall

from ._blocks import Block, dispatchable, for_later, meta_of, probe, why_not_numpy
from ._neighbourhood import Neighbourhood, spline_reach

Shape: TypeAlias = "tuple[int, ...]"
Range: TypeAlias = "tuple[int, int]"


def blocks(chunks: Sequence[Sequence[int]]) -> Iterator[tuple[Shape, list[Range]]]:
    """Yield the index of each block, and where it is along each axis."""
    ranges = [list(pairwise(accumulate(sizes, initial=0))) for sizes in chunks]
    for index in product(*(range(len(sizes)) for sizes in chunks)):
        yield index, [each[i] for each, i in zip(ranges, index, strict=True)]


def pieces_of(x: Array, ranges: Sequence[Range], name: str, tasks: dict[Any, Any]) -> Any:
    """Return the blocks of `x` within `ranges` as nested lists of tasks, which `tasks` gets."""
    cuts = [list(_cuts(sizes, *each)) for sizes, each in zip(x.chunks, ranges, strict=True)]

    def nested(chosen: tuple[tuple[int, slice], ...]) -> Any:
        if len(chosen) < x.ndim:
            return [nested((*chosen, each)) for each in cuts[len(chosen)]]
        source = (x.name, *(chunk for chunk, _ in chosen))
        edges = [edge for _, each in chosen for edge in (each.start, each.stop)]
        if all(each == slice(0, x.chunks[i][k]) for i, (k, each) in enumerate(chosen)):
            return source
        key = (f"{name}-part", *source[1:], *edges)
        tasks[key] = (getitem, source, tuple(each for _, each in chosen))
        return key

    return nested(())


def _cuts(sizes: Sequence[int], start: int, stop: int) -> Iterator[tuple[int, slice]]:
    """Yield the chunks from `start` to `stop`, and what is needed of each; the ends are joined."""
    ends = list(accumulate(sizes))
    while start < stop:
        place = start % ends[-1]
        chunk = bisect_right(ends, place)
        begin = ends[chunk] - sizes[chunk]
        end = min(ends[chunk], place + stop - start)
        yield chunk, slice(place - begin, end - begin)
        start += end - place


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


def of_zoom(call: BoundCall, shape: Shape) -> tuple[Shape, Positions]:
    """Return the shape and the positions of ``zoom``."""
    factors = np.broadcast_to(call["zoom"], len(shape)).tolist()
    result = tuple(round(n * factor) for n, factor in zip(shape, factors, strict=True))
    half, one = (0.5, 0) if call["grid_mode"] else (0.0, 1)
    steps = [(n - one) / (m - one) if m != one else 1 for n, m in zip(shape, result, strict=True)]
    tables = [(np.arange(m) + half) * step - half for m, step in zip(result, steps, strict=True)]
    return result, Grid(tuple(tables))


def of_shift(call: BoundCall, shape: Shape) -> tuple[Shape, Positions]:
    """Return the shape and the positions of ``shift``."""
    distances = np.broadcast_to(np.asarray(call["shift"], dtype=float), len(shape))
    return shape, Grid(tuple(np.arange(n) - by for n, by in zip(shape, distances, strict=True)))


def of_affine(call: BoundCall, shape: Shape) -> tuple[Shape, Positions]:
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


def of_rotation(call: BoundCall, shape: Shape) -> tuple[Shape, Positions]:
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


def plane_axes(call: BoundCall, ndim: int) -> tuple[int, ...]:
    """Return the two axes of a plane that is rotated."""
    return tuple(sorted(int(axis) % ndim for axis in call["axes"]))


def tiny_zoom(call: BoundCall) -> BoundCall:
    """Replace the factors of zoom for the probe: they do not change the type of the result."""
    factors = call["zoom"]
    return call.replaced(zoom=np.full(np.shape(factors), 2))


def tiny_shape(call: BoundCall) -> BoundCall:
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


Geometry: TypeAlias = Callable[[BoundCall, Shape], tuple[Shape, Positions]]

# SciPy continues the array by 12 elements before it filters, in these modes of `numpy.pad`.
_PADDING = 12
_PADDED = {"nearest": "edge", "grid-constant": "constant"}


@dataclass(frozen=True)
class Interpolation:
    """Interpolate at positions in the input that follow from the indices of the result.

    The input is filtered lazily. Then each block is a call of ``map_coordinates``, without the
    filter, on the elements around the positions of the block. They are computed in double
    precision as SciPy computes them; relative to the block's first element they are exact.
    """

    # From the lengths of the axes: the shape of the result, and its positions.
    geometry: Geometry
    # The call for the probe, with a small result.
    tiny: Callable[[BoundCall], BoundCall] = lambda call: call
    # Planes along other axes are interpolated by themselves.
    axes: Callable[[BoundCall, int], tuple[int, ...]] = lambda call, ndim: tuple(range(ndim))
    arrays: tuple[str, ...] = ("input",)

    def refuse(self, call: BoundCall) -> str | None:
        x = call["input"]
        if reason := _why_not(call):
            return reason
        if call["grid_mode"] and x.dtype.kind == "c":
            return "SciPy ignores grid_mode= for complex numbers"
        axes = self.axes(call, x.ndim)
        shape, positions = self.geometry(call, tuple(x.shape[axis] for axis in axes))
        if min(shape) < 1:
            return "the result is empty"
        if not np.isfinite(positions.within([(0, n) for n in shape]).extents()).all():
            return "positions in input= are not finite"
        return None

    def run(self, call: BoundCall) -> Array:
        x = call["input"]
        meta = meta_of(probe(self.tiny(call), "input"))
        if call["prefilter"] and np.all(np.equal(call["zoom"], 1)):
            return x.astype(meta.dtype)  # SciPy copies, and does not round
        axes = self.axes(call, x.ndim)
        shape, positions = self.geometry(call, tuple(x.shape[axis] for axis in axes))
        lengths = positions.chunks([max(x.chunks[axis]) for axis in axes])
        cut = da.core.normalize_chunks(tuple(lengths), shape)
        if len(axes) < x.ndim:  # the other axes stay as they are
            others = dict(enumerate(x.chunks))
            cut = tuple({**others, **dict(zip(axes, cut, strict=True))}.values())
        source, padding = filtered(x, call, axes)
        lines = tuple(source.shape[axis] for axis in axes)
        task = Interpolated(_sampler(call, meta), lines, padding, axes)
        name = f"{call.function.__name__}-{tokenize(source.name, task, positions, cut)}"
        tasks: dict[Any, Any] = {}
        for index, block in blocks(cut):
            inner = [block[axis] for axis in axes] if len(axes) < x.ndim else block
            part = positions.within(inner)  # small, as it is in the task
            boxes = [
                needed(low + padding, high + padding, n, call["mode"], call["order"])
                for (low, high), n in zip(part.extents(), lines, strict=True)
            ]
            around = dict(zip(axes, boxes, strict=True))
            ranges = [around.get(axis) or block[axis] for axis in range(x.ndim)]
            pieces = pieces_of(source, ranges, name, tasks)
            key = (name, *index)
            tasks[key] = (task, pieces, [start for start, _ in boxes], part)
        graph = HighLevelGraph.from_collections(name, tasks, dependencies=[source])
        return da.Array(graph, name, cut, meta=meta)


@dataclass(frozen=True)
class Sampling:
    """Interpolate at ``coordinates``: a task for each block of the input that has some of them.

    They decide which elements of the input are needed, so they have to be in memory.
    """

    arrays: tuple[str, ...] = ("input",)

    def refuse(self, call: BoundCall) -> str | None:
        if reason := _why_not(call):
            return reason
        return "coordinates= is empty" if 0 in np.shape(call["coordinates"]) else None

    def run(self, call: BoundCall) -> Array:
        x, coordinates = call["input"], np.asarray(call["coordinates"])
        few = np.zeros((*coordinates.shape[:1], *(1,) * (coordinates.ndim - 1)), coordinates.dtype)
        meta = meta_of(probe(call.replaced(coordinates=few), "input"))
        source, padding = filtered(x, call, tuple(range(x.ndim)))
        sample = _sampler(call, meta)
        name = f"map_coordinates-{tokenize(source.name, coordinates, sample)}"
        tasks: dict[Any, Any] = {}
        chunks = da.core.normalize_chunks(
            "auto", coordinates.shape[1:], limit=8 * prod(map(max, x.chunks)), dtype=float
        )
        lines = zip(coordinates, source.shape, strict=True)
        at = [folded(each + float(padding), n, call["mode"]) for each, n in lines]
        for index, block in blocks(chunks):
            inside = tuple(slice(*each) for each in block)
            points = np.stack([each[inside].ravel() for each in at])
            keys, groups = [], []
            for k, (group, boxes) in enumerate(_groups(points, source, call)):
                pieces = pieces_of(source, boxes, name, tasks)
                starts = np.array([[start] for start, _ in boxes])
                keys.append((f"{name}-points", *index, k))
                groups.append(group)
                tasks[keys[-1]] = (sample, pieces, points[:, group] - starts)
            key = (name, *index)
            tasks[key] = (_joined, keys, groups, [stop - start for start, stop in block])
        graph = HighLevelGraph.from_collections(name, tasks, dependencies=[source])
        return da.Array(graph, name, chunks, meta=meta)


@dataclass(frozen=True, eq=False)
class Sample:
    """Interpolate a part of the filtered input, which comes in pieces."""

    # A call of map_coordinates.
    block: Block

    def __call__(self, pieces: Any, coordinates: Any) -> Any:
        x = pieces if isinstance(pieces, np.ndarray) else np.block(pieces)
        return self.block(x, coordinates)


@dataclass(frozen=True, eq=False)
class Interpolated:
    """Compute a block of the result from the elements around its positions."""

    sample: Sample
    # How long the filtered input is along the axes.
    lines: tuple[int, ...]
    # How far it begins before the input.
    padding: int
    axes: tuple[int, ...]

    def __call__(self, pieces: Any, starts: Sequence[int], positions: Positions) -> Any:
        x = np.block(pieces)
        mode, order = (self.sample.block.arguments[name] for name in ("mode", "order"))
        arrays = positions.arrays()
        shape = np.broadcast_shapes(*(at.shape for at in arrays))
        coordinates = np.empty((len(self.lines), *shape))
        for i, at in enumerate(arrays):
            coordinates[i] = relative(at + self.padding, starts[i], self.lines[i], mode, order)
        if len(self.axes) == x.ndim:
            return self.sample(x, coordinates)
        last = range(-len(self.axes), 0)
        planes = np.moveaxis(x, self.axes, last)
        outer = planes.shape[: -len(self.axes)]
        result = np.empty((*outer, *shape), self.sample.block.arguments["output"])
        for index in np.ndindex(outer):
            result[index] = self.sample(planes[index], coordinates)
        return np.moveaxis(result, last, self.axes)


def filtered(x: Array, call: BoundCall, axes: Sequence[int]) -> tuple[Array, int]:
    """Return the spline coefficients of `x`, and by how many elements they are longer at an end."""
    order, mode = call["order"], call["mode"]
    if order < 2 or not call["prefilter"]:
        return x, 0
    padding = 0
    if mode in _PADDED:
        padding = _PADDING
        fill = np.pad(np.zeros(1, x.dtype), 1, constant_values=call["cval"])[0]
        widths = [(padding, padding) if axis in axes else (0, 0) for axis in range(x.ndim)]
        constant = {"constant_values": fill} if mode == "grid-constant" else {}
        x = da.pad(x, widths, mode=_PADDED[mode], **constant)
    step = dispatchable("scipy_dispatch.ndimage:spline_filter1d")
    shared = {"order": order, "output": complex if x.dtype.kind == "c" else float, "mode": mode}
    for axis in axes:
        x = Neighbourhood(spline_reach).run(BoundCall(step, {"input": x, "axis": axis, **shared}))
    return x, padding


def _why_not(call: BoundCall) -> str | None:
    """Return why the input of `call` cannot be interpolated; None if it can."""
    x = call["input"]
    if x.ndim == 0 or x.size == 0:
        return "input= is empty or a scalar"
    output = np.dtype(x.dtype if call["output"] is None else call["output"])
    if output.kind == "b" and call["order"] > (call["mode"] != "grid-wrap"):
        return "booleans show every rounding error; pass order=0, order=1 or another output="
    return why_not_numpy(x, "input")


def _sampler(call: BoundCall, meta: Any) -> Sample:
    """Return the function that interpolates the filtered input of `call`."""
    settings = {name: call[name] for name in ("order", "mode", "cval")}
    arguments = {**settings, "output": meta.dtype, "prefilter": False}
    function = for_later(dispatchable("scipy_dispatch.ndimage:map_coordinates"))
    return Sample(Block(function, ("input", "coordinates"), arguments, (None, None)))


def _groups(points: Any, x: Array, call: BoundCall) -> Iterator[tuple[Any, list[Range]]]:
    """Yield the indices of the points in each block of `x`, and the range of elements they need."""
    inside = [np.clip(np.nan_to_num(at), -1, n) for at, n in zip(points, x.shape, strict=True)]
    cells = np.ravel_multi_index(
        tuple(
            np.searchsorted(np.cumsum(sizes)[:-1], at, side="right")
            for sizes, at in zip(x.chunks, inside, strict=True)
        ),
        x.numblocks,
    )
    order = np.argsort(cells, kind="stable")
    _, starts = np.unique(cells[order], return_index=True)
    for group in np.split(order, starts[1:]):
        ends = [(at[group].min(), at[group].max()) for at in inside]
        yield (
            group,
            [
                needed(float(low), float(high), n, call["mode"], call["order"])
                for (low, high), n in zip(ends, x.shape, strict=True)
            ],
        )


def _joined(values: Sequence[Any], groups: Sequence[Any], shape: Shape) -> Any:
    """Put the values of all groups of points into one block."""
    result = np.empty(prod(shape), values[0].dtype)
    for value, group in zip(values, groups, strict=True):
        result[group] = value
    return result.reshape(shape)
