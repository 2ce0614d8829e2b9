"""Tallies: statistics of each region, from which the measures are computed.

A tally has several columns with a number for each region, among them ``"count"``, the number of
elements. Tallies of several blocks can be merged. So can elements: each is a tally of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np


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
