"""Tallies: statistics of each region, from which the measures are computed.

A tally is a structured array with an entry for each region. Its field ``"count"`` is the number
of elements. Tallies of several blocks can be merged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from ._groups import Groups

    class Tally(Protocol):
        """A kind of tally, and how a measure follows from it."""

        def dtype(self, x: Any) -> Any:
            """Return the data type of a tally for an array like `x`."""

        def tallied(self, x: Any, groups: Groups, tally: Any, start: tuple[int, ...]) -> None:
            """Fill in all fields of `tally` except the count, from a block that begins at `start`.

            `groups` holds the elements of each region. Entries of empty regions may have any
            value.
            """

        def merged(self, tallies: Any, groups: Groups, tally: Any) -> None:
            """Fill in all fields of `tally` except the count, from the tallies of blocks.

            `groups` holds the entries of `tallies` that belong to each region.
            """

        def result(self, tally: Any) -> Any:
            """Return the measure of each region; entries of empty regions are zeros."""


@dataclass(frozen=True)
class Sums:
    """The sum of the elements in double precision, and the number of elements."""

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
    """The mean, computed from sums."""

    def result(self, tally: Any) -> Any:
        return tally["sum"] / tally["count"]


@dataclass(frozen=True)
class Variances(Sums):
    """Sums, and sums of squared deviations from the mean of the region.

    Parameters
    ----------
    root : bool
        Whether the result is the standard deviation instead of the variance.
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
    """Sums, and sums of the elements multiplied by their positions."""

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
    """The number of elements and the smallest or largest element; NaN is larger than all numbers.

    Parameters
    ----------
    largest : bool
        Whether to keep the largest element instead of the smallest.
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
    """Return the mean of each region, 0 for empty regions."""
    return tally["sum"] / np.maximum(tally["count"], 1)
