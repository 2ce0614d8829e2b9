"""Measurements of labelled regions: one pass over the blocks, for all regions together.

Each block gives a tally of its regions, from which the measures are computed. A tally has several
columns with a number for each region, among them ``"count"``, the number of elements. Tallies of
several blocks can be merged. So can elements: each is a tally of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import dask
import dask.array as da
import numpy as np
from dask.array import Array
from dask.core import flatten
from scipy import ndimage

from scipy_dispatch.calls import BoundCall

from ._blocks import is_dask_array, is_lazy_number, meta_of, why_not_numpy
from ._strategy import as_any_array


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions that ``index=`` selects.

    They have `labels` in ascending order. A single label has no dimensions and may be a Dask
    array. None stands for all labels above 0 as one region.
    """

    labels: Any

    @property
    def count(self) -> int:
        """The number of regions."""
        return 1 if np.ndim(self.labels) == 0 else len(self.labels)

    def only(self, labels: Any) -> Any:
        """Return whether each element is in the region; valid only for a single region."""
        return labels > 0 if self.labels is None else labels == self.labels

    def of(self, labels: Any) -> Any:
        """Return the region of each element, `count` for an element outside all regions."""
        if np.ndim(self.labels) == 0:
            return np.where(self.only(labels), 0, 1)
        places = np.searchsorted(self.labels, labels)
        places[places == self.count] = 0
        return np.where(self.labels[places] == labels, places, self.count)


def asked_for(index: Any, dtype: Any) -> tuple[Regions, Any]:
    """Return the regions that `index` requests, and the region for each place in the result.

    The place is 0 if the result is a single number; `dtype` is that of the labels.
    """
    if index is None:
        return Regions(None), 0
    if np.ndim(index) == 0:
        return Regions(index), 0
    labels, places = np.unique(np.asarray(index), return_inverse=True)
    if dtype.kind != "f":
        labels = labels.astype(_compared(dtype))
    return Regions(labels), places


def why_not_comparable(index: Any, dtype: Any) -> str | None:
    """Return why `index` cannot be compared with labels as SciPy would; None if it can."""
    if dtype.kind not in "biuf":
        return f"labels= are of the data type {dtype}"
    if index is None or isinstance(index, bool | int | float | np.bool_ | np.integer | np.floating):
        return None
    # Once computed, the number is compared with the labels directly.
    if is_lazy_number(index):
        return None if index.dtype.kind in "biuf" else f"index= is of the data type {index.dtype}"
    if type(index) not in (list, tuple, range, np.ndarray, np.memmap) or np.ndim(index) != 1:
        return "index= is neither a number nor a flat list"
    numbers = np.asarray(index)
    if numbers.size == 0:
        return "index= is empty"
    if numbers.dtype.kind not in "biuf":
        return f"index= is a list of the data type {numbers.dtype}"
    if dtype.kind == "f":
        return None
    if numbers.dtype.kind == "f":
        return "index= is a list of floats, of which SciPy makes integers for some labels="
    limits = np.iinfo(_compared(dtype))
    if not (limits.min <= int(numbers.min()) and int(numbers.max()) <= limits.max):
        return f"index= has numbers that are none of the data type {dtype}"
    return None


def _compared(dtype: Any) -> Any:
    """Return the data type for comparing integer labels."""
    return np.uint64 if dtype == np.uint64 else np.int64


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of elements of one-dimensional arrays, none of them empty.

    The index of the group of each element is in `places`, or None if all are in one group.
    """

    places: Any
    count: int

    def sums(self, x: Any) -> Any:
        """Return the sum of each group in double precision."""
        if self.places is None:
            return np.array([x.sum(dtype=float)])
        # NumPy counts in integers where there is nothing to count.
        return np.bincount(self.places, weights=x, minlength=self.count).astype(float)

    def best(self, x: Any, better: np.ufunc) -> Any:
        """Return the reduction of each group with the ufunc `better`."""
        found = np.empty(self.count, x.dtype)
        with np.errstate(invalid="ignore"):  # NumPy warns about comparisons with NaN.
            if self.places is None:
                found[0] = better.reduce(x)
            else:
                found[self.places] = x  # initialize each group with any of its elements
                better.at(found, self.places, x)
        return found

    def of_each(self, values: Any) -> Any:
        """Return the value of its group for each element, or one value for all."""
        return values if self.places is None else values[self.places]


def grouped(regions: Any) -> tuple[Any, Groups]:
    """Return which regions there are, in ascending order, and the elements in them."""
    has_elements = np.bincount(regions) > 0
    present = np.flatnonzero(has_elements)
    return present, Groups((np.cumsum(has_elements) - 1)[regions], len(present))


Column: TypeAlias = "Callable[[str], Any]"
"""Returns a column: ``"count"``, ``"value"``, ``"squares"``, or the moment by an axis's number."""


@dataclass(frozen=True, eq=False)
class Elements:
    """The elements of a block as tallies of one; `positions` has them along each axis."""

    values: Any
    positions: Callable[[int], Any]

    def __call__(self, name: str) -> Any:
        if name == "value":
            return self.values
        if name.isdecimal():
            return self.values * self.positions(int(name))
        return np.broadcast_to(float(name == "count"), self.values.shape)


@dataclass(frozen=True)
class Sums:
    """The sum of the elements in double precision."""

    def merged(self, column: Column, groups: Groups, ndim: int) -> dict[str, Any]:
        """Return the tally of each group of tallies."""
        return {name: groups.sums(column(name)) for name in ("count", "value")}

    def result(self, tally: Mapping[str, Any]) -> Any:
        """Return the measure of each region; entries of empty regions are zeros."""
        return tally["value"]


@dataclass(frozen=True)
class Means(Sums):
    """The mean, computed from sums."""

    def result(self, tally: Mapping[str, Any]) -> Any:
        return tally["value"] / tally["count"]


@dataclass(frozen=True)
class Variances(Sums):
    """Sums, and sums of squared deviations from the mean; or the `root` of their mean."""

    root: bool = False

    def merged(self, column: Column, groups: Groups, ndim: int) -> dict[str, Any]:
        tally = super().merged(column, groups, ndim)
        # In place, as there may be as many deviations as elements.
        apart = column("value") / column("count")
        apart -= groups.of_each(tally["value"] / tally["count"])
        apart *= apart
        apart *= column("count")
        apart += column("squares")
        return {**tally, "squares": groups.sums(apart)}

    def result(self, tally: Mapping[str, Any]) -> Any:
        variances = tally["squares"] / tally["count"]
        return np.sqrt(variances) if self.root else variances


@dataclass(frozen=True)
class Centers(Sums):
    """Sums, and for each axis the sums of the elements multiplied by their positions."""

    def merged(self, column: Column, groups: Groups, ndim: int) -> dict[str, Any]:
        moments = {name: groups.sums(column(name)) for name in map(str, range(ndim))}
        return {**super().merged(column, groups, ndim), **moments}

    def result(self, tally: Mapping[str, Any]) -> Any:
        moments = [tally[name] for name in tally if name.isdecimal()]
        return np.stack(moments, axis=-1) / tally["value"][..., np.newaxis]


@dataclass(frozen=True)
class Extremes(Sums):
    """The smallest or largest element; NaN is larger than all numbers."""

    better: np.ufunc = np.maximum

    def merged(self, column: Column, groups: Groups, ndim: int) -> dict[str, Any]:
        return {"value": groups.best(column("value"), self.better)}


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

    def refuse(self, call: BoundCall) -> str | None:
        return why_not_measurable(call) or (
            "SciPy raises if no element has the label, which is not known before the result "
            "is computed; pass a list of labels as index="
            if self.needs_elements and call["labels"] is not None and np.ndim(call["index"]) == 0
            else None
        )

    def run(self, call: BoundCall) -> Array:
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

    def run(self, call: BoundCall) -> Array:
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

    def run(self, call: BoundCall) -> Array:
        x, labels, regions, places = measured(call)
        if np.ndim(places) > 0:
            return super().run(call)
        count = x.size if labels is None else regions.only(labels).sum()
        return da.map_blocks(_quotient, Sum().run(call), count, dtype=float)


@dataclass(frozen=True)
class Median:
    """Collect the elements of all regions in one task, in which SciPy finds the medians."""

    arrays: tuple[str, ...] = ("input", "labels")

    def refuse(self, call: BoundCall) -> str | None:
        return why_not_measurable(call)

    def run(self, call: BoundCall) -> Array:
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


def why_not_measurable(call: BoundCall) -> str | None:
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


def measured(call: BoundCall) -> tuple[Array, Array | None, Regions, Any]:
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
