"""Tallies: statistics of each region, from which the measures are computed.

A tally is a structured array with an entry for each region. Its field ``"count"`` is the number
of elements. Tallies of several blocks can be merged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of elements of one-dimensional arrays, none of them empty.

    The index of the group of each element is in `places`, or None if all are in one group.
    """

    places: Any
    count: int

    def counts(self, x: Any) -> Any:
        """Return the number of elements of `x` in each group."""
        if self.places is None:
            return np.array([len(x)])
        return np.bincount(self.places, minlength=self.count)

    def sums(self, x: Any) -> Any:
        """Return the sum of each group in double precision."""
        if self.places is None:
            return np.array([x.sum(dtype=float)])
        return np.bincount(self.places, weights=x, minlength=self.count)

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


@dataclass(frozen=True)
class Sums:
    """The sum of the elements in double precision."""

    def dtype(self, x: Any) -> Any:
        """Return the data type of a tally for an array like `x`."""
        return np.dtype([("count", np.int64), ("sum", np.float64)])

    def fill(self, tally: Any, x: Any, groups: Groups, positions: Callable[[int], Any]) -> None:
        """Fill in all fields but the count for elements `x` at `positions` along each axis."""
        tally["sum"] = groups.sums(x)

    def merge(self, tally: Any, tallies: Any, groups: Groups) -> None:
        """Fill in all fields but the count from the tallies of blocks."""
        tally["sum"] = groups.sums(tallies["sum"])

    def result(self, tally: Any) -> Any:
        """Return the measure of each region; entries of empty regions are zeros."""
        return tally["sum"]


@dataclass(frozen=True)
class Means(Sums):
    """The mean, computed from sums."""

    def result(self, tally: Any) -> Any:
        return tally["sum"] / tally["count"]


@dataclass(frozen=True)
class Variances(Sums):
    """Sums, and sums of squared deviations from the mean; or the `root` of their mean."""

    root: bool = False

    def dtype(self, x: Any) -> Any:
        return np.dtype([*super().dtype(x).descr, ("squares", np.float64)])

    def fill(self, tally: Any, x: Any, groups: Groups, positions: Callable[[int], Any]) -> None:
        super().fill(tally, x, groups, positions)
        tally["squares"] = groups.sums((x - groups.of_each(tally["sum"] / tally["count"])) ** 2)

    def merge(self, tally: Any, tallies: Any, groups: Groups) -> None:
        super().merge(tally, tallies, groups)
        means = tallies["sum"] / tallies["count"]
        apart = means - groups.of_each(tally["sum"] / tally["count"])
        tally["squares"] = groups.sums(tallies["squares"] + tallies["count"] * apart**2)

    def result(self, tally: Any) -> Any:
        variances = tally["squares"] / tally["count"]
        return np.sqrt(variances) if self.root else variances


@dataclass(frozen=True)
class Centers(Sums):
    """Sums, and sums of the elements multiplied by their positions."""

    def dtype(self, x: Any) -> Any:
        return np.dtype([*super().dtype(x).descr, ("moments", np.float64, (x.ndim,))])

    def fill(self, tally: Any, x: Any, groups: Groups, positions: Callable[[int], Any]) -> None:
        super().fill(tally, x, groups, positions)
        for axis in range(tally["moments"].shape[1]):
            tally["moments"][:, axis] = groups.sums(x * positions(axis))

    def merge(self, tally: Any, tallies: Any, groups: Groups) -> None:
        super().merge(tally, tallies, groups)
        for axis in range(tally["moments"].shape[1]):
            tally["moments"][:, axis] = groups.sums(tallies["moments"][:, axis])

    def result(self, tally: Any) -> Any:
        return tally["moments"] / tally["sum"][..., np.newaxis]


@dataclass(frozen=True)
class Extremes(Sums):
    """The smallest or largest element; NaN is larger than all numbers."""

    better: np.ufunc = np.maximum

    def dtype(self, x: Any) -> Any:
        return np.dtype([("count", np.int64), ("extreme", x.dtype)])

    def fill(self, tally: Any, x: Any, groups: Groups, positions: Callable[[int], Any]) -> None:
        tally["extreme"] = groups.best(x, self.better)

    def merge(self, tally: Any, tallies: Any, groups: Groups) -> None:
        tally["extreme"] = groups.best(tallies["extreme"], self.better)

    def result(self, tally: Any) -> Any:
        return tally["extreme"]
