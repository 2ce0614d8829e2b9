"""Elements in groups: how many there are in each, their sum, the smallest or the largest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Groups: TypeAlias = "One | Several"


@dataclass(frozen=True, eq=False)
class One:
    """One group: all elements, or some of them.

    Parameters
    ----------
    where : numpy.ndarray, optional
        Which elements are in it; all if left out.
    """

    where: Any = None

    def counts(self, x: Any) -> Any:
        """Return how many elements of `x` there are in each group."""
        return np.array([x.size if self.where is None else np.count_nonzero(self.where)])

    def sums(self, x: Any) -> Any:
        """Return the sum of each group, added up in double precision."""
        return np.array([x.sum(dtype=float, where=True if self.where is None else self.where)])

    def best(self, x: Any, better: Any) -> Any:
        """Return what the ufunc `better` makes of each group; no group is empty."""
        chosen = x.ravel() if self.where is None else x[self.where]
        return _quietly(better.reduce, chosen, keepdims=True)

    def of_each(self, values: Any) -> Any:
        """Return for each element the value of its group; maybe one for all."""
        return values


@dataclass(frozen=True, eq=False)
class Several:
    """Several groups, or none.

    Parameters
    ----------
    places : numpy.ndarray
        The number of the group of each element.
    count : int
        How many groups there are.
    """

    places: Any
    count: int

    def counts(self, x: Any) -> Any:
        """Return how many elements there are in each group."""
        return np.bincount(self.places.ravel(), minlength=self.count)

    def sums(self, x: Any) -> Any:
        """Return the sum of each group, added up in double precision."""
        return np.bincount(self.places.ravel(), weights=x.ravel(), minlength=self.count)

    def best(self, x: Any, better: Any) -> Any:
        """Return what the ufunc `better` makes of each group; anything of one that is empty."""
        places, x = self.places.ravel(), x.ravel()
        found = np.zeros(self.count, x.dtype)
        found[places] = x  # any one of each group, to begin with
        _quietly(better.at, found, places, x)
        return found

    def of_each(self, values: Any) -> Any:
        """Return for each element the value of its group."""
        return values[self.places]


def _quietly(function: Any, *args: Any, **kwargs: Any) -> Any:
    with np.errstate(invalid="ignore"):  # NumPy warns where it compares with a NaN.
        return function(*args, **kwargs)
