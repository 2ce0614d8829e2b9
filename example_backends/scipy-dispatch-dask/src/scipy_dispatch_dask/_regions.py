"""Labelled regions: those that the caller requests, and the region of each element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._call import is_lazy_number


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
