"""How far functions read, where this backend has to know more than `scipy_dispatch.reach`."""

from __future__ import annotations

import numpy as np

from scipy_dispatch import reach
from scipy_dispatch.reach import WHOLE, Reach, window_shape

from ._call import Deferred

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy_dispatch.reach import Reaches, Read

    from ._call import Call


def line(call: Call, ndim: int) -> Reaches:
    """Return the reach of a function that processes each line from its start."""
    (axis,) = call.axes(ndim)
    return [WHOLE if each == axis else Reach() for each in range(ndim)]


def plane(call: Call, ndim: int) -> Reaches:
    """Return the reach of a function that treats each plane along `axes` separately."""
    axes = {int(axis) % ndim for axis in call["axes"] if -ndim <= axis < ndim}
    if len(axes) != len(call["axes"]):
        raise ValueError("there are no such axes")
    return [WHOLE if axis in axes else Reach() for axis in range(ndim)]


def rank_window(call: Call, ndim: int) -> Reaches:
    """Return the reach of a window whose elements are ranked.

    In a 1-d array, SciPy carries the ranks over from one window to the next. Which of several
    equal elements it returns (0.0 and -0.0 are equal) then depends on the preceding windows.
    That case also holds the interpreter's lock, so that threads would gain nothing.
    """
    return [WHOLE] if ndim == 1 else reach.window(call, ndim)


def of_steps(read: Read) -> Read:
    """Return the reach of binary morphology, for outputs that SciPy fills in any layout alike."""

    def reaches(call: Call, ndim: int) -> Reaches:
        output = call["output"]
        if isinstance(output, np.ndarray) and output.dtype != bool and call["iterations"] != 1:
            raise Deferred("repeated in an output that is not bool, it depends on the layout")
        return read(call, ndim)

    return reaches


# Predicates: whether SciPy computes a running minimum or maximum along the lines.


def full_window(call: Call) -> bool:
    """Return whether the window is a full box, for functions that then use running extremes."""
    footprint = call["footprint"]
    return call["structure"] is None and (footprint is None or bool(np.all(footprint)))


def first_or_last(rank: Callable[[Call, int], float]) -> Callable[[Call], bool]:
    """Return a predicate for rank filters, which use them for the first and last rank in a box.

    `rank` takes a call and the number of elements in the window; it is accurate to one.
    """

    def runs(call: Call) -> bool:
        if not full_window(call):
            return False
        number = int(np.prod(window_shape(call, len(call.axes(call["input"].ndim)))))
        return not 2 <= rank(call, number) % number <= number - 3

    return runs
