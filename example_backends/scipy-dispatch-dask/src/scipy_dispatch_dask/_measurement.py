"""Measurements of labelled regions: one pass over the blocks, for all regions together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import ndimage

from ._block import why_not_numpy
from ._call import Call, is_dask_array
from ._dask import Array, da, dask, flatten
from ._regions import Regions, asked_for, why_not_comparable
from ._strategy import as_any_array
from ._tally import Groups, Means, Sums, grouped


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
        """Return why `call` cannot be supported; None if it can."""
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
        dtype = self.tally.dtype(x)
        tallies = da.map_blocks(
            Tallied(self.tally, dtype),
            *([x] if labels is None else [x, labels]),
            regions=dask.delayed(regions, pure=True),
            meta=np.empty((0,) * x.ndim, object),
        )
        total = da.reduction(
            tallies,
            chunk=_unchanged,
            aggregate=Merged(self.tally),
            axis=tuple(range(x.ndim)),
            dtype=object,
            concatenate=False,
            meta=np.empty((), object),
        )
        (task,) = total.to_delayed(optimize_graph=False).ravel()
        like = self.tally.result(np.ones(regions.count, dtype))[places]
        result = dask.delayed(_result, pure=True)(self.tally, task, regions.count, places)
        return da.from_delayed(result, shape=like.shape, meta=like[(slice(0, 0),) * like.ndim])


@dataclass(frozen=True)
class Tallied:
    """Compute the tally of a block: which regions have elements in it, and their entries."""

    tally: Sums
    dtype: Any

    @property
    def __name__(self) -> str:
        # Dask uses this name for the tasks.
        return type(self.tally).__name__.lower()

    def __call__(
        self, x: Any, labels: Any = None, *, regions: Regions, block_info: Any
    ) -> tuple[Any, Any]:
        inside: Any = None if labels is None else regions.of(labels)
        selected: Any = ... if labels is None else inside < regions.count
        values = x[selected].ravel()
        if not values.size:
            return np.zeros(0, np.intp), np.zeros(0, self.dtype)
        if regions.count == 1:
            present, groups = np.zeros(1, np.intp), Groups(None, 1)
        else:
            present, groups = grouped(inside[selected])

        def positions(axis: int) -> Any:
            start, stop = block_info[0]["array-location"][axis]
            line = np.arange(float(start), stop).reshape(-1, *(1,) * (x.ndim - axis - 1))
            return np.broadcast_to(line, x.shape)[selected].ravel()

        tally = np.zeros(len(present), self.dtype)
        tally["count"] = groups.counts(values)
        self.tally.fill(tally, values, groups, positions)
        return present, tally


@dataclass(frozen=True)
class Merged:
    """Merge the tallies of several blocks, as `dask.array.reduction` calls it."""

    tally: Sums

    @property
    def __name__(self) -> str:
        return "merged"

    def __call__(self, parts: Any, axis: tuple[int, ...], keepdims: bool) -> tuple[Any, Any]:
        # One block, or nested lists of blocks, one level for each axis.
        parts = flatten(parts, container=list) if isinstance(parts, list) else [parts]
        regions, tallies = (np.concatenate(each) for each in zip(*parts, strict=True))
        present, groups = grouped(regions)
        total = np.zeros(len(present), tallies.dtype)
        total["count"] = groups.sums(tallies["count"])
        self.tally.merge(total, tallies, groups)
        return present, total


@dataclass(frozen=True)
class Sum(Measurement):
    """Sum elements. For a single region SciPy uses the data type of `numpy.sum`."""

    tally: Sums = field(default_factory=Sums)

    def run(self, call: Call) -> Array:
        """Return SciPy's result, lazily."""
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
        """Return SciPy's result, lazily."""
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
        """Return why `call` cannot be supported; None if it can."""
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


def _result(tally: Sums, total: tuple[Any, Any], count: int, places: Any) -> Any:
    """Return the requested measures from the merged tally of all blocks."""
    present, kept = total
    tallies = np.zeros(count, kept.dtype)
    tallies[present] = kept
    return tally.result(tallies)[places]


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
