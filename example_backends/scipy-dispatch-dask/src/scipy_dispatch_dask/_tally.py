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

    from ._groups import Groups

    class Tally(Protocol):
        """What is kept, and what is made of it."""

        def dtype(self, x: Any) -> Any:
            """Return the data type of the tally of an array like `x`."""

        def tallied(self, x: Any, groups: Groups, tally: Any, start: tuple[int, ...]) -> None:
            """Fill in all of `tally` but the count, from a block that begins at `start`.

            `groups` has the elements of each region; those of one that has none do not matter.
            """

        def merged(self, tallies: Any, groups: Groups, tally: Any) -> None:
            """Fill in all of `tally` but the count, from those of blocks.

            `groups` has the entries of `tallies` that are about each region.
            """

        def result(self, tally: Any) -> Any:
            """Return the measure of each region; entries without elements are zeros."""


@dataclass(frozen=True)
class Sums:
    """The sum of the elements in double precision, and their number."""

    def dtype(self, x: Any) -> Any:
        return np.dtype([("count", np.int64), ("sum", np.float64)])

    def tallied(self, x: Any, groups: Groups, tally: Any, start: tuple[int, ...]) -> None:
        tally["sum"] = groups.sums(x)

    def merged(self, tallies: Any, groups: Groups, tally: Any) -> None:
        tally["sum"] = groups.sums(tallies["sum"])

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

    def tallied(self, x: Any, groups: Groups, tally: Any, start: tuple[int, ...]) -> None:
        super().tallied(x, groups, tally, start)
        tally["squares"] = groups.sums((x - groups.of_each(_means(tally))) ** 2)

    def merged(self, tallies: Any, groups: Groups, tally: Any) -> None:
        super().merged(tallies, groups, tally)
        apart = _means(tallies) - groups.of_each(_means(tally))
        tally["squares"] = groups.sums(tallies["squares"] + tallies["count"] * apart**2)

    def result(self, tally: Any) -> Any:
        variances = tally["squares"] / tally["count"]
        return np.sqrt(variances) if self.root else variances


@dataclass(frozen=True)
class Centers(Sums):
    """Sums, and those of the elements times their positions."""

    def dtype(self, x: Any) -> Any:
        return np.dtype([*super().dtype(x).descr, ("moments", np.float64, (x.ndim,))])

    def tallied(self, x: Any, groups: Groups, tally: Any, start: tuple[int, ...]) -> None:
        super().tallied(x, groups, tally, start)
        grids = np.ogrid[tuple(slice(at, at + n) for at, n in zip(start, x.shape, strict=True))]
        for axis, grid in enumerate(grids):
            tally["moments"][:, axis] = groups.sums(x * grid.astype(float))

    def merged(self, tallies: Any, groups: Groups, tally: Any) -> None:
        super().merged(tallies, groups, tally)
        for axis in range(tally["moments"].shape[1]):
            tally["moments"][:, axis] = groups.sums(tallies["moments"][:, axis])

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

    def tallied(self, x: Any, groups: Groups, tally: Any, start: tuple[int, ...]) -> None:
        tally["extreme"] = groups.best(x, self._better)

    def merged(self, tallies: Any, groups: Groups, tally: Any) -> None:
        tally["extreme"] = groups.best(tallies["extreme"], self._better)

    def result(self, tally: Any) -> Any:
        return tally["extreme"]

    @property
    def _better(self) -> Any:
        return np.maximum if self.largest else np.fmin


def _means(tally: Any) -> Any:
    """Return the mean of each region, 0 where there is no element."""
    return tally["sum"] / np.maximum(tally["count"], 1)
