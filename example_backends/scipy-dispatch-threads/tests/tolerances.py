"""The tolerances for results relative to SciPy's: zero for every function and data type."""

from __future__ import annotations

from typing import NamedTuple


class Tolerance(NamedTuple):
    """The allowed relative and absolute difference of an element, with the reason."""

    rtol: float
    atol: float
    reason: str


EXACT = Tolerance(0, 0, "exact: SciPy computes every part, from the same neighbours")

_FUNCTIONS = """
    binary_closing binary_dilation binary_erosion binary_hit_or_miss binary_opening black_tophat
    convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d
    gaussian_gradient_magnitude gaussian_laplace grey_closing grey_dilation grey_erosion
    grey_opening laplace map_coordinates maximum_filter maximum_filter1d median_filter
    minimum_filter minimum_filter1d morphological_gradient morphological_laplace
    percentile_filter prewitt rank_filter rotate sobel spline_filter spline_filter1d
    uniform_filter uniform_filter1d white_tophat
"""

TOLERANCES = {f"ndimage.{name}": {"all": EXACT} for name in _FUNCTIONS.split()}
"""The tolerance of each function for all data types, which `comparison.assert_same` checks."""
