"""Labels of connected features: found in each block, merged across blocks, numbered as in SciPy."""

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

# For arrays with at least this many elements, SciPy uses a larger integer type for the labels.
_MANY = 2**31 - 2


@dataclass(frozen=True)
class Labelling:
    """Label features.

    Within a block, each feature is named after the position of its first element in the whole
    array, so that names are unique. Features that touch across blocks are one feature, which
    gets the smallest of their names. SciPy numbers features in the order of these names.
    """

    arrays: tuple[str, ...] = ("input",)

    def refuse(self, call: Call) -> str | None:
        """Return why `call` cannot be supported; None if it can."""
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
        """Return the labels and, as an array without dimensions, the number of features."""
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
    """Label the features of a block, starting at 1.

    Parameters
    ----------
    block : Block
        Returns the labels of a block and their number.
    """

    block: Block

    @property
    def __name__(self) -> str:
        return self.block.__name__

    def __call__(self, x: Any, **shared: Any) -> Any:
        return self.block(x, **shared)[0]


@dataclass(frozen=True)
class Names:
    """Compute a name for each feature of a block: 1 plus the position of its first element.

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
        """Return the name of each label; the name of the background is 0."""
        places = np.empty(labels.max(initial=0) + 1, dtype=np.int64)
        # In reverse order, so that the assignment of the first element comes last and stays.
        places[labels.ravel()[::-1]] = np.arange(labels.size - 1, -1, -1)
        starts = [start for start, _ in block_info[0]["array-location"]]
        inner = np.unravel_index(places[1:], labels.shape)
        outer = tuple(index + start for index, start in zip(inner, starts, strict=True))
        return np.append(0, np.ravel_multi_index(outer, self.shape) + 1)


def _cross(ndim: int) -> Any:
    """Return the structure that connects elements which share a face."""
    return np.abs(np.indices((3,) * ndim) - 1).sum(axis=0) <= 1


def _half_of(structure: Any) -> list[tuple[int, ...]]:
    """Return the steps to the neighbours, one of each pair of opposite steps."""
    steps = [tuple(step) for step in (np.argwhere(structure) - 1).tolist()]
    return [step for step in steps if step > (0,) * structure.ndim]


def _seams(x: Array) -> Iterator[Any]:
    """Yield the seams between blocks: two elements deep, and one element longer at each end."""
    ends = [np.cumsum(sizes).tolist() for sizes in x.chunks]
    for index in product(*map(range, x.numblocks)):
        here = [(ends[i][k] - x.chunks[i][k], ends[i][k]) for i, k in enumerate(index)]
        around = [slice(max(start - 1, 0), stop + 1) for start, stop in here]
        for axis, (_, stop) in enumerate(here):
            if stop < x.shape[axis]:
                seam = (*around[:axis], slice(stop - 1, stop + 1), *around[axis + 1 :])
                yield x[seam]


def _unfused(x: Array) -> Array:
    """Return `x` with tasks that Dask does not fuse, and so repeat, in each task that uses them."""
    return da.Array(dict(x.__dask_graph__()), x.name, x.chunks, meta=x._meta)


def _tasks(x: Array) -> Any:
    """Return the blocks of `x` as tasks, without optimization: it too would repeat work."""
    return x.to_delayed(optimize_graph=False).ravel()


def _named(labels: Any, names: Any) -> Any:
    """Replace the labels of a block by the names of its features."""
    return names[labels]


def _touching(seam: Any, steps: Iterable[tuple[int, ...]]) -> Any:
    """Return the pairs of features that touch in a seam, one pair in each column."""
    pairs = [np.empty((2, 0), dtype=np.int64)]
    for step in steps:
        ahead = tuple(slice(max(each, 0), min(each, 0) or None) for each in step)
        behind = tuple(slice(max(-each, 0), min(-each, 0) or None) for each in step)
        both = np.stack([seam[ahead].ravel(), seam[behind].ravel()])
        pairs.append(both[:, both.all(axis=0) & (both[0] != both[1])])
    return np.unique(np.concatenate(pairs, axis=1), axis=1)


def _numbers(names: Iterable[Any], pairs: Iterable[Any], dtype: Any) -> tuple[Any, Any]:
    """Return the sorted names of all features, and the number of each feature."""
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
    """Replace the labels of a block by the final numbers; the background stays 0."""
    known, order = numbers
    table = np.zeros(len(names), dtype=order.dtype)
    table[1:] = order[np.searchsorted(known, names[1:])]
    return table[labels]


def _count(numbers: tuple[Any, Any]) -> Any:
    """Return the number of features."""
    return np.asarray(numbers[1].max(initial=0), dtype=int)
