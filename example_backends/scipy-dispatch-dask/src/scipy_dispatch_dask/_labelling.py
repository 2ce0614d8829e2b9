"""Labels of connected features: found in each block, merged across blocks, numbered as in SciPy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, product
from operator import add
from typing import Any, TypeAlias

import dask.array as da
import numpy as np
from dask.array import Array
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from scipy_dispatch.calls import BoundCall

from ._blocks import Block, block_of, probe, why_not_numpy

Step: TypeAlias = "tuple[int, ...]"

# For arrays with at least this many elements, SciPy uses a larger integer type for the labels.
_MANY = 2**31 - 2

_PASSES = ("local", "faces", "pairs")


@dataclass(frozen=True)
class Labelling:
    """Label features.

    Within a block, each feature is named after the position of its first element in the whole
    array, so that names are unique. Features that touch across blocks are one feature, which
    gets the smallest of their names. SciPy numbers features in the order of these names.

    There are four tasks for each block: its labels, the names at its faces, the pairs that
    touch across them, and the final numbers. All are in one layer of the graph.
    """

    arrays: tuple[str, ...] = ("input",)

    def refuse(self, call: BoundCall) -> str | None:
        x = call["input"]
        if call["output"] is not None:
            return (
                "with output= SciPy raises if there are too many features for the data "
                "type, which is not known before the result is computed"
            )
        if x.ndim == 0 or x.size == 0:
            return "input= is empty or a scalar"
        if x.dtype.kind == "c":
            return "input= is complex"
        return why_not_numpy(x, "input")

    def run(self, call: BoundCall) -> tuple[Array, Array]:
        """Return the labels and, as an array without dimensions, the number of features."""
        x, structure = call["input"], call["structure"]
        dtype = probe(call, "input")[0].dtype if x.size < _MANY else np.dtype(np.intp)
        if structure is None:
            structure = _cross(x.ndim)
        steps = _half_of(np.asarray(structure, dtype=bool))
        block, _ = block_of(call, "input")
        name = f"label-{tokenize(x.name, block)}"
        base, numbers = f"{name}-numbers", (f"{name}-numbers",)
        places = dict.fromkeys(product(*map(range, x.numblocks)))
        starts = [list(accumulate(sizes, initial=0)) for sizes in x.chunks]
        sides = sorted({side for step in steps for side in _sides(step)})
        faces_of = partial(_faces, shape=x.shape, sides=[*sides, *map(_opposite, sides)])
        pairs_of = partial(_touching, steps=steps)
        tasks: dict[Any, Any] = {}
        labels: dict[Any, Any] = {}
        for index in places:
            begin = [each[i] for each, i in zip(starts, index, strict=True)]
            others = [(side, tuple(map(add, index, side))) for side in sides]
            beside = [(side, each) for side, each in others if each in places]
            local, faces, pairs = ((f"{base}-{each}", *index) for each in _PASSES)
            tasks[local] = (_labelled, block, (x.name, *index))
            tasks[faces] = (faces_of, local, begin)
            around = [(f"{base}-faces", *each) for _, each in beside]
            tasks[pairs] = (pairs_of, faces, around, [list(side) for side, _ in beside])
            key = (name, *index)
            labels[key] = (_numbered, local, pairs, numbers)
        tasks[numbers] = (_numbers, [(f"{base}-pairs", *index) for index in places], dtype)
        count = f"{name}-count"
        graph = HighLevelGraph.from_collections(base, tasks, dependencies=[x])
        graph = HighLevelGraph(
            {**graph.layers, name: labels, count: {(count,): (_count, numbers)}},
            {**graph.dependencies, name: {base}, count: {base}},
        )
        meta = np.empty((0,) * x.ndim, dtype=dtype)
        found = da.Array(graph, name, x.chunks, meta=meta)
        return found, da.Array(graph, count, (), dtype=int)


def _cross(ndim: int) -> Any:
    """Return the structure that connects elements which share a face."""
    return np.abs(np.indices((3,) * ndim) - 1).sum(axis=0) <= 1


def _half_of(structure: Any) -> list[Step]:
    """Return the steps to the neighbours, one of each pair of opposite steps."""
    steps = [tuple(step) for step in (np.argwhere(structure) - 1).tolist()]
    return [step for step in steps if step > (0,) * structure.ndim]


def _sides(step: Step) -> Iterator[Step]:
    """Yield in which directions `step` may leave a block."""
    return filter(any, product(*({0, each} for each in step)))


def _opposite(step: Step) -> Step:
    return tuple(-each for each in step)


def _labelled(block: Block, x: Any) -> Any:
    """Return the labels of a block, starting at 1."""
    return block(x)[0]


def _faces(
    labels: Any, begin: Sequence[int], *, shape: Sequence[int], sides: Sequence[Step]
) -> tuple[Any, dict[Step, Any]]:
    """Name the features of a block: 1 plus the position of the first element, 0 for no feature.

    Return the name of each label, and those of the elements at each side, edge or corner.
    """
    places = np.empty(labels.max(initial=0) + 1, dtype=np.int64)
    # In reverse order, so that the assignment of the first element comes last and stays.
    places[labels.ravel()[::-1]] = np.arange(labels.size - 1, -1, -1)
    inner = np.unravel_index(places[1:], labels.shape)
    outer = tuple(index + start for index, start in zip(inner, begin, strict=True))
    names = np.append(0, np.ravel_multi_index(outer, shape) + 1)
    cut = {-1: slice(0, 1), 0: slice(None), 1: slice(-1, None)}
    return names, {side: names[labels[tuple(cut[each] for each in side)]] for side in sides}


def _touching(
    faces: tuple[Any, dict[Step, Any]],
    others: Sequence[tuple[Any, dict[Step, Any]]],
    directions: Sequence[Sequence[int]],
    *,
    steps: Sequence[Step],
) -> tuple[Any, Any]:
    """Return the names of a block, and the pairs of names that touch across its sides."""
    names, own = faces
    pairs = [np.empty((2, 0), dtype=np.int64)]
    for side, (_, other) in zip(map(tuple, directions), others, strict=True):
        for step in steps:
            if side in _sides(step):
                along = [each - out for each, out in zip(step, side, strict=True)]
                here = tuple(slice(max(-each, 0), min(-each, 0) or None) for each in along)
                there = tuple(slice(max(each, 0), min(each, 0) or None) for each in along)
                both = np.stack([own[side][here].ravel(), other[_opposite(side)][there].ravel()])
                pairs.append(both[:, both.all(axis=0)])
    return names[1:], np.unique(np.concatenate(pairs, axis=1), axis=1)


def _numbers(parts: Iterable[tuple[Any, Any]], dtype: Any) -> tuple[Any, Any]:
    """Return the sorted names of all features, and the number of each feature."""
    names, pairs = zip(*parts, strict=True)
    known = np.sort(np.concatenate(names))
    one, other = np.searchsorted(known, np.concatenate(pairs, axis=1))
    graph = coo_matrix((np.ones(len(one), dtype=bool), (one, other)), shape=(len(known),) * 2)
    _, component = connected_components(graph, directed=False)
    _, first, inverse = np.unique(component, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=dtype)
    order[np.argsort(first)] = np.arange(1, len(first) + 1)
    return known, order[inverse]


def _numbered(labels: Any, part: tuple[Any, Any], numbers: tuple[Any, Any]) -> Any:
    """Replace the labels of a block by the final numbers; the background stays 0."""
    known, order = numbers
    return np.append(order.dtype.type(0), order[np.searchsorted(known, part[0])])[labels]


def _count(numbers: tuple[Any, Any]) -> Any:
    """Return the number of features."""
    return np.asarray(numbers[1].max(initial=0), dtype=int)
