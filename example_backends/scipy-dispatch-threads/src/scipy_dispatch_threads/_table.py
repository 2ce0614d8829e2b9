"""The table of functions that are shared among threads, with their strategies."""

from __future__ import annotations

from scipy import ndimage

from scipy_dispatch import reach

from . import _reach as own
from ._passes import Passes, extreme, gaussian, spline, uniform
from ._points import Points
from ._slabs import Slabs
from ._strategy import FirstOf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._strategy import Strategy

_LINES = Slabs(own.line)
_GAUSSIAN_1D = Slabs(reach.gaussian)
_EXTREME_1D = Slabs(reach.window, runs=lambda call: True)
_EXTREME = Slabs(reach.window, runs=own.full_window)
_STEPS = Slabs(own.of_steps(reach.structure), companion="mask")
_STEPS_TWICE = Slabs(own.of_steps(reach.two_structures), companion="mask")
_SPLINE_FILTER = Passes(ndimage.spline_filter1d, _LINES, spline)

TABLE: dict[str, Strategy] = {
    # Weighted sums
    "convolve": Slabs(reach.weights),
    "convolve1d": Slabs(reach.weights),
    "correlate": Slabs(reach.weights),
    "correlate1d": Slabs(reach.weights),
    "gaussian_filter": FirstOf(
        Slabs(reach.gaussian),
        Passes(ndimage.gaussian_filter1d, _GAUSSIAN_1D, gaussian),
    ),
    "gaussian_filter1d": _GAUSSIAN_1D,
    "gaussian_gradient_magnitude": Slabs(reach.gaussian_gradient),
    "gaussian_laplace": Slabs(reach.gaussian_laplace),
    "laplace": Slabs(reach.stencil),
    "prewitt": Slabs(reach.stencil),
    "sobel": Slabs(reach.stencil),
    # Running sums: rounding depends on where a line starts
    "uniform_filter": Passes(ndimage.uniform_filter1d, _LINES, uniform),
    "uniform_filter1d": _LINES,
    # Ranks
    "maximum_filter": FirstOf(_EXTREME, Passes(ndimage.maximum_filter1d, _EXTREME_1D, extreme)),
    "maximum_filter1d": _EXTREME_1D,
    "median_filter": Slabs(
        own.rank_window, runs=own.first_or_last(lambda call, number: number / 2)
    ),
    "minimum_filter": FirstOf(_EXTREME, Passes(ndimage.minimum_filter1d, _EXTREME_1D, extreme)),
    "minimum_filter1d": _EXTREME_1D,
    "percentile_filter": Slabs(
        own.rank_window,
        runs=own.first_or_last(lambda call, number: number * call["percentile"] / 100),
    ),
    "rank_filter": Slabs(own.rank_window, runs=own.first_or_last(lambda call, _: call["rank"])),
    # Grey-scale morphology
    "black_tophat": Slabs(reach.two_windows, runs=own.full_window),
    "grey_closing": Slabs(reach.two_windows, runs=own.full_window),
    "grey_dilation": _EXTREME,
    "grey_erosion": _EXTREME,
    "grey_opening": Slabs(reach.two_windows, runs=own.full_window),
    "morphological_gradient": Slabs(reach.window, runs=own.full_window),
    "morphological_laplace": Slabs(reach.window, runs=own.full_window),
    "white_tophat": Slabs(reach.two_windows, runs=own.full_window),
    # Binary morphology
    "binary_closing": _STEPS_TWICE,
    "binary_dilation": _STEPS,
    "binary_erosion": _STEPS,
    "binary_hit_or_miss": Slabs(reach.hit_or_miss, returns_output=False),
    "binary_opening": _STEPS_TWICE,
    # Interpolation
    "map_coordinates": Points(_SPLINE_FILTER),
    "rotate": Slabs(own.plane, keeps_shape=False),
    "spline_filter": _SPLINE_FILTER,
    "spline_filter1d": _LINES,
}
"""Functions of `scipy.ndimage` by name, with their strategies."""
