"""Measurements of labelled regions, one for each label in `index`."""

from __future__ import annotations

import numpy as np

from ._moving import is_on_device, number, on_device, stacked
from ._rules import is_array, of_cupy, on_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call

# For these, CuPy's kernels add only to the first of equal labels.
_ADDED = {"sum", "sum_labels", "mean", "variance", "standard_deviation", "center_of_mass"}
_OF_EACH = _ADDED | {
    *("minimum", "maximum", "median", "minimum_position", "maximum_position", "extrema"),
}
MEASUREMENTS = _OF_EACH | {"histogram", "labeled_comprehension"}


def measured(call: Call) -> Any:
    """Return the measures of CuPy's function, for `index` of any length and shape.

    Parameters
    ----------
    call : Call
        A call of one of `MEASUREMENTS`, with NumPy or CuPy arrays.
    """
    if call["index"] is None:
        return on_device(call).run()
    index = _labels(call["index"])
    if call.name not in _OF_EACH or not is_array(index) or call["labels"] is None:
        return on_device(call.replaced(index=index)).run()
    labels, places = _once(index.ravel()) if call.name in _ADDED else (index.ravel(), None)
    if not index.size:
        # CuPy rejects an empty index. Any label will do, since its result is dropped.
        labels, places = np.zeros(1, int), np.zeros(0, int)
    result = on_device(call.replaced(index=labels)).run()
    return _placed(result, places, index.shape)


def _labels(index: Any) -> Any:
    """Return the index as an array or a Python number."""
    if isinstance(index, list | tuple | range):
        index = stacked(index) if is_on_device(index) else np.asarray(index)
    index = number(index)
    whole = isinstance(index, float) and index.is_integer()
    return int(index) if whole else index


def _once(labels: Any) -> tuple[Any, Any]:
    """Return the unique labels and the place of each given label among them."""
    if of_cupy(labels):
        import cupy

        once, places = cupy.unique(labels, return_inverse=True)
        return once, places
    if np.all(labels[1:] > labels[:-1]):
        return labels, None
    return np.unique(labels, return_inverse=True)


def _placed(result: Any, places: Any, shape: tuple[int, ...]) -> Any:
    import cupy

    if isinstance(result, tuple):
        return tuple(_placed(each, places, shape) for each in result)
    if isinstance(result, list):
        if places is None:
            return result
        return [result[place] for place in on_host(places)]
    placed = result if places is None else result[cupy.asarray(places)]
    return placed.reshape(shape)
