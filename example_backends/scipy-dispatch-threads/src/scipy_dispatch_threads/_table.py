"""The table of functions that are shared among threads, with their strategies."""

from __future__ import annotations

from scipy import ndimage

from . import _reach as reach
from ._passes import Passes, extreme, gaussian, spline, uniform
from ._points import Points
from ._slabs import Slabs
from ._strategy import FirstOf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._strategy import Strategy

_LINES = Slabs(reach.line, in_place=True)
_GAUSSIAN_1D = Slabs(reach.gaussian1d, in_place=True)
_EXTREME_1D = Slabs(reach.size1d, in_place=True, runs=reach.always)
_EXTREME = Slabs(reach.window(), in_place=True, runs=reach.full_window)
_SPLINE_FILTER = Passes(ndimage.spline_filter1d, _LINES, spline)

TABLE: dict[str, Strategy] = {
    # Weighted sums
    "convolve": Slabs(reach.weights, in_place=True),
    "convolve1d": Slabs(reach.weights1d, in_place=True),
    "correlate": Slabs(reach.weights, in_place=True),
    "correlate1d": Slabs(reach.weights1d, in_place=True),
    "gaussian_filter": FirstOf(
        Slabs(reach.gaussian, in_place=True),
        Passes(ndimage.gaussian_filter1d, _GAUSSIAN_1D, gaussian),
    ),
    "gaussian_filter1d": _GAUSSIAN_1D,
    "gaussian_gradient_magnitude": Slabs(reach.gaussian_derivatives),
    "gaussian_laplace": Slabs(reach.gaussian_derivatives),
    "laplace": Slabs(reach.ones),
    "prewitt": Slabs(reach.ones, in_place=True),
    "sobel": Slabs(reach.ones, in_place=True),
    # Running sums: rounding depends on where a line starts
    "uniform_filter": Passes(ndimage.uniform_filter1d, _LINES, uniform),
    "uniform_filter1d": _LINES,
    # Ranks
    "maximum_filter": FirstOf(_EXTREME, Passes(ndimage.maximum_filter1d, _EXTREME_1D, extreme)),
    "maximum_filter1d": _EXTREME_1D,
    "median_filter": Slabs(
        reach.rank_window, in_place=True, runs=reach.first_or_last(lambda call, number: number / 2)
    ),
    "minimum_filter": FirstOf(_EXTREME, Passes(ndimage.minimum_filter1d, _EXTREME_1D, extreme)),
    "minimum_filter1d": _EXTREME_1D,
    "percentile_filter": Slabs(
        reach.rank_window,
        in_place=True,
        runs=reach.first_or_last(lambda call, number: number * call["percentile"] / 100),
    ),
    "rank_filter": Slabs(
        reach.rank_window, in_place=True, runs=reach.first_or_last(lambda call, _: call["rank"])
    ),
    # Grey-scale morphology
    "black_tophat": Slabs(reach.window(times=2), runs=reach.full_window),
    "grey_closing": Slabs(reach.window(times=2), in_place=True, runs=reach.full_window),
    "grey_dilation": _EXTREME,
    "grey_erosion": _EXTREME,
    "grey_opening": Slabs(reach.window(times=2), in_place=True, runs=reach.full_window),
    "morphological_gradient": Slabs(reach.window(), in_place=True, runs=reach.full_window),
    "morphological_laplace": Slabs(reach.window(), runs=reach.full_window),
    "white_tophat": Slabs(reach.window(times=2), runs=reach.full_window),
    # Binary morphology
    "binary_closing": Slabs(reach.structure(times=2), in_place=True, companion="mask"),
    "binary_dilation": Slabs(reach.structure(), in_place=True, companion="mask"),
    "binary_erosion": Slabs(reach.structure(), in_place=True, companion="mask"),
    "binary_hit_or_miss": Slabs(reach.two_structures, in_place=True, returns_output=False),
    "binary_opening": Slabs(reach.structure(times=2), in_place=True, companion="mask"),
    # Interpolation
    "map_coordinates": Points(_SPLINE_FILTER),
    "rotate": Slabs(reach.plane, keeps_shape=False),
    "spline_filter": _SPLINE_FILTER,
    "spline_filter1d": _LINES,
}
"""Functions of `scipy.ndimage` by name, with their strategies."""
