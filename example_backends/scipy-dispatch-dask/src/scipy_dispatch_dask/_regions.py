"""Labelled regions: those that the caller requests, and the region of each element."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._call import is_lazy_number
from ._groups import One, Several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._groups import Groups

_FEW = 4096
"""Up to this many regions, tallying all of them is cheaper than finding those in the block."""


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions selected by ``labels=`` and ``index=``.

    Parameters
    ----------
    labels : numpy.ndarray
        The requested labels in ascending order. A single label has no dimensions and may be a
        Dask array. None stands for all labels above 0 as one region.
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
        """Return the region of each element, `count` for an element outside all regions.

        Parameters
        ----------
        labels : numpy.ndarray
            The labels of the elements.
        """
        if np.ndim(self.labels) == 0:
            return np.where(self.only(labels), 0, 1)
        if self.labels.dtype.kind == "f" or labels.dtype.kind == "f":
            return self._found(labels)
        labels = labels.astype(self.labels.dtype, copy=False)
        begin = np.searchsorted(self.labels, labels.min())
        end = np.searchsorted(self.labels, labels.max(), side="right")
        if begin == end:
            return np.full(labels.shape, self.count)
        first, last = self.labels[[begin, end - 1]]
        span = int(last) - int(first) + 1
        if span > labels.size:
            return self._found(labels)
        table = np.full(span + 1, self.count)
        table[(self.labels[begin:end] - first).astype(np.intp)] = np.arange(begin, end)
        inside = (labels >= first) & (labels <= last)
        return table[np.where(inside, labels - first, span).astype(np.intp, copy=False)]

    def groups(self, labels: Any) -> tuple[Any, Groups]:
        """Return the regions of a block and the elements in them.

        Parameters
        ----------
        labels : numpy.ndarray or None
            The labels of the elements; None if all elements are in the single region.

        Returns
        -------
        numpy.ndarray
            All regions with elements, and possibly others, in ascending order. The last one may
            be `count`, for elements outside all regions.
        Groups
            The elements of these regions.
        """
        if np.ndim(self.labels) == 0:
            return np.zeros(1, np.intp), One(None if labels is None else self.only(labels))
        inside = self.of(labels)
        if self.count <= _FEW:
            return np.arange(self.count + 1), Several(inside, self.count + 1)
        # With so many regions, a lookup table takes longer than sorting.
        if self.count > 16 * inside.size:
            present, places = np.unique(inside, return_inverse=True)
            return present, Several(places.reshape(inside.shape), len(present))
        has_elements = np.zeros(self.count + 1, bool)
        has_elements[inside] = True
        present = np.flatnonzero(has_elements)
        table = np.empty(self.count + 1, np.intp)
        table[present] = np.arange(len(present))
        return present, Several(table[inside], len(present))

    def _found(self, labels: Any) -> Any:
        places = np.searchsorted(self.labels, labels)
        places[places == self.count] = 0
        return np.where(self.labels[places] == labels, places, self.count)


def asked_for(index: Any, dtype: Any) -> tuple[Regions, Any]:
    """Return the regions that `index` requests, and the region for each place in the result.

    Parameters
    ----------
    index : number, Dask array without dimensions, list of numbers or None
        The index that the caller passed.
    dtype : numpy.dtype
        The data type of the labels.

    Returns
    -------
    Regions
        The regions, each of them once.
    numpy.ndarray or int
        The region for each place; 0 if the result is a single number.
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
    """Return why `index` cannot be compared with labels as SciPy would; None if it can.

    Parameters
    ----------
    index : object
        The index that the caller passed.
    dtype : numpy.dtype
        The data type of the labels.
    """
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
