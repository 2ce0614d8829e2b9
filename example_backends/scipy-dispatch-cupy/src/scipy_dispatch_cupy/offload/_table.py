"""The functions that run on the GPU for NumPy arrays, and the data types of SciPy's results.

The table leaves out functions whose work does not grow with an array (filter design,
conversions), functions that read their input once and return little (measurements, for which the
transfer takes longer than the work), functions that call Python functions, functions that
process a signal step by step (`lfilter` and similar), and functions whose results are not
arrays.
"""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Rule: TypeAlias = Callable[..., np.dtype[Any]]


def same(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the common type of the arrays."""
    return np.result_type(*dtypes)


def floating(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the common type of the arrays, with float64 in place of integer types."""
    # This differs from promoting the common type: int16 and float32 give float64 here.
    return np.result_type(*(each if each.kind in "fc" else np.dtype(float) for each in dtypes))


def at_least_single(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the common floating-point type, single precision for small integers."""
    return np.result_type(*dtypes, np.float32)


def double(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return a double-precision type, complex for complex arrays."""
    return np.dtype(complex if same(*dtypes).kind == "c" else float)


def complex_numbers(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the complex type of the arrays' precision."""
    return np.result_type(floating(*dtypes), np.complex64)


def real_numbers(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the real type of the arrays' precision."""
    return np.empty(0, floating(*dtypes)).real.dtype


def boolean(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the boolean type."""
    return np.dtype(bool)


def _rules(**names: str) -> dict[str, Rule]:
    return {
        name: globals()[rule] for rule, functions in names.items() for name in functions.split()
    }


TABLE: dict[str, dict[str, Rule]] = {
    "ndimage": _rules(
        same="""
            convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d
            gaussian_gradient_magnitude gaussian_laplace laplace prewitt sobel uniform_filter
            uniform_filter1d maximum_filter maximum_filter1d minimum_filter minimum_filter1d
            median_filter percentile_filter rank_filter black_tophat grey_closing grey_dilation
            grey_erosion grey_opening morphological_gradient morphological_laplace white_tophat
            affine_transform map_coordinates rotate shift zoom
            """,
        double="spline_filter spline_filter1d distance_transform_edt",
        boolean="binary_closing binary_dilation binary_erosion binary_opening binary_propagation "
        "binary_fill_holes binary_hit_or_miss",
    ),
    "signal": _rules(
        same="convolve correlate convolve2d correlate2d medfilt medfilt2d order_filter",
        floating="fftconvolve oaconvolve resample resample_poly detrend savgol_filter",
        at_least_single="upfirdn",
        complex_numbers="hilbert",
        double="wiener",
    ),
    "fft": _rules(
        complex_numbers="fft ifft fft2 ifft2 fftn ifftn rfft rfft2 rfftn ihfft ihfft2 ihfftn",
        real_numbers="irfft irfft2 irfftn hfft hfft2 hfftn",
        floating="dct idct dst idst dctn idctn dstn idstn",
    ),
}
"""For each function, the rule for the data type of SciPy's result."""
