"""Labels of connected features: block by block, joined across blocks, numbered as SciPy does."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ._block import Block, block_of, probe, why_not_numpy
from ._dask import Array, da, dask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ._call import Call

# SciPy takes larger labels for arrays of as many elements.
_MANY = 2**31 - 2


@dataclass(frozen=True)
class Labelling:
    """Label features.

    In its block, a feature is called after where its first element is in the whole array: so
    it has a name that no other has. Where features touch across blocks, the first of the names
    is that of all of them; SciPy numbers features in this order.
    """

    arrays: tuple[str, ...] = ("input",)

    def refuse(self, call: Call) -> str | None:
        """Say why `call` cannot be honoured; None if it can."""
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

    def run(self, call: Call) -> tuple[Array, Array]:
        """Return labels and, as an array without dimensions, how many there are."""
        x, structure = call["input"], call["structure"]
        dtype = probe(call, "input")[0].dtype if x.size < _MANY else np.dtype(np.intp)
        block, shared = block_of(call, "input")
        meta, long = (np.empty((0,) * x.ndim, dtype=each) for each in (dtype, np.int64))
        local = _unfused(da.map_blocks(Labelled(block), x, meta=meta, **shared))
        names = _unfused(da.map_blocks(Names(x.shape), local, meta=long))
        named = _unfused(da.map_blocks(_named, local, names, meta=long))
        if structure is None:
            structure = _cross(x.ndim)
        steps = _half_of(np.asarray(structure, dtype=bool))
        pairs = [
            dask.delayed(_touching, pure=True)(each, steps)
            for seam in _seams(named)
            for each in _tasks(seam.rechunk(seam.shape))
        ]
        numbers = dask.delayed(_numbers, pure=True)(_tasks(names).tolist(), pairs, dtype)
        labels = da.map_blocks(_numbered, local, names, numbers, dtype=dtype, meta=meta)
        count = dask.delayed(_count, pure=True)(numbers)
        return labels, da.from_delayed(count, shape=(), dtype=int)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Label the features of a block, counted from 1.

    Parameters
    ----------
    block : Block
        What labels a block, and counts.
    """

    block: Block

    @property
    def __name__(self) -> str:
        return self.block.__name__

    def __call__(self, x: Any, **shared: Any) -> Any:
        return self.block(x, **shared)[0]


@dataclass(frozen=True)
class Names:
    """Name the features of a block after where they begin, counted from 1.

    Parameters
    ----------
    shape : tuple of int
        The shape of the whole array.
    """

    shape: tuple[int, ...]

    @property
    def __name__(self) -> str:
        return "names"

    def __call__(self, labels: Any, *, block_info: Any) -> Any:
        """Return the name of each label; the background is called 0."""
        places = np.empty(labels.max(initial=0) + 1, dtype=np.int64)
        # Backwards, so that the first element of each feature is the last to be noted.
        places[labels.ravel()[::-1]] = np.arange(labels.size - 1, -1, -1)
        starts = [start for start, _ in block_info[0]["array-location"]]
        inner = np.unravel_index(places[1:], labels.shape)
        outer = tuple(index + start for index, start in zip(inner, starts, strict=True))
        return np.append(0, np.ravel_multi_index(outer, self.shape) + 1)


def _cross(ndim: int) -> Any:
    """Return the structure of features whose elements touch at their sides."""
    return np.abs(np.indices((3,) * ndim) - 1).sum(axis=0) <= 1


def _half_of(structure: Any) -> list[tuple[int, ...]]:
    """Return the steps to neighbours, but for those that are the opposite of another."""
    steps = [tuple(step) for step in (np.argwhere(structure) - 1).tolist()]
    return [step for step in steps if step > (0,) * structure.ndim]


def _seams(x: Array) -> Iterator[Any]:
    """Yield where blocks meet: two elements deep, and one longer at either end than the block."""
    ends = [np.cumsum(sizes).tolist() for sizes in x.chunks]
    for index in product(*map(range, x.numblocks)):
        here = [(ends[i][k] - x.chunks[i][k], ends[i][k]) for i, k in enumerate(index)]
        around = [slice(max(start - 1, 0), stop + 1) for start, stop in here]
        for axis, (_, stop) in enumerate(here):
            if stop < x.shape[axis]:
                seam = (*around[:axis], slice(stop - 1, stop + 1), *around[axis + 1 :])
                yield x[seam]


def _unfused(x: Array) -> Array:
    """Return `x` with tasks that Dask does not make parts of what follows, several times."""
    return da.Array(dict(x.__dask_graph__()), x.name, x.chunks, meta=x._meta)


def _tasks(x: Array) -> Any:
    """Return the blocks of `x`, not optimized each by itself, for the same reason."""
    return x.to_delayed(optimize_graph=False).ravel()


def _named(labels: Any, names: Any) -> Any:
    """Replace the labels of a block by names."""
    return names[labels]


def _touching(seam: Any, steps: Iterable[tuple[int, ...]]) -> Any:
    """Return the pairs of features that touch, one column for each."""
    pairs = [np.empty((2, 0), dtype=np.int64)]
    for step in steps:
        ahead = tuple(slice(max(each, 0), min(each, 0) or None) for each in step)
        behind = tuple(slice(max(-each, 0), min(-each, 0) or None) for each in step)
        both = np.stack([seam[ahead].ravel(), seam[behind].ravel()])
        pairs.append(both[:, both.all(axis=0) & (both[0] != both[1])])
    return np.unique(np.concatenate(pairs, axis=1), axis=1)


def _numbers(names: Iterable[Any], pairs: Iterable[Any], dtype: Any) -> tuple[Any, Any]:
    """Return all names but that of the background in order, and the number of each feature."""
    known = np.sort(np.concatenate([each[1:] for each in names]))
    one, other = np.searchsorted(
        known, np.concatenate([np.empty((2, 0), dtype=np.int64), *pairs], axis=1)
    )
    graph = coo_matrix((np.ones(len(one), dtype=bool), (one, other)), shape=(len(known),) * 2)
    _, component = connected_components(graph, directed=False)
    _, first, inverse = np.unique(component, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=dtype)
    order[np.argsort(first)] = np.arange(1, len(first) + 1)
    return known, order[inverse]


def _numbered(labels: Any, names: Any, numbers: tuple[Any, Any]) -> Any:
    """Replace the labels of a block by numbers; the background keeps its 0."""
    known, order = numbers
    table = np.zeros(len(names), dtype=order.dtype)
    table[1:] = order[np.searchsorted(known, names[1:])]
    return table[labels]


def _count(numbers: tuple[Any, Any]) -> Any:
    """Return how many features there are."""
    return np.asarray(numbers[1].max(initial=0), dtype=int)
