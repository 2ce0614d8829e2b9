"""Measurements of labelled regions, by `dask_image.ndmeasure`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._block import why_not_numpy
from ._dask import Array, da

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._call import Call


@dataclass(frozen=True)
class Measurement:
    """Measure with a function of `dask_image.ndmeasure`.

    Parameters
    ----------
    name : str
        The function.
    dtype : data type, optional
        What to work in: SciPy takes double precision where it averages. The data type of
        the array by default.
    needs_elements : bool, optional
        Whether SciPy raises for a region without elements, where `dask_image` has a result.
    of_regions : callable, optional
        What SciPy makes of the elements of each of several regions, where that is not what
        `dask_image` does.
    """

    name: str
    dtype: Any = None
    needs_elements: bool = False
    of_regions: Callable[[Any], Any] | None = None
    arrays: tuple[str, ...] = ("input", "labels")

    def refuse(self, call: Call) -> str | None:
        """Say why `call` cannot be honoured; None if it can."""
        return why_not_measurable(call) or (
            "SciPy raises if no element has the label, which is not known before the result "
            "is computed; pass a list of labels as index="
            if self.needs_elements and call["labels"] is not None and np.ndim(call["index"]) == 0
            else None
        )

    def run(self, call: Call) -> Array:
        """Return what SciPy would, lazily, as an array where SciPy returns a list or tuple."""
        from dask_image import ndmeasure

        x, labels, index = measured(call)
        x = x if self.dtype is None else x.astype(self.dtype)
        result: Array
        if self.of_regions is None or labels is None or np.ndim(index) == 0:
            result = getattr(ndmeasure, self.name)(x, labels, index)
        else:
            # The default is for labels that no element has.
            result = ndmeasure.labeled_comprehension(
                x, labels, index, self.of_regions, x.dtype, x.dtype.type(0)
            )
        return result


@dataclass(frozen=True)
class Median:
    """Find medians with `dask_image.ndmeasure`, which returns all of them in double precision.

    Of several regions, SciPy takes the element in the middle, after which NaN come.
    """

    arrays: tuple[str, ...] = ("input", "labels")

    def refuse(self, call: Call) -> str | None:
        """Say why `call` cannot be honoured; None if it can."""
        return why_not_measurable(call)

    def run(self, call: Call) -> Array:
        """Return what SciPy would, lazily."""
        from dask_image import ndmeasure

        x, labels, index = measured(call)
        medians: Array
        if labels is None or np.ndim(index) == 0:
            medians = ndmeasure.median(x, labels, index)
        else:
            medians = ndmeasure.labeled_comprehension(x, labels, index, _middle, float, np.nan)
        return medians.astype(np.float32) if x.dtype == np.float32 else medians


@dataclass(frozen=True)
class Sum:
    """Add up: several regions with `dask_image.ndmeasure`, one with `dask.array`.

    SciPy adds up one region in the data type that `numpy.sum` has, several in double
    precision, as `dask_image` does in either case.
    """

    arrays: tuple[str, ...] = ("input", "labels")

    def refuse(self, call: Call) -> str | None:
        """Say why `call` cannot be honoured; None if it can."""
        return why_not_measurable(call)

    def run(self, call: Call) -> Array:
        """Return what SciPy would, lazily."""
        x, labels, index = measured(call)
        if labels is None:
            return x.sum()
        if np.ndim(index) > 0:
            return Measurement("sum_labels", float).run(call)
        selected = labels > 0 if index is None else labels == index
        return da.where(selected, x, x.dtype.type(0)).sum()


def why_not_measurable(call: Call) -> str | None:
    """Say why the arrays of `call` cannot be measured; None if they can."""
    x, labels, index = call["input"], call["labels"], call["index"]
    if reason := why_not_numpy(x, "input") or why_not_numpy(labels, "labels"):
        return reason
    dtype = x.dtype
    if dtype.kind not in "biuf" or dtype.itemsize > 8 or dtype == np.float16:
        return f"dask_image does not measure {dtype} in the precision in which SciPy does"
    if np.ndim(x) == 0 or 0 in np.shape(x):
        return "input= is empty or a scalar"
    if labels is not None and np.shape(labels) != np.shape(x):
        return "labels= has another shape than input="
    if np.ndim(index) > 1 or (isinstance(index, np.ndarray) and index.ndim == 0):
        return "index= is neither a number nor a flat list"
    if np.size(index) == 0:
        return "index= is empty"
    return None


def least(elements: Any) -> Any:
    """Return the minimum as SciPy finds it in each of several regions: NaN are the largest."""
    return np.sort(elements)[0]


def _middle(elements: Any) -> Any:
    """Return the median as SciPy finds it in each of several regions: NaN are the largest."""
    elements = np.sort(elements)
    low, high = elements[(len(elements) - 1) // 2], elements[len(elements) // 2]
    if elements.dtype.kind != "f":
        low, high = float(low), float(high)
    return (low + high) / 2.0


def measured(call: Call) -> tuple[Array, Array | None, Any]:
    """Return the array, its labels in the same chunks, and what to measure.

    The bytes of the array are in the processor's order, in which NumPy puts arrays together.
    """
    x, labels = call["input"], call["labels"]
    x = x.astype(x.dtype.newbyteorder("="))
    if labels is None:
        return x, None, None
    return x, da.asarray(labels).rechunk(x.chunks), call["index"]
