"""How far a result may be off SciPy's, function by function and data type by data type.

Data only: ``TOLERANCES[function][kind]`` is a `Tolerance`. `kind` is what SciPy works in:

============  =======================================================================
``integers``  the result is of integers or booleans
``single``    float32 or complex64: the result, the array, or what it is filtered with
``double``    float64 and complex128, and integers with a result of these
============  =======================================================================

The tests compare every function with SciPy, and hold it to this.

A NaN in the data is where blocks show: what SciPy's running extremes (``minimum_filter`` and what
is made of it), its ranks along a line (``median_filter`` of one dimension), running sums
(``uniform_filter``) and convolutions by way of Fourier transforms make of it depends on what comes
before or beside it in the whole array. Extremes of windows without a NaN are SciPy's, ranks and
means up to the first (not with ``wrap``), and all of a block without any are true; for the rest
nothing is promised.
Functions with such windows have tolerances of their own, which say so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Tolerance(NamedTuple):
    """How far an element may be off.

    Attributes
    ----------
    rtol : float
        Relative to the largest finite value of SciPy's result.
    atol : float
        Besides.
    reason : str
        Why.
    """

    rtol: float
    atol: float
    reason: str


EXACT = Tolerance(0, 0, "exact: the same bits")
_WHOLE = Tolerance(0, 0, "exact: sums of integers up to 2**53 do not depend on their order")
_WITHOUT_NAN = Tolerance(
    0, 0, "exact: the same bits; with a NaN about, the result depends on where the array is cut"
)


def _kinds(single: float, double: float, reason: str) -> dict[str, Tolerance]:
    return {
        "integers": _WHOLE,
        "single": Tolerance(single, 0, reason),
        "double": Tolerance(double, 0, reason),
    }


# As the README marks them.
MARKS: dict[str, dict[str, Tolerance]] = {
    "=": dict.fromkeys(("integers", "single", "double"), EXACT),
    "nan": {"integers": EXACT, "single": _WITHOUT_NAN, "double": _WITHOUT_NAN},
    "bit": _kinds(
        1e-6,
        1e-14,
        "the same numbers, but several at once, for which other "
        "instructions of the processor may round otherwise",
    ),
    "sum": _kinds(
        1e-6,
        1e-13,
        "numbers are added up in another order, or from another one on; a NaN spoils the rest of "
        "its block, not of the line",
    ),
    "fft": _kinds(
        1e-5,
        1e-12,
        "Fourier transforms of other lengths round otherwise; in convolutions, a NaN spoils its "
        "block, not the array",
    ),
    "fit": _kinds(1e-5, 1e-9, "a least-squares fit of all lines of a block at once"),
    "avg": _kinds(
        1e-5,
        1e-12,
        "numbers are added up in another order; SciPy adds up single precision in single precision",
    ),
    "lib": _kinds(1e-6, 1e-13, "exponentials and sines from NumPy instead of the C library"),
}

_FUNCTIONS = {
    "=": """
        ndimage.binary_closing ndimage.binary_dilation ndimage.binary_erosion
        ndimage.binary_hit_or_miss ndimage.binary_opening ndimage.convolve ndimage.convolve1d
        ndimage.correlate ndimage.correlate1d ndimage.gaussian_filter ndimage.gaussian_filter1d
        ndimage.gaussian_gradient_magnitude ndimage.gaussian_laplace ndimage.generic_filter
        ndimage.generic_filter1d ndimage.label ndimage.laplace ndimage.maximum ndimage.median
        ndimage.minimum ndimage.prewitt ndimage.sobel ndimage.spline_filter
        ndimage.spline_filter1d signal.convolve2d signal.correlate2d signal.decimate
        signal.lfilter signal.medfilt2d signal.resample_poly signal.sosfilt signal.sosfiltfilt
        signal.upfirdn fft.fftshift fft.ifftshift
    """,
    "nan": """
        ndimage.black_tophat ndimage.grey_closing ndimage.grey_dilation ndimage.grey_erosion
        ndimage.grey_opening ndimage.maximum_filter ndimage.maximum_filter1d
        ndimage.median_filter ndimage.minimum_filter ndimage.minimum_filter1d
        ndimage.morphological_gradient ndimage.morphological_laplace ndimage.percentile_filter
        ndimage.rank_filter ndimage.white_tophat signal.medfilt signal.order_filter
    """,
    "bit": """
        ndimage.vectorized_filter
        signal.chirp signal.gausspulse signal.sawtooth signal.square signal.gauss_spline
        fft.fft fft.fft2 fft.fftn fft.hfft fft.hfft2 fft.hfftn fft.ifft fft.ifft2 fft.ifftn
        fft.ihfft fft.ihfft2 fft.ihfftn fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2
        fft.rfftn fft.dct fft.dctn fft.dst fft.dstn fft.idct fft.idctn fft.idst fft.idstn
    """,
    "sum": "ndimage.uniform_filter ndimage.uniform_filter1d ndimage.sum ndimage.sum_labels",
    "fft": """
        signal.convolve signal.correlate signal.czt signal.fftconvolve signal.hilbert
        signal.hilbert2 signal.oaconvolve signal.periodogram signal.resample signal.welch
        signal.zoom_fft fft.fht fft.ifht
    """,
    "fit": "signal.detrend signal.filtfilt signal.savgol_filter",
    "avg": "ndimage.center_of_mass ndimage.mean ndimage.standard_deviation ndimage.variance",
    "lib": "ndimage.fourier_gaussian ndimage.fourier_shift ndimage.fourier_uniform",
}

TOLERANCES: dict[str, dict[str, Tolerance]] = {
    name: MARKS[mark] for mark, names in _FUNCTIONS.items() for name in names.split()
}


def tolerance_of(name: str, expected: Any, *arrays: Any) -> Tolerance:
    """Return how far the function `name` may be off `expected`, SciPy's result for `arrays`."""
    dtypes = [each.dtype for each in (expected, *arrays) if hasattr(each, "dtype")]
    if np.asarray(expected).dtype.kind in "biu":
        kind = "integers"
    elif {"f", "F"} & {dtype.char for dtype in dtypes}:
        kind = "single"
    else:
        kind = "double"
    return TOLERANCES[name][kind]
