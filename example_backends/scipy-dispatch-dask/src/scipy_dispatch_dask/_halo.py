"""Blocks with a halo: the neighbours that results at the edge of a block depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scipy_dispatch.reach import Reaches

from ._chunks import without_small_chunks
from ._dask import Array, da


def map_with_halo(
    block: Callable[..., Any],
    arrays: Sequence[Array],
    reaches: Reaches,
    meta: Any,
    shared: Mapping[str, Any],
) -> Array:
    """Apply `block` to each block of `arrays` with its halo, and remove the halo again.

    The arrays have one shape; chunks smaller than the halo are merged with adjacent chunks. The
    result has the type of `meta`, and `shared` are lazy arguments of every call of `block`.

    A block at an end of the array gets no halo at that end, unless the axis is periodic. There
    SciPy itself extends the block with the boundary mode, as it would extend the whole array. At
    the other ends of a block, SciPy's extension affects the halo only, which is removed.
    """
    halos = {axis: reach for axis, reach in enumerate(reaches) if reach is None or reach.radius}
    depths = {
        axis: max(arrays[0].shape[axis], 1) if reach is None else reach.radius
        for axis, reach in halos.items()
    }
    first = without_small_chunks(arrays[0], depths)
    chunked = [first, *(array.rechunk(first.chunks) for array in arrays[1:])]
    depth = {axis: deep if first.numblocks[axis] > 1 else 0 for axis, deep in depths.items()}
    boundary = {
        axis: "periodic" if reach and reach.wraps else "none" for axis, reach in halos.items()
    }
    return da.map_overlap(
        block, *chunked, depth=depth, boundary=boundary, meta=meta, dtype=meta.dtype, **shared
    )


def map_with_history(
    block: Callable[..., Any],
    x: Array,
    depths: Mapping[int, int],
    meta: Any,
    shared: Mapping[str, Any],
) -> Array:
    """Apply `block` to each block of `x`, extended by the elements before it, of number `depths`.

    The first block is not extended.
    """
    x = without_small_chunks(x, depths)
    depth = {axis: (deep if x.numblocks[axis] > 1 else 0, 0) for axis, deep in depths.items()}
    return da.map_overlap(
        block, x, depth=depth, boundary="none", meta=meta, dtype=meta.dtype, **shared
    )
