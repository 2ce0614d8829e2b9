"""Blocks with a halo: the neighbours that the results at the rim of a block depend on."""

from __future__ import annotations

from ._chunks import without_small_chunks
from ._dask import Array, da

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ._reach import Halos


def map_with_halo(
    block: Callable[..., Any],
    arrays: Sequence[Array],
    halos: Halos,
    meta: Any,
    shared: Mapping[str, Any],
) -> Array:
    """Apply `block` to each block of `arrays` with its halo, and cut the halo off again.

    A block at an end of the array gets no halo there, unless the axis is periodic: the
    array ends in it as it does for SciPy, which can continue it as the mode says. So every
    mode is SciPy's own. What `block` makes of an end that is not one of the array lies in
    the halo.

    Parameters
    ----------
    block : callable
        Takes one block of each array, returns a block of the same shape.
    arrays : sequence of dask.array.Array
        Arrays of one shape. Chunks smaller than the halo are merged with their neighbours.
    halos : dict of int to Halo
        What is needed along each axis.
    meta : array
        An empty array like the result.
    shared : mapping
        Lazy arguments of `block` that are the same for all of its calls.
    """
    depths = {axis: halo.depth for axis, halo in halos.items()}
    first = without_small_chunks(arrays[0], depths)
    chunked = [first, *(array.rechunk(first.chunks) for array in arrays[1:])]
    depth = {axis: halo.depth if first.numblocks[axis] > 1 else 0 for axis, halo in halos.items()}
    boundary = {axis: "periodic" if halo.periodic else "none" for axis, halo in halos.items()}
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
    """Apply `block` to each block of `x` with the elements that come before it.

    Parameters
    ----------
    block : callable
        Takes and returns a block; the first block of all comes without anything before it.
    x : dask.array.Array
        The array.
    depths : mapping of int to int
        How many elements are needed along each axis.
    meta : array
        An empty array like the result.
    shared : mapping
        Lazy arguments of `block` that are the same for all of its calls.
    """
    x = without_small_chunks(x, depths)
    depth = {axis: (deep if x.numblocks[axis] > 1 else 0, 0) for axis, deep in depths.items()}
    return da.map_overlap(
        block, x, depth=depth, boundary="none", meta=meta, dtype=meta.dtype, **shared
    )
