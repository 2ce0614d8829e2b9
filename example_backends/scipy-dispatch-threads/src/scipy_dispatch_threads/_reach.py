"""The reach of SciPy's functions: how far they read from an element, given the arguments.

A function can be split along an axis if each value of the result depends only on a known number
of neighbours along that axis. This module computes an upper bound of that number. A bound that
is too large costs time; one that is too small gives wrong results.

An even window size or an origin shifts the window off its centre, to one side in a convolution
or dilation, to the other in a correlation or erosion. In each case, ``size // 2 + abs(origin)``
elements on either side contain the window.
"""

from __future__ import annotations

import operator

import numpy as np

from ._call import Deferred
from ._split import WHOLE, Reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ._call import Call
    from ._split import Reaches


# 1-d functions, which read along `axis`.


def line(call: Call) -> Reaches:
    """Return the reach of a function that processes each line from its start."""
    return _along_axis(call, WHOLE)


def weights1d(call: Call) -> Reaches:
    """Return the reach of a 1-d kernel, `weights`."""
    return _along_axis(call, _radius(len(np.asarray(call["weights"])), call["origin"]))


def size1d(call: Call) -> Reaches:
    """Return the reach of a window of the given `size`."""
    return _along_axis(call, _radius(call["size"], call["origin"]))


def gaussian1d(call: Call) -> Reaches:
    """Return the reach of a Gaussian kernel."""
    return _along_axis(call, _gaussian_radius(call["sigma"], call["truncate"], call.get("radius")))


# Functions that read along several axes.


def ones(call: Call) -> Reaches:
    """Return the reach of a kernel of three elements along each of the axes."""
    return _along_axes(call, [1] * len(call.axes))


def gaussian(call: Call) -> Reaches:
    """Return the reach of successive Gaussian kernels, one for each axis."""
    truncate = call["truncate"]
    radii = call.each("radius") if call.get("radius") is not None else [None] * len(call.axes)
    return _along_axes(
        call,
        [
            _gaussian_radius(sigma, truncate, radius)
            for sigma, radius in zip(call.each("sigma"), radii, strict=True)
        ],
    )


def gaussian_derivatives(call: Call) -> Reaches:
    """Return the reach of Gaussian derivatives, each taken along one axis of the input.

    Each derivative smooths the array along all axes, and uses one boundary mode for all of them:
    that of the axis of the derivative.
    """
    smoothing = {"truncate": 4.0, "radius": None, **call["kwargs"]}
    if len(smoothing) > 2:
        raise Deferred("arguments for gaussian_filter other than truncate and radius")
    wraps = {_wraps(mode) for mode in call.each("mode")}
    if len(wraps) > 1:
        raise Deferred("some of the derivatives wrap around and others do not")
    sigma, radius = (
        np.max(np.asarray(value)) if np.iterable(value) else value
        for value in (call["sigma"], smoothing["radius"])
    )
    reach = Reach(_gaussian_radius(sigma, smoothing["truncate"], radius), wraps == {True})
    return [reach] * call.input.ndim


def weights(call: Call) -> Reaches:
    """Return the reach of an n-d kernel, `weights`."""
    return _along_axes(call, _radii(np.shape(call["weights"]), call.each("origin")))


def window(times: int = 1) -> Callable[[Call], Reaches]:
    """Return the reach of a window that is applied `times` times in succession.

    The window has the shape of `footprint`, else of `structure`, else `size`.
    """

    def reaches(call: Call) -> Reaches:
        radii = _radii(window_shape(call), call.each("origin"))
        return _along_axes(call, [times * radius for radius in radii])

    return reaches


def rank_window(call: Call) -> Reaches:
    """Return the reach of a window whose elements are ranked.

    In a 1-d array, SciPy carries the ranks over from one window to the next. Which of several
    equal elements it returns (0.0 and -0.0 are equal) then depends on the preceding windows.
    That case also holds the interpreter's lock, so that threads would gain nothing.
    """
    return [WHOLE] if call.input.ndim == 1 else window()(call)


def structure(times: int = 1) -> Callable[[Call], Reaches]:
    """Return the reach of a binary structure that is applied `iterations` times."""

    def reaches(call: Call) -> Reaches:
        iterations = operator.index(call["iterations"])
        if iterations < 1:
            raise Deferred("it is repeated until nothing changes, which may go any distance")
        output = call["output"]
        if iterations > 1 and isinstance(output, np.ndarray) and output.dtype != bool:
            raise Deferred("repeated in an output that is not bool, it depends on the layout")
        radii = _structure_radii(call, "structure", "origin")
        return _along_axes(call, [times * iterations * radius for radius in radii], wraps=False)

    return reaches


def two_structures(call: Call) -> Reaches:
    """Return the reach of a hit-or-miss transform, which has two structures."""
    second = (
        "structure1" if call["structure2"] is None else "structure2",
        "origin1" if call["origin2"] is None else "origin2",
    )
    pairs = zip(
        _structure_radii(call, "structure1", "origin1"),
        _structure_radii(call, *second),
        strict=True,
    )
    return _along_axes(call, [max(pair) for pair in pairs], wraps=False)


def plane(call: Call) -> Reaches:
    """Return the reach of a function that treats each plane along `axes` separately."""
    reaches: Reaches = [Reach()] * call.input.ndim
    for axis in call["axes"]:
        reaches[call.axis_of(axis)] = WHOLE
    return reaches


# Predicates: whether SciPy computes a running minimum or maximum along the lines.


def always(call: Call) -> bool:
    """Return True: the function always uses running extremes."""
    return True


def never(call: Call) -> bool:
    """Return False: the function evaluates each window anew."""
    return False


def full_window(call: Call) -> bool:
    """Return whether the window is a full box, for functions that then use running extremes."""
    footprint = call["footprint"]
    return call.get("structure") is None and (footprint is None or bool(np.all(footprint)))


def first_or_last(rank: Callable[[Call, int], float]) -> Callable[[Call], bool]:
    """Return a predicate for rank filters.

    SciPy uses a running minimum or maximum if the rank is the first or the last in a full box.

    Parameters
    ----------
    rank : callable
        Takes a call and the number of elements in the window; returns the rank, accurate to one.
    """

    def runs(call: Call) -> bool:
        if not full_window(call):
            return False
        number = int(np.prod(window_shape(call)))
        return not 2 <= rank(call, number) % number <= number - 3

    return runs


def window_shape(call: Call) -> tuple[int, ...]:
    """Return the shape of the window, with one length for each axis it covers."""
    size, footprint = call["size"], call["footprint"]
    if size is not None and footprint is not None:
        raise Deferred("SciPy is to warn that it ignores size where a footprint is given")
    structure = call.get("structure")
    shapes = [np.shape(array) for array in (footprint, structure) if array is not None]
    if len(set(shapes)) > 1:
        raise Deferred("footprint and structure are of different shapes")
    return shapes[0] if shapes else tuple(call.each("size"))


def _along_axis(call: Call, radius: int | None) -> Reaches:
    reaches: Reaches = [Reach()] * call.input.ndim
    axis = call.axis_of(call["axis"])
    reaches[axis] = WHOLE if radius is None else Reach(radius, _wraps(call["mode"]))
    return reaches


def _along_axes(call: Call, radii: Iterable[int], wraps: bool | None = None) -> Reaches:
    reaches: Reaches = [Reach()] * call.input.ndim
    axes = call.axes
    every = [_wraps(mode) for mode in call.each("mode")] if wraps is None else [wraps] * len(axes)
    for axis, radius, wrap in zip(axes, radii, every, strict=True):
        reaches[axis] = Reach(radius, wrap)
    return reaches


def _structure_radii(call: Call, structure: str, origin: str) -> list[int]:
    array = call[structure]
    shape = (3,) * len(call.axes) if array is None else np.shape(array)
    return _radii(shape, call.each(origin))


def _radii(shape: Iterable[int], origins: Iterable[int]) -> list[int]:
    return [_radius(size, origin) for size, origin in zip(shape, origins, strict=True)]


def _radius(size: int, origin: int) -> int:
    size = operator.index(size)
    if size < 1:
        raise ValueError(f"a window of {size} elements")
    return size // 2 + abs(operator.index(origin))


def _gaussian_radius(sigma: float, truncate: float, radius: int | None) -> int:
    if radius is None:
        radius = int(truncate * float(sigma) + 0.5)
    if radius < 0:
        raise ValueError(f"a radius of {radius} elements")
    return operator.index(radius)


def _wraps(mode: Any) -> bool:
    return mode in ("wrap", "grid-wrap")
