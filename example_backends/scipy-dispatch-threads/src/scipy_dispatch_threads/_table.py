"""The table: how each function is shared, and from which size on; and how far some functions read.

`scipy_dispatch.reach` knows how far most functions read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import ndimage

from scipy_dispatch import reach
from scipy_dispatch.calls import Deferred
from scipy_dispatch.reach import WHOLE, Reach

from ._strategies import FirstOf, Passes, Points, Slabs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy_dispatch.calls import BoundCall
    from scipy_dispatch.reach import Reaches, Read

    from ._strategies import Strategy


def _line(call: BoundCall, ndim: int) -> Reaches:
    """Return the reach of a function that processes each line from its start."""
    (axis,) = call.axes(ndim)
    return [WHOLE if each == axis else Reach() for each in range(ndim)]


def _plane(call: BoundCall, ndim: int) -> Reaches:
    """Return the reach of a function that treats each plane along `axes` separately."""
    axes = {int(axis) % ndim for axis in call["axes"] if -ndim <= axis < ndim}
    if len(axes) != len(call["axes"]):
        raise ValueError("there are no such axes")
    return [WHOLE if axis in axes else Reach() for axis in range(ndim)]


def _ranked(call: BoundCall, ndim: int) -> Reaches:
    """Return the reach of a window whose elements are ranked.

    In a 1-d array, SciPy carries the ranks over from one window to the next. Which of several
    equal elements it returns (0.0 and -0.0 are equal) then depends on the preceding windows.
    """
    return [WHOLE] if ndim == 1 else reach.window(call, ndim)


def _of_steps(read: Read) -> Read:
    """Return the reach of binary morphology, for outputs that SciPy fills in any layout alike."""

    def reaches(call: BoundCall, ndim: int) -> Reaches:
        output = call["output"]
        if isinstance(output, np.ndarray) and output.dtype != bool and call["iterations"] != 1:
            raise Deferred("repeated in an output that is not bool, it depends on the layout")
        return read(call, ndim)

    return reaches


# Passes: the arguments of the function along one axis, for each axis.


def _by_axes(call: BoundCall, *names: str) -> Iterator[tuple[Any, ...]]:
    axes = call.axes(call["input"].ndim)
    return zip(axes, *(call.each(name, len(axes)) for name in names), strict=True)


def _gaussian(call: BoundCall) -> Iterator[dict[str, Any]]:
    for axis, sigma, order, mode, radius in _by_axes(call, "sigma", "order", "mode", "radius"):
        if sigma > 1e-15:
            further = {"cval": call["cval"], "truncate": call["truncate"], "radius": radius}
            yield {"sigma": sigma, "axis": axis, "order": order, "mode": mode, **further}


def _uniform(call: BoundCall) -> Iterator[dict[str, Any]]:
    for axis, size, origin, mode in _by_axes(call, "size", "origin", "mode"):
        if size > 1:
            further = {"cval": call["cval"], "origin": origin}
            yield {"size": int(size), "axis": axis, "mode": mode, **further}


def _spline(call: BoundCall) -> Iterator[dict[str, Any]]:
    for axis in range(call["input"].ndim):
        yield {"order": call["order"], "axis": axis, "mode": call["mode"]}


_LINES = Slabs(_line)
_GAUSSIAN_1D = Slabs(reach.gaussian)
_STENCIL = Slabs(reach.stencil)
_WEIGHTS = Slabs(reach.weights)
_EXTREME = Slabs(reach.window, runs=True)
_EXTREME_TWICE = Slabs(reach.two_windows, runs=True)
_RANK = Slabs(_ranked, runs=True)  # the first and the last rank are extremes
_STEPS = Slabs(_of_steps(reach.structure), companion="mask")
_STEPS_TWICE = Slabs(_of_steps(reach.two_structures), companion="mask")
_SPLINE_FILTER = Passes(ndimage.spline_filter1d, _LINES, _spline)


class Shared(NamedTuple):
    """How a function is shared, and the number of elements from which on it is."""

    strategy: Strategy
    smallest: int


TABLE: dict[str, Shared] = {
    # Weighted sums
    "convolve": Shared(_WEIGHTS, 650_000),
    "convolve1d": Shared(_WEIGHTS, 3_000_000),
    "correlate": Shared(_WEIGHTS, 740_000),
    "correlate1d": Shared(_WEIGHTS, 3_400_000),
    "gaussian_filter": Shared(
        FirstOf(_GAUSSIAN_1D, Passes(ndimage.gaussian_filter1d, _GAUSSIAN_1D, _gaussian)), 630_000
    ),
    "gaussian_filter1d": Shared(_GAUSSIAN_1D, 1_300_000),
    "gaussian_gradient_magnitude": Shared(Slabs(reach.gaussian_gradient), 310_000),
    "gaussian_laplace": Shared(Slabs(reach.gaussian_laplace), 420_000),
    "laplace": Shared(_STENCIL, 1_400_000),
    "prewitt": Shared(_STENCIL, 1_500_000),
    "sobel": Shared(_STENCIL, 1_600_000),
    # Running sums: rounding depends on where a line starts
    "uniform_filter": Shared(Passes(ndimage.uniform_filter1d, _LINES, _uniform), 1_300_000),
    "uniform_filter1d": Shared(_LINES, 3_000_000),
    # Ranks
    "maximum_filter": Shared(_EXTREME, 340_000),
    "maximum_filter1d": Shared(_EXTREME, 730_000),
    "median_filter": Shared(_RANK, 54_000),
    "minimum_filter": Shared(_EXTREME, 340_000),
    "minimum_filter1d": Shared(_EXTREME, 720_000),
    "percentile_filter": Shared(_RANK, 54_000),
    "rank_filter": Shared(_RANK, 55_000),
    # Grey-scale morphology
    "black_tophat": Shared(_EXTREME_TWICE, 200_000),
    "grey_closing": Shared(_EXTREME_TWICE, 200_000),
    "grey_dilation": Shared(_EXTREME, 360_000),
    "grey_erosion": Shared(_EXTREME, 350_000),
    "grey_opening": Shared(_EXTREME_TWICE, 200_000),
    "morphological_gradient": Shared(_EXTREME, 180_000),
    "morphological_laplace": Shared(_EXTREME, 180_000),
    "white_tophat": Shared(_EXTREME_TWICE, 210_000),
    # Binary morphology
    "binary_closing": Shared(_STEPS_TWICE, 290_000),
    "binary_dilation": Shared(_STEPS, 540_000),
    "binary_erosion": Shared(_STEPS, 450_000),
    "binary_hit_or_miss": Shared(Slabs(reach.hit_or_miss, returns_output=False), 220_000),
    "binary_opening": Shared(_STEPS_TWICE, 260_000),
    # Interpolation
    "map_coordinates": Shared(Points(_SPLINE_FILTER), 490_000),
    "rotate": Shared(Slabs(_plane, keeps_shape=False), 210_000),
    "spline_filter": Shared(_SPLINE_FILTER, 550_000),
    "spline_filter1d": Shared(_LINES, 1_100_000),
}
"""Functions of `scipy.ndimage` by name.

At these sizes, with the smallest windows and the cheaper of float64 and uint8, SciPy takes 6 ms on
the machine where they were measured. From there on threads pay, also on a busy machine.
"""
