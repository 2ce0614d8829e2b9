"""How an array is cut."""

from __future__ import annotations

from math import prod

from ._dask import Array, dask, parse_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def without_empty_chunks(x: Array) -> Array:
    """Leave the empty chunks of `x` out, of which an empty array keeps one along each axis.

    SciPy does not take every empty array, and Dask does not rechunk every array that starts
    with an empty chunk.
    """
    for axis, sizes in enumerate(x.chunks):
        kept = [index for index, size in enumerate(sizes) if size] or [0]
        if len(kept) < len(sizes):
            x = x.blocks[tuple([slice(None)] * axis + [kept])]
    return x


def without_small_chunks(x: Array, depths: Mapping[int, int]) -> Array:
    """Rechunk `x` so that along each axis a halo comes from the next block alone.

    Parameters
    ----------
    x : dask.array.Array
        The array, without empty chunks unless it is empty itself.
    depths : mapping of int to int
        The depth of the halo along each axis.
    """
    if 0 in x.shape:
        return x.rechunk(x.shape)
    return x.rechunk({axis: _merged(x.chunks[axis], depth) for axis, depth in depths.items()})


def with_whole_lines(
    x: Array, axes: Collection[int], cuts: Mapping[int, int] | None = None
) -> Array:
    """Rechunk `x` so that lines along `axes` are whole.

    Parameters
    ----------
    x : dask.array.Array
        The array.
    axes : collection of int
        Where lines are to be whole.
    cuts : mapping of int to int, optional
        How long the chunks of other axes are to be. They stay as they are otherwise, unless
        that would make blocks larger than they were and than Dask's ``array.chunk-size``:
        then Dask chooses.
    """
    whole = dict.fromkeys(axes, -1)
    lines = x.rechunk({**(cuts or {}), **whole})
    limit = max(_largest_block(x), parse_bytes(dask.config.get("array.chunk-size")))
    if _largest_block(lines) <= limit or len(whole) == x.ndim:
        return lines
    others = dict.fromkeys(set(range(x.ndim)).difference(axes), "auto")
    return x.rechunk({**whole, **others}, block_size_limit=limit)


def _largest_block(x: Array) -> int:
    """Return the bytes of the largest block."""
    elements: int = prod(map(max, x.chunks))
    return elements * int(x.dtype.itemsize)


def _merged(sizes: tuple[int, ...], depth: int) -> tuple[int, ...]:
    """Merge neighbours until none is smaller than `depth`."""
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
