"""Chunks: how an array is cut."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod

from ._dask import Array, dask, parse_bytes


def without_empty_chunks(x: Array) -> Array:
    """Remove the empty chunks of `x`; an empty array keeps one along each axis.

    SciPy rejects some empty arrays, and Dask cannot rechunk some arrays that begin with an empty
    chunk.
    """
    for axis, sizes in enumerate(x.chunks):
        kept = [index for index, size in enumerate(sizes) if size] or [0]
        if len(kept) < len(sizes):
            x = x.blocks[tuple([slice(None)] * axis + [kept])]
    return x


def without_small_chunks(x: Array, depths: Mapping[int, int]) -> Array:
    """Rechunk `x` so that along each axis the adjacent block alone provides the halo.

    `depths` are those of the halo by axis. Only an empty array may have empty chunks.
    """
    if 0 in x.shape:
        return x.rechunk(x.shape)
    return x.rechunk({axis: _merged(x.chunks[axis], depth) for axis, depth in depths.items()})


def with_whole_lines(
    x: Array, axes: Collection[int], cuts: Mapping[int, int] | None = None
) -> Array:
    """Rechunk `x` so that each line along `axes` is in one chunk.

    `cuts` are the chunk lengths of other axes, by axis. By default they stay as they are. If the
    blocks would then be larger than before and larger than Dask's ``array.chunk-size``, Dask
    chooses the chunks.
    """
    whole = dict.fromkeys(axes, -1)
    lines = x.rechunk({**(cuts or {}), **whole})
    limit = max(_largest_block(x), parse_bytes(dask.config.get("array.chunk-size")))
    if _largest_block(lines) <= limit or len(whole) == x.ndim:
        return lines
    others = dict.fromkeys(set(range(x.ndim)).difference(axes), "auto")
    return x.rechunk({**whole, **others}, block_size_limit=limit)


def _largest_block(x: Array) -> int:
    """Return the size of the largest block in bytes."""
    elements: int = prod(map(max, x.chunks))
    return elements * int(x.dtype.itemsize)


def _merged(sizes: tuple[int, ...], depth: int) -> tuple[int, ...]:
    """Merge adjacent chunks until each is at least `depth` long."""
    if min(sizes) >= depth:
        return sizes
    merged = []
    size = 0
    for each in sizes:
        size += each
        if size >= depth:
            merged.append(size)
            size = 0
    if not merged:
        return (size,)
    merged[-1] += size
    return tuple(merged)
