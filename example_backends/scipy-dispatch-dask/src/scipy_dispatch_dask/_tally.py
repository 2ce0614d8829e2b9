"""Tallies: what is kept of the elements of each region, from which measures are made.

A tally is a structured array with an entry for each region. Those of several blocks can be
put together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Tally(Protocol):
        """What is kept, and what is made of it."""

        def dtype(self, x: Any) -> Any:
            """Return the data type of the tally of an array like `x`."""

        def tallied(self, x: Any, regions: Any, tally: Any, start: tuple[int, ...]) -> None:
            """Fill in `tally` from a block that begins at `start`.

            `regions` has the region of each element; the last one does not count.
            """

        def merged(self, tallies: Any, axis: tuple[int, ...]) -> Any:
            """Put tallies along some axes together."""

        def result(self, tally: Any) -> Any:
            """Return the measure of each region."""


@dataclass(frozen=True)
class Sums:
    """The sum of the elements in double precision, and their number."""

    def dtype(self, x: Any) -> Any:
        return np.dtype([("count", np.int64), ("sum", np.float64)])

    def tallied(self, x: Any, regions: Any, tally: Any, start: tuple[int, ...]) -> None:
        tally["count"] = np.bincount(regions.ravel(), minlength=len(tally))
        tally["sum"] = _sums(x, regions, tally)

    def merged(self, tallies: Any, axis: tuple[int, ...]) -> Any:
        totals = {name: tallies[name].sum(axis=axis) for name in tallies.dtype.names}
        merged = np.empty(totals["sum"].shape, tallies.dtype)
        for name, total in totals.items():
            merged[name] = total
        return merged

    def result(self, tally: Any) -> Any:
        return tally["sum"]


@dataclass(frozen=True)
class Means(Sums):
    """What sums make of the mean."""

    def result(self, tally: Any) -> Any:
        return tally["sum"] / tally["count"]


@dataclass(frozen=True)
class Variances(Sums):
    """Sums, and the sum of squared distances from the mean of the region.

    Parameters
    ----------
    root : bool
        Whether the result is the root of the variance.
    """

    root: bool = False

    def dtype(self, x: Any) -> Any:
        return np.dtype([*super().dtype(x).descr, ("squares", np.float64)])

    def tallied(self, x: Any, regions: Any, tally: Any, start: tuple[int, ...]) -> None:
        super().tallied(x, regions, tally, start)
        tally["squares"] = _sums((x - _means(tally)[regions]) ** 2, regions, tally)

    def merged(self, tallies: Any, axis: tuple[int, ...]) -> Any:
        merged = super().merged(tallies, axis)
        apart = _means(tallies) - np.expand_dims(_means(merged), axis)
        merged["squares"] += (tallies["count"] * apart**2).sum(axis=axis)
        return merged

    def result(self, tally: Any) -> Any:
        variances = tally["squares"] / tally["count"]
        return np.sqrt(variances) if self.root else variances


@dataclass(frozen=True)
class Centers(Sums):
    """Sums, and those of the elements times their positions."""

    def dtype(self, x: Any) -> Any:
        return np.dtype([*super().dtype(x).descr, ("moments", np.float64, (x.ndim,))])

    def tallied(self, x: Any, regions: Any, tally: Any, start: tuple[int, ...]) -> None:
        super().tallied(x, regions, tally, start)
        grids = np.ogrid[tuple(slice(at, at + n) for at, n in zip(start, x.shape, strict=True))]
        for axis, grid in enumerate(grids):
            tally["moments"][:, axis] = _sums(x * grid.astype(float), regions, tally)

    def result(self, tally: Any) -> Any:
        return tally["moments"] / tally["sum"][..., np.newaxis]


@dataclass(frozen=True)
class Extremes:
    """The number of elements, and the smallest or the largest; a NaN is larger than all.

    Parameters
    ----------
    largest : bool
        Which of them.
    """

    largest: bool

    def dtype(self, x: Any) -> Any:
        return np.dtype([("count", np.int64), ("extreme", x.dtype)])

    def tallied(self, x: Any, regions: Any, tally: Any, start: tuple[int, ...]) -> None:
        tally["count"] = np.bincount(regions.ravel(), minlength=len(tally))
        extremes = np.full(len(tally), self._outdone(x.dtype), x.dtype)
        with np.errstate(invalid="ignore"):  # NumPy warns of a NaN here.
            self._better.at(extremes, regions.ravel(), x.ravel())
        tally["extreme"] = extremes

    def merged(self, tallies: Any, axis: tuple[int, ...]) -> Any:
        extremes = self._better.reduce(tallies["extreme"], axis=axis)
        merged = np.empty(extremes.shape, tallies.dtype)
        merged["count"] = tallies["count"].sum(axis=axis)
        merged["extreme"] = extremes
        return merged

    def result(self, tally: Any) -> Any:
        return np.where(tally["count"] > 0, tally["extreme"], tally["extreme"].dtype.type(0))

    @property
    def _better(self) -> Any:
        return np.maximum if self.largest else np.fmin

    def _outdone(self, dtype: Any) -> Any:
        """Return what every element is better than, or as good as."""
        if dtype.kind == "b":
            return not self.largest
        if dtype.kind == "f":
            return -np.inf if self.largest else np.nan
        limits = np.iinfo(dtype)
        return limits.min if self.largest else limits.max


def _sums(weights: Any, regions: Any, tally: Any) -> Any:
    return np.bincount(regions.ravel(), weights=weights.ravel(), minlength=len(tally))


def _means(tally: Any) -> Any:
    """Return the mean of each region, 0 where there is no element."""
    return tally["sum"] / np.maximum(tally["count"], 1)
