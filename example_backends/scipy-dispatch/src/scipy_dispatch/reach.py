"""For backends that cut arrays: how far functions of `scipy.ndimage` read from an element.

A function can be computed part by part if each value depends only on a known number of neighbours
along each axis. The functions here take a `BoundCall` and the number of dimensions of its array,
and return a `Reach` for each axis: an upper bound. One that is too large costs time; one that is
too small gives wrong results.

An even window or an origin shifts the window off its centre, to one side in a convolution or
dilation, to the other in a correlation or erosion. In each case, ``size // 2 + abs(origin)``
elements on either side contain the window.

Examples
--------
>>> from scipy import ndimage
>>> from scipy_dispatch.calls import BoundCall
>>> gaussian(BoundCall(ndimage.gaussian_filter, {"sigma": (1, 2), "mode": ("wrap", "mirror")}), 2)
[Reach(radius=4, wraps=True), Reach(radius=8, wraps=False)]
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .calls import BoundCall, Deferred, signature_of

Reaches: TypeAlias = "list[Reach | None]"
Read: TypeAlias = Callable[[BoundCall, int], Reaches]
Radii: TypeAlias = "Callable[[BoundCall, int], Iterable[int]]"
"""Takes a call and the number of axes that the function works along."""

WHOLE = None
"""The reach along an axis whose lines have to be whole: values depend on all elements."""


class Reach(NamedTuple):
    """The neighbours along one axis that an element of the result depends on.

    Attributes
    ----------
    radius : int
        The largest number of elements on either side.
    wraps : bool
        Whether the last element is a neighbour of the first.
    """

    radius: int = 0
    wraps: bool = False


def along_axes(radii: Radii, times: int = 1) -> Read:
    """Return the reach of filters along ``axes`` or one ``axis``, applied `times` in succession."""

    def reaches(call: BoundCall, ndim: int) -> Reaches:
        axes = call.axes(ndim)
        return _along(ndim, axes, [times * radius for radius in radii(call, len(axes))], call)

    return reaches


def _along(ndim: int, axes: Sequence[int], radii: Iterable[int], call: BoundCall) -> Reaches:
    found: Reaches = [Reach()] * ndim
    for axis, radius, mode in zip(axes, radii, call.each("mode", len(axes)), strict=True):
        found[axis] = Reach(radius, _wraps(mode))
    return found


def stencil(call: BoundCall, ndim: int) -> Reaches:
    """Return the reach of filters that read the adjacent elements along all axes."""
    axes = range(ndim) if call["axes"] is None else call.axes(ndim)
    return _along(ndim, axes, [1] * len(axes), call)


@along_axes
def weights(call: BoundCall, number: int) -> list[int]:
    """Return the reach of a kernel, `weights`."""
    return _radii(np.shape(call["weights"]), call.each("origin", number))


@along_axes
def gaussian(call: BoundCall, number: int) -> list[int]:
    """Return the reach of successive Gaussian kernels."""
    return _gaussian_radii(call, number)


def gaussian_laplace(call: BoundCall, ndim: int) -> Reaches:
    """Return the reach of second derivatives of a Gaussian along each of the axes."""
    return _derivatives(call, ndim, call.axes(ndim))


def gaussian_gradient(call: BoundCall, ndim: int) -> Reaches:
    """Return the reach of first derivatives of a Gaussian; SciPy smooths along all axes."""
    return _derivatives(call, ndim, range(ndim))


def window_shape(call: BoundCall, number: int) -> tuple[int, ...]:
    """Return the shape of a window: that of `footprint`, else of `structure`, else `size`."""
    size, footprint = call["size"], call["footprint"]
    if size is not None and footprint is not None:
        raise Deferred("SciPy warns that it ignores size where a footprint is given")
    shapes = {np.shape(each) for each in (footprint, call["structure"]) if each is not None}
    if len(shapes) > 1:
        raise Deferred("footprint and structure are of different shapes")
    return shapes.pop() if shapes else tuple(call.each("size", number))


def _window(call: BoundCall, number: int) -> list[int]:
    return _radii(window_shape(call, number), call.each("origin", number))


window = along_axes(_window)
two_windows = along_axes(_window, times=2)


def _structure(call: BoundCall, number: int) -> list[int]:
    iterations = operator.index(call["iterations"])
    if iterations < 1:
        raise Deferred(
            "iterations < 1 repeats until nothing changes, which needs the whole array; "
            "pass a number of iterations"
        )
    return [iterations * radius for radius in _structure_radii(call, number)]


structure = along_axes(_structure)
"""The reach of binary morphology, that is ``iterations`` steps."""
two_structures = along_axes(_structure, times=2)


@along_axes
def hit_or_miss(call: BoundCall, number: int) -> list[int]:
    """Return the reach of ``structure1`` and ``structure2``, the larger one along each axis."""
    second = "1" if call["structure2"] is None else "2"
    origin = "1" if call["origin2"] is None else "2"
    first = _structure_radii(call, number, "1", "1")
    return list(map(max, first, _structure_radii(call, number, second, origin)))


def _derivatives(call: BoundCall, ndim: int, axes: Sequence[int]) -> Reaches:
    """Return the reach of derivatives, each along one axis and smoothed along all of them.

    Each has one boundary mode for all axes, that of the axis of the derivative.
    """
    further = call.arguments.keys() - signature_of(call.function).parameters.keys()
    if further - {"truncate", "radius"}:
        raise Deferred("arguments for gaussian_filter other than truncate and radius")
    mode = call["mode"]
    wraps = {_wraps(each) for each in ([mode] if isinstance(mode, str) else mode)}
    if len(wraps) > 1:
        raise Deferred("some of the derivatives wrap around and others do not")
    found: Reaches = [Reach()] * ndim
    for axis, radius in zip(axes, _gaussian_radii(call, len(axes)), strict=True):
        found[axis] = Reach(radius, wraps == {True})
    return found


def _gaussian_radii(call: BoundCall, number: int) -> list[int]:
    truncate = 4.0 if call["truncate"] is None else call["truncate"]
    radii = []
    for sigma, radius in zip(call.each("sigma", number), call.each("radius", number), strict=True):
        # SciPy skips axes with such a sigma, including NaN, unless there is one axis only.
        if call["axis"] is None and not sigma > 1e-15:
            radius = 0
        radius = int(truncate * float(sigma) + 0.5) if radius is None else operator.index(radius)
        if radius < 0:
            raise ValueError(f"a radius of {radius} elements")
        radii.append(radius)
    return radii


def _structure_radii(
    call: BoundCall, number: int, structure: str = "", origin: str = ""
) -> list[int]:
    array = call[f"structure{structure}"]
    shape = (3,) * number if array is None else np.shape(array)
    return _radii(shape, call.each(f"origin{origin}", number))


def _radii(shape: Iterable[Any], origins: Iterable[Any]) -> list[int]:
    radii = []
    for size, origin in zip(shape, origins, strict=True):
        if operator.index(size) < 1:
            raise Deferred(f"a window of {size} elements is left to SciPy")  # some copy
        radii.append(operator.index(size) // 2 + abs(operator.index(origin or 0)))
    return radii


def _wraps(mode: Any) -> bool:
    return mode in ("wrap", "grid-wrap")
