"""Interpolation: each block of the result needs the part of the input that it is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np

from . import _reach as reach
from ._block import Block, for_later, meta_of, probe, why_not_numpy
from ._call import Call, dispatchable
from ._dask import Array, HighLevelGraph, da, tokenize
from ._neighbourhood import Neighbourhood
from ._pieces import Range, Shape, blocks, pieces_of
from ._positions import Positions, folded, needed, relative

Plan: TypeAlias = Callable[[Call, Shape], tuple[Shape, Positions]]

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
    plan: Plan
    # The call for the probe, with a small result.
    tiny: Callable[[Call], Call] = lambda call: call
    # Planes along other axes are interpolated by themselves.
    axes: Callable[[Call, int], tuple[int, ...]] = lambda call, ndim: tuple(range(ndim))
    arrays: tuple[str, ...] = ("input",)

    def refuse(self, call: Call) -> str | None:
        x = call["input"]
        if reason := _why_not(call):
            return reason
        if call["grid_mode"] and x.dtype.kind == "c":
            return "SciPy ignores grid_mode= for complex numbers"
        axes = self.axes(call, x.ndim)
        shape, positions = self.plan(call, tuple(x.shape[axis] for axis in axes))
        if min(shape) < 1:
            return "the result is empty"
        if not np.isfinite(positions.within([(0, n) for n in shape]).extents()).all():
            return "positions in input= are not finite"
        return None

    def run(self, call: Call) -> Array:
        x = call["input"]
        meta = meta_of(probe(self.tiny(call), "input"))
        if call["prefilter"] and np.all(np.equal(call["zoom"], 1)):
            return x.astype(meta.dtype)  # SciPy copies, and does not round
        axes = self.axes(call, x.ndim)
        shape, positions = self.plan(call, tuple(x.shape[axis] for axis in axes))
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

    def refuse(self, call: Call) -> str | None:
        if reason := _why_not(call):
            return reason
        return "coordinates= is empty" if 0 in np.shape(call["coordinates"]) else None

    def run(self, call: Call) -> Array:
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


def filtered(x: Array, call: Call, axes: Sequence[int]) -> tuple[Array, int]:
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
        x = Neighbourhood(reach.spline).run(Call(step, {"input": x, "axis": axis, **shared}))
    return x, padding


def _why_not(call: Call) -> str | None:
    """Return why the input of `call` cannot be interpolated; None if it can."""
    x = call["input"]
    if x.ndim == 0 or x.size == 0:
        return "input= is empty or a scalar"
    output = np.dtype(x.dtype if call["output"] is None else call["output"])
    if output.kind == "b" and call["order"] > (call["mode"] != "grid-wrap"):
        return "booleans show every rounding error; pass order=0, order=1 or another output="
    return why_not_numpy(x, "input")


def _sampler(call: Call, meta: Any) -> Sample:
    """Return the function that interpolates the filtered input of `call`."""
    settings = {name: call[name] for name in ("order", "mode", "cval")}
    arguments = {**settings, "output": meta.dtype, "prefilter": False}
    function = for_later(dispatchable("scipy_dispatch.ndimage:map_coordinates"))
    return Sample(Block(function, ("input", "coordinates"), arguments, (None, None)))


def _groups(points: Any, x: Array, call: Call) -> Iterator[tuple[Any, list[Range]]]:
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
