"""Labels of connected features, by `dask_image.ndmeasure`, numbered as SciPy does."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, product
from operator import getitem

import numpy as np

from ._block import probe, why_not_numpy
from ._dask import Array, da, dask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ._call import Call


@dataclass(frozen=True)
class Labelling:
    """Label features.

    `dask_image` numbers the features block by block, SciPy in the order of their first
    elements. So they are numbered again.
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
        from dask_image import ndmeasure

        x, structure = call["input"], call["structure"]
        dtype = probe(call, "input")[0].dtype
        if structure is not None:
            structure = np.asarray(structure, dtype=bool)
        labels, count = ndmeasure.label(x, structure)
        if max(x.numblocks) > 1:
            labels = _numbered_by_first_element(labels)
        return labels.astype(dtype), count


def _numbered_by_first_element(labels: Array) -> Array:
    """Renumber the features of `labels`, whose numbers have no gaps."""
    starts = [list(accumulate((0, *sizes[:-1]))) for sizes in labels.chunks]
    firsts = [
        dask.delayed(_first_elements, pure=True)(block, start, labels.shape)
        for block, start in zip(labels.to_delayed().ravel(), product(*starts), strict=True)
    ]
    numbers = da.from_delayed(
        dask.delayed(_numbers, pure=True)(firsts), shape=(np.nan,), dtype=labels.dtype
    )
    return da.map_blocks(getitem, numbers, labels, dtype=labels.dtype, chunks=labels.chunks)


def _first_elements(block: Any, start: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the labels in a block, and where in the raveled array each comes first."""
    found, first = np.unique(block, return_index=True)
    inner = np.unravel_index(first, block.shape)
    outer = tuple(index + offset for index, offset in zip(inner, start, strict=True))
    return found, np.ravel_multi_index(outer, shape)


def _numbers(firsts: Iterable[tuple[Any, Any]]) -> Any:
    """Return the new number of each label; the background keeps its 0."""
    labels = np.concatenate([found for found, _ in firsts])
    positions = np.concatenate([first for _, first in firsts])
    first = np.full(labels.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, labels, positions)
    first[0] = -1
    numbers = np.empty_like(first)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers.astype(labels.dtype)
