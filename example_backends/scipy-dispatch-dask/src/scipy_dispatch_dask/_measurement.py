"""Measurements of labelled regions: one pass over the blocks, for all regions together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy import ndimage

from ._block import meta_of, why_not_numpy
from ._call import Call, is_dask_array
from ._dask import Array, da, dask, flatten
from ._regions import Regions, asked_for, why_not_comparable
from ._strategy import as_any_array
from ._tally import Elements, Groups, Means, Sums, grouped


@dataclass(frozen=True)
class Measurement:
    """Compute a tally of the regions in each block, and merge the tallies.

    The measure of a whole array may differ: `of_all`. If a measure `needs_elements`, SciPy raises
    for an empty region if it is the only one.
    """

    tally: Sums
    of_all: Callable[[Array], Array] | None = None
    needs_elements: bool = False
    arrays: tuple[str, ...] = ("input", "labels")

    def refuse(self, call: Call) -> str | None:
        return why_not_measurable(call) or (
            "SciPy raises if no element has the label, which is not known before the result "
            "is computed; pass a list of labels as index="
            if self.needs_elements and call["labels"] is not None and np.ndim(call["index"]) == 0
            else None
        )

    def run(self, call: Call) -> Array:
        """Return SciPy's result, lazily, as an array where SciPy returns a list or tuple."""
        x, labels, regions, places = measured(call)
        if labels is None and self.of_all is not None:
            return self.of_all(x)
        tallies = da.map_blocks(
            partial(_tallied, tally=self.tally),
            *([x] if labels is None else [x, labels]),
            regions=dask.delayed(regions, pure=True),
            meta=np.empty((0,) * x.ndim, object),
        )
        total = da.reduction(
            tallies,
            chunk=_unchanged,
            aggregate=partial(_merged, tally=self.tally, ndim=x.ndim),
            axis=tuple(range(x.ndim)),
            dtype=object,
            concatenate=False,
            meta=np.empty((), object),
        )
        (task,) = total.to_delayed(optimize_graph=False).ravel()
        one = Elements(np.ones(1, x.dtype), np.ones)
        tally = slice(None), self.tally.merged(one, Groups(None, 1), x.ndim)
        like = _result(self.tally, tally, regions.count, places)
        result = dask.delayed(_result, pure=True)(self.tally, task, regions.count, places)
        return da.from_delayed(result, shape=like.shape, meta=meta_of(like))


@dataclass(frozen=True)
class Sum(Measurement):
    """Sum elements. For a single region SciPy uses the data type of `numpy.sum`."""

    tally: Sums = field(default_factory=Sums)

    def run(self, call: Call) -> Array:
        x, labels, regions, places = measured(call)
        if labels is None:
            return x.sum()
        if np.ndim(places) > 0:
            return super().run(call)
        return da.where(regions.only(labels), x, x.dtype.type(0)).sum()


@dataclass(frozen=True)
class Mean(Measurement):
    """Average elements. For a single region, SciPy divides the value of `Sum`, overflow or not."""

    tally: Sums = field(default_factory=Means)

    def run(self, call: Call) -> Array:
        x, labels, regions, places = measured(call)
        if np.ndim(places) > 0:
            return super().run(call)
        count = x.size if labels is None else regions.only(labels).sum()
        return da.map_blocks(_quotient, Sum().run(call), count, dtype=float)


@dataclass(frozen=True)
class Median:
    """Collect the elements of all regions in one task, in which SciPy finds the medians."""

    arrays: tuple[str, ...] = ("input", "labels")

    def refuse(self, call: Call) -> str | None:
        return why_not_measurable(call)

    def run(self, call: Call) -> Array:
        """Return SciPy's result, lazily; NaN for an empty region."""
        x, labels, regions, places = measured(call)
        selected = da.map_blocks(
            _selected,
            *([x] if labels is None else [x, labels]),
            regions=dask.delayed(regions, pure=True),
            meta=np.empty((0,) * x.ndim, object),
        )
        tasks = selected.to_delayed(optimize_graph=False).ravel().tolist()
        medians = dask.delayed(_medians, pure=True)(tasks, regions.count, places)
        dtype = np.dtype(np.float32 if x.dtype == np.float32 else np.float64)
        return da.from_delayed(medians, shape=np.shape(places), dtype=dtype)


def why_not_measurable(call: Call) -> str | None:
    """Return why the arrays of `call` cannot be measured; None if they can."""
    x, labels, index = call["input"], call["labels"], call["index"]
    if reason := why_not_numpy(x, "input") or why_not_numpy(labels, "labels"):
        return reason
    dtype = x.dtype
    if dtype.kind not in "biuf" or dtype.itemsize > 8 or dtype == np.float16:
        return f"{dtype} is not measured here in the precision in which SciPy does"
    if np.ndim(x) == 0 or 0 in np.shape(x):
        return "input= is empty or a scalar"
    if labels is None:
        return None
    labels = as_any_array(labels)
    if labels.shape != np.shape(x):
        return "labels= has another shape than input="
    return why_not_comparable(index, labels.dtype.newbyteorder("="))


def measured(call: Call) -> tuple[Array, Array | None, Regions, Any]:
    """Return the array, its labels, the regions, and the region for each place in the result.

    Labels have the chunks of the array. Both are converted to native byte order, because NumPy
    would convert them when it concatenates blocks.
    """
    x, labels = call["input"], call["labels"]
    x = x.astype(x.dtype.newbyteorder("="))
    if labels is None:
        return x, None, Regions(None), 0
    if is_dask_array(labels):
        labels = labels.rechunk(x.chunks)
    else:
        labels = da.from_array(as_any_array(labels), chunks=x.chunks)
    labels = labels.astype(labels.dtype.newbyteorder("="))
    return x, labels, *asked_for(call["index"], labels.dtype)


def _quotient(total: Any, count: Any) -> Any:
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN for an empty region.
        return np.float64(total / np.asarray(count, float))


def _unchanged(part: tuple[Any, Any], axis: tuple[int, ...], keepdims: bool) -> tuple[Any, Any]:
    return part


def _tallied(
    x: Any, labels: Any = None, *, regions: Regions, tally: Sums, block_info: Any
) -> tuple[Any, dict[str, Any]]:
    """Return which regions have elements in a block, and their tallies."""
    inside: Any = None if labels is None else regions.of(labels)
    selected: Any = ... if labels is None else inside < regions.count
    values = x[selected].ravel()
    if regions.count == 1 and values.size:
        present, groups = np.zeros(1, np.intp), Groups(None, 1)
    else:
        present, groups = grouped(inside[selected])

    def positions(axis: int) -> Any:
        start, stop = block_info[0]["array-location"][axis]
        line = np.arange(float(start), stop).reshape(-1, *(1,) * (x.ndim - axis - 1))
        return np.broadcast_to(line, x.shape)[selected].ravel()

    return present, tally.merged(Elements(values, positions), groups, x.ndim)


def _merged(
    parts: Any, axis: tuple[int, ...], keepdims: bool, *, tally: Sums, ndim: int
) -> tuple[Any, dict[str, Any]]:
    """Merge the tallies of several blocks, as `dask.array.reduction` calls it."""
    # One block, or nested lists of blocks, one level for each axis.
    parts = flatten(parts, container=list) if isinstance(parts, list) else [parts]
    regions, tallies = zip(*parts, strict=True)
    present, groups = grouped(np.concatenate(regions))

    def column(name: str) -> Any:
        return np.concatenate([each[name] for each in tallies])

    return present, tally.merged(column, groups, ndim)


def _result(tally: Sums, total: tuple[Any, dict[str, Any]], count: int, places: Any) -> Any:
    """Return the requested measures from the merged tally of all blocks."""
    present, entries = total
    columns = {name: np.zeros(count, entry.dtype) for name, entry in entries.items()}
    for name, entry in entries.items():
        columns[name][present] = entry
    return tally.result(columns)[places]


def _selected(x: Any, labels: Any = None, *, regions: Regions) -> tuple[Any, Any]:
    """Return the elements of a block that are in any region, and the region of each."""
    if labels is None:
        return x.ravel(), np.zeros(x.size, np.intp)
    inside = regions.of(labels)
    selected = inside < regions.count
    return x[selected], inside[selected]


def _medians(selected: Sequence[tuple[Any, Any]], count: int, places: Any) -> Any:
    """Return the medians of the regions from the selected elements of all blocks."""
    x, inside = (np.concatenate(each) for each in zip(*selected, strict=True))
    if np.ndim(places) == 0:
        return np.median(x)
    dtype = np.float32 if x.dtype == np.float32 else np.float64
    medians = np.full(count, np.nan, dtype)
    found = np.unique(inside)
    if len(found):
        medians[found] = ndimage.median(x, inside, found)
    return medians[places]
