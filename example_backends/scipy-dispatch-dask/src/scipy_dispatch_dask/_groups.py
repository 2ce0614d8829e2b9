"""Reductions over groups of elements: count, sum, smallest or largest element."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Groups: TypeAlias = "One | Several"


@dataclass(frozen=True, eq=False)
class One:
    """A single group of elements.

    Parameters
    ----------
    where : numpy.ndarray, optional
        A mask of the elements in the group; None for all elements.
    """

    where: Any = None

    def counts(self, x: Any) -> Any:
        """Return the number of elements of `x` in each group."""
        return np.array([x.size if self.where is None else np.count_nonzero(self.where)])

    def sums(self, x: Any) -> Any:
        """Return the sum of each group in double precision."""
        return np.array([x.sum(dtype=float, where=True if self.where is None else self.where)])

    def best(self, x: Any, better: Any) -> Any:
        """Return the reduction of each group with the ufunc `better`; no group is empty."""
        chosen = x.ravel() if self.where is None else x[self.where]
        return _quietly(better.reduce, chosen, keepdims=True)

    def of_each(self, values: Any) -> Any:
        """Return the value of its group for each element, possibly as one value for all."""
        return values


@dataclass(frozen=True, eq=False)
class Several:
    """Any number of groups.

    Parameters
    ----------
    places : numpy.ndarray
        The index of the group of each element.
    count : int
        The number of groups.
    """

    places: Any
    count: int

    def counts(self, x: Any) -> Any:
        """Return the number of elements in each group."""
        return np.bincount(self.places.ravel(), minlength=self.count)

    def sums(self, x: Any) -> Any:
        """Return the sum of each group in double precision."""
        return np.bincount(self.places.ravel(), weights=x.ravel(), minlength=self.count)

    def best(self, x: Any, better: Any) -> Any:
        """Return the reduction of each group with the ufunc `better`; any value if empty."""
        places, x = self.places.ravel(), x.ravel()
        found = np.zeros(self.count, x.dtype)
        found[places] = x  # initialize each group with any of its elements
        _quietly(better.at, found, places, x)
        return found

    def of_each(self, values: Any) -> Any:
        """Return the value of its group for each element."""
        return values[self.places]


def _quietly(function: Any, *args: Any, **kwargs: Any) -> Any:
    with np.errstate(invalid="ignore"):  # NumPy warns about comparisons with NaN.
        return function(*args, **kwargs)
