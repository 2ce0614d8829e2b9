"""Tallies: what is kept of the elements of each region, from which measures are made.

A tally is a structured array with an entry for each region, its number of elements in
``"count"``. Those of several blocks can be put together.
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
            """Fill in `tally`, which is zeros, from a block that begins at `start`.

            `regions` has the region of each element.
            """

        def merged(self, tallies: Any, regions: Any, tally: Any) -> None:
            """Fill in `tally`, which is zeros, from those of blocks.

            `regions` has the region of each entry of `tallies`.
            """

        def result(self, tally: Any) -> Any:
            """Return the measure of each region; entries without elements are zeros."""


@dataclass(frozen=True)
class Sums:
    """The sum of the elements in double precision, and their number."""

    def dtype(self, x: Any) -> Any:
        return np.dtype([("count", np.int64), ("sum", np.float64)])

    def tallied(self, x: Any, regions: Any, tally: Any, start: tuple[int, ...]) -> None:
        tally["count"] = np.bincount(regions.ravel(), minlength=len(tally))
        tally["sum"] = _sums(x, regions, tally)

    def merged(self, tallies: Any, regions: Any, tally: Any) -> None:
        for name in tallies.dtype.names:
            np.add.at(tally[name], regions, tallies[name])

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

    def merged(self, tallies: Any, regions: Any, tally: Any) -> None:
        super().merged(tallies, regions, tally)
        apart = _means(tallies) - _means(tally)[regions]
        np.add.at(tally["squares"], regions, tallies["count"] * apart**2)

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
        tally["extreme"] = self._extremes(x.ravel(), regions.ravel(), len(tally))

    def merged(self, tallies: Any, regions: Any, tally: Any) -> None:
        np.add.at(tally["count"], regions, tallies["count"])
        tally["extreme"] = self._extremes(tallies["extreme"], regions, len(tally))

    def result(self, tally: Any) -> Any:
        return tally["extreme"]

    def _extremes(self, elements: Any, regions: Any, count: int) -> Any:
        better = np.maximum if self.largest else np.fmin
        extremes = np.zeros(count, elements.dtype)
        extremes[regions] = elements  # any one of each region, to begin with
        with np.errstate(invalid="ignore"):  # NumPy warns of a NaN here.
            better.at(extremes, regions, elements)
        return extremes


def _sums(weights: Any, regions: Any, tally: Any) -> Any:
    return np.bincount(regions.ravel(), weights=weights.ravel(), minlength=len(tally))


def _means(tally: Any) -> Any:
    """Return the mean of each region, 0 where there is no element."""
    return tally["sum"] / np.maximum(tally["count"], 1)
