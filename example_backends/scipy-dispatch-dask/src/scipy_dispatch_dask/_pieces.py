"""Pieces: the parts of an array's blocks that a task needs, for graphs made by hand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise, product
from operator import getitem
from typing import Any, TypeAlias

from ._dask import Array

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
