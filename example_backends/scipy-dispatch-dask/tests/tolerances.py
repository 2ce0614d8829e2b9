"""The tolerances for results relative to SciPy's, by function and kind of data.

Data only: ``TOLERANCES[function][kind]`` is a `Tolerance`. The kind is the precision in which
SciPy computes:

============  =======================================================================
``integers``  the result is integer or boolean
``single``    float32 or complex64: the result, the array, or the weights of a filter
``double``    float64 and complex128, and integer arrays with such a result
============  =======================================================================

The tests compare every function with SciPy within these tolerances.

NaN in the data shows where blocks begin. Several of SciPy's algorithms give results for NaN that
depend on elements before it or beside it in the whole array: running extremes
(``minimum_filter`` and filters based on it), 1-d ranks (``median_filter`` in one dimension),
running sums (``uniform_filter``), and convolutions by Fourier transforms. Extremes of windows
without NaN equal SciPy's. Ranks and means equal SciPy's up to the first NaN, except with
``wrap``. Results of blocks without NaN are correct. Other results are undefined. Functions with
such windows have their own tolerances, which say so.
"""

from __future__ import annotations

from scipy_dispatch.testing import EXACT, Tolerance

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


# The marks in the tables of the README.
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
    "far": {
        **_kinds(
            1e-6,
            1e-12,
            "the spline filter leaves out elements whose weight is below 1e-31; a NaN spoils the "
            "blocks about it, not the line",
        ),
        "integers": Tolerance(
            0, 0, "the nearest integer; halfway between two of them, rounding errors decide"
        ),
    },
    "lib": _kinds(1e-6, 1e-13, "exponentials and sines from NumPy instead of the C library"),
}

_FUNCTIONS = {
    "=": """
        ndimage.binary_closing ndimage.binary_dilation ndimage.binary_erosion
        ndimage.binary_hit_or_miss ndimage.binary_opening ndimage.convolve ndimage.convolve1d
        ndimage.correlate ndimage.correlate1d ndimage.gaussian_filter ndimage.gaussian_filter1d
        ndimage.gaussian_gradient_magnitude ndimage.gaussian_laplace ndimage.generic_filter
        ndimage.generic_filter1d ndimage.label ndimage.laplace ndimage.maximum ndimage.median
        ndimage.minimum ndimage.prewitt ndimage.sobel
        ndimage.spline_filter ndimage.spline_filter1d signal.convolve2d signal.correlate2d
        signal.decimate signal.lfilter signal.medfilt2d signal.resample_poly signal.sosfilt
        signal.sosfiltfilt signal.upfirdn fft.fftshift fft.ifftshift
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
        signal.coherence signal.convolve signal.correlate signal.csd signal.czt signal.fftconvolve
        signal.hilbert signal.hilbert2 signal.oaconvolve signal.periodogram signal.resample
        signal.spectrogram signal.stft signal.welch signal.zoom_fft fft.fht fft.ifht
    """,
    "fit": "signal.detrend signal.filtfilt signal.savgol_filter",
    "avg": "ndimage.center_of_mass ndimage.mean ndimage.standard_deviation ndimage.variance",
    "far": """
        ndimage.affine_transform ndimage.map_coordinates ndimage.rotate ndimage.shift
        ndimage.zoom
    """,
    "lib": "ndimage.fourier_gaussian ndimage.fourier_shift ndimage.fourier_uniform",
}

TOLERANCES: dict[str, dict[str, Tolerance]] = {
    name: MARKS[mark] for mark, names in _FUNCTIONS.items() for name in names.split()
}
