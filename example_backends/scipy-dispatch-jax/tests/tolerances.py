"""The tolerances for results relative to SciPy's, by function and kind of data.

Data only: ``TOLERANCES[function][kind]`` is a `Tolerance`. The kind is that of the array:

==============  =====================================================================
``integers``    integers and booleans, with ``jax_enable_x64``
``integers32``  integers and booleans, without it: JAX has no double precision
``half``        float16 and bfloat16, compared with SciPy's result for the same numbers
``single``      float32 and complex64
``double``      float64 and complex128
==============  =====================================================================

An entry for integers may state counts only. If the result is then real, because of `output` or
of other arrays, the kind of the real numbers applies.

The tolerances apply to sums of up to 10,000 terms, in windows and convolutions, and to
transforms of up to 20,000 elements. Errors of sums grow with the square root of the number of
terms: in single precision, the largest errors observed were 1.5e-7 for 65 terms and 8.4e-7 for
5,001.

Functions that choose an element by its rank are exact for numbers. NaN comes last, as in NumPy's
order, or spreads from windows of a minimum or maximum. SciPy's results with NaN differ, and
depend on the order of its comparisons.

Every function of the backend has an entry. The tests compare it with SciPy for every kind in the
entry. For other kinds, SciPy has no result, or the backend leaves the call to SciPy.
"""

from __future__ import annotations

from typing import NamedTuple


class Tolerance(NamedTuple):
    """The allowed difference of an element.

    Attributes
    ----------
    rtol : float
        Relative to the largest value in SciPy's result, or in the array if that is larger.
    atol : float
        An additional absolute difference. For integer results, the number of counts.
    reason : str
        The reason for the tolerance.
    """

    rtol: float
    atol: float
    reason: str


EXACT = Tolerance(0, 0, "exact: the same elements, or sums that are computed exactly")
_RANKED = Tolerance(0, 0, "exact without NaN; where NaN goes depends on the comparisons of SciPy")
_BITS = Tolerance(0, 0, "exact: the same products added in the same order")
_NONE = "computed and rounded in single precision; SciPy rounds double precision once"
_SINGLE = "sums of up to 10,000 terms in single precision; SciPy computes in double precision"
_BETWEEN = (
    "computed in single precision, where SciPy computes in double precision; coordinates of "
    "double precision are rounded without jax_enable_x64, which is 7e-5 on a line of 4096"
)
_DOUBLE = "other fused or reordered sums of double precision"
_CUT = (
    "without jax_enable_x64 in single precision: more than 24 bits are rounded, and a sum that "
    "is whole but for its last bits is cut off to the whole number before or after"
)
_FFT_SINGLE = "other Fourier transforms of single precision"
_FFT_DOUBLE = "other Fourier transforms of double precision"
_FFT_NONE = "without jax_enable_x64 in single precision; SciPy makes double precision of integers"

Kinds = dict[str, Tolerance]

_CHOSEN: Kinds = dict.fromkeys(("integers", "integers32", "half", "single", "double"), EXACT)
_RANKS: Kinds = {
    **dict.fromkeys(("integers", "integers32"), EXACT),
    **dict.fromkeys(("half", "single", "double"), _RANKED),
}
_CUT_TWICE = (
    "without jax_enable_x64 in single precision, cut off to the whole number before or after "
    "along each of two axes: 1 for each axis"
)
_WHOLE: Kinds = {
    "integers": EXACT,
    "integers32": EXACT,
    "half": Tolerance(8e-3, 0, _NONE),
    "single": Tolerance(2e-6, 0, _SINGLE),
    "double": Tolerance(1e-14, 0, _DOUBLE),
}
_FRACTIONS: Kinds = {
    **_WHOLE,
    "integers": _BITS,
    "integers32": Tolerance(1e-6, 1, _CUT),
}
_LINE_BY_LINE: Kinds = {**_FRACTIONS, "integers32": Tolerance(1e-6, 2, _CUT_TWICE)}
_TRANSFORMS: Kinds = {
    "integers": Tolerance(1e-14, 0, _FFT_DOUBLE),
    "integers32": Tolerance(1e-6, 0, _FFT_NONE),
    "half": Tolerance(1e-6, 0, _FFT_SINGLE),
    "single": Tolerance(1e-6, 0, _FFT_SINGLE),
    "double": Tolerance(1e-14, 0, _FFT_DOUBLE),
}
_MADE_OF_THEM = ("signal.periodogram", "signal.spectrogram", "signal.hilbert")
_SPECTRA: Kinds = {
    "integers": Tolerance(1e-6, 0, "SciPy rounds what narrow integers give to single precision"),
    "integers32": Tolerance(2e-6, 0, _FFT_NONE),
    "single": Tolerance(2e-6, 0, _FFT_SINGLE),
    "double": Tolerance(1e-14, 0, _FFT_DOUBLE),
}
_PRODUCTS: Kinds = {
    "integers": EXACT,
    "integers32": EXACT,
    "single": Tolerance(3e-6, 0, _FFT_SINGLE + ", or none for short arrays"),
    "double": Tolerance(1e-13, 0, _FFT_DOUBLE + ", or none for short arrays"),
}

_SPLINES: Kinds = {
    "integers": Tolerance(0, 1, "a value where it is rounded, or cut off, but for a bit"),
    "integers32": Tolerance(1e-6, 1, _CUT),
    "half": Tolerance(8e-3, 0, _NONE),
    "single": Tolerance(4e-6, 0, _BETWEEN),
    "double": Tolerance(1e-13, 0, _DOUBLE),
}
_DECIDED: Kinds = dict.fromkeys(("integers", "integers32", "single", "double"), EXACT)
_RAISED: Kinds = {
    **_RANKS,
    "integers32": Tolerance(0, 1, "with heights that are fractions; otherwise exact"),
    "half": Tolerance(8e-3, 0, _NONE),
    "single": Tolerance(2e-7, 0, "heights are added in single precision"),
}
_MEASURED: Kinds = {
    "integers": Tolerance(1e-13, 0, _DOUBLE + "; sums of one region are exact"),
    "integers32": Tolerance(4e-6, 0, _SINGLE),
    "single": Tolerance(4e-6, 0, _SINGLE),
    "double": Tolerance(1e-13, 0, _DOUBLE),
}
_FEEDBACK = "a filter that feeds back what it rounded"
_SMOOTHED: Kinds = {
    "integers": Tolerance(1e-12, 0, _DOUBLE),
    "integers32": Tolerance(1e-5, 0, _FEEDBACK + ", " + _NONE),
    "single": Tolerance(1e-5, 0, _FEEDBACK + ", in single precision"),
    "double": Tolerance(1e-12, 0, _DOUBLE),
}
_RATIO = "a ratio or a difference of sums that nearly cancel"
_RATIOS: Kinds = {
    "single": Tolerance(1e-4, 0, _RATIO + ", in single precision"),
    "double": Tolerance(1e-12, 0, _RATIO),
}

TOLERANCES: dict[str, Kinds] = {
    # Sums with integer weights
    **dict.fromkeys(("ndimage.sobel", "ndimage.prewitt", "ndimage.laplace"), _WHOLE),
    **dict.fromkeys(("ndimage.uniform_filter", "ndimage.uniform_filter1d"), _WHOLE),
    # Sums with any weights
    **dict.fromkeys(("ndimage.correlate", "ndimage.convolve"), _FRACTIONS),
    **dict.fromkeys(("ndimage.correlate1d", "ndimage.convolve1d"), _FRACTIONS),
    "ndimage.gaussian_filter1d": _FRACTIONS,
    **dict.fromkeys(("ndimage.gaussian_filter", "ndimage.gaussian_laplace"), _LINE_BY_LINE),
    "ndimage.gaussian_gradient_magnitude": _LINE_BY_LINE,
    # Unchanged elements of the array
    **dict.fromkeys(("ndimage.minimum_filter", "ndimage.maximum_filter"), _RANKS),
    **dict.fromkeys(("ndimage.minimum_filter1d", "ndimage.maximum_filter1d"), _RANKS),
    **dict.fromkeys(("ndimage.median_filter", "ndimage.rank_filter"), _RANKS),
    "ndimage.percentile_filter": _RANKS,
    # Interpolation between elements
    "ndimage.map_coordinates": _SPLINES,
    **dict.fromkeys(("ndimage.zoom", "ndimage.rotate", "ndimage.shift"), _SPLINES),
    "ndimage.affine_transform": _SPLINES,
    **dict.fromkeys(("ndimage.spline_filter", "ndimage.spline_filter1d"), _MEASURED),
    # Morphology
    **{f"ndimage.grey_{name}": _RAISED for name in ("erosion", "dilation", "opening", "closing")},
    **{f"ndimage.morphological_{name}": _RAISED for name in ("gradient", "laplace")},
    **{f"ndimage.{name}_tophat": _RAISED for name in ("white", "black")},
    **{f"ndimage.binary_{name}": _DECIDED for name in ("erosion", "dilation", "opening")},
    **{f"ndimage.binary_{name}": _DECIDED for name in ("closing", "hit_or_miss", "propagation")},
    "ndimage.binary_fill_holes": _DECIDED,
    # Regions
    **{f"ndimage.{name}": _MEASURED for name in ("sum", "sum_labels", "mean", "variance")},
    **{f"ndimage.{name}": _MEASURED for name in ("standard_deviation", "center_of_mass")},
    **{f"ndimage.{name}": _DECIDED for name in ("minimum", "maximum", "extrema", "label")},
    **{f"ndimage.{name}_position": _DECIDED for name in ("minimum", "maximum")},
    "ndimage.distance_transform_edt": _MEASURED,
    # Fourier transforms and functions based on them
    **{
        f"fft.{name}{axes}": _TRANSFORMS
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for axes in ("", "2", "n")
    },
    **{
        f"fft.{name}{axes}": _TRANSFORMS
        for name in ("dct", "idct", "dst", "idst")
        for axes in ("", "n")
    },
    **dict.fromkeys(("fft.fftshift", "fft.ifftshift"), _CHOSEN),
    **dict.fromkeys(("signal.convolve", "signal.correlate"), _PRODUCTS),
    **dict.fromkeys(("signal.convolve2d", "signal.correlate2d"), _PRODUCTS),
    "signal.fftconvolve": {kind: _TRANSFORMS[kind] for kind in _PRODUCTS},
    "signal.detrend": {kind: _TRANSFORMS[kind] for kind in _PRODUCTS},
    **dict.fromkeys(("signal.welch", "signal.csd", "signal.stft", *_MADE_OF_THEM), _SPECTRA),
    "signal.hilbert2": _SPECTRA,
    "signal.oaconvolve": {kind: _TRANSFORMS[kind] for kind in _PRODUCTS},
    **{f"signal.{name}": _SMOOTHED for name in ("savgol_filter", "upfirdn", "resample")},
    **{f"signal.{name}": _SMOOTHED for name in ("resample_poly", "lfilter", "sosfilt")},
    **{
        f"signal.{name}": {kind: _SMOOTHED[kind] for kind in ("single", "double")}
        for name in ("decimate", "filtfilt", "sosfiltfilt")
    },
    **{f"signal.{name}": _DECIDED for name in ("medfilt", "medfilt2d", "order_filter")},
    **dict.fromkeys(("signal.wiener", "signal.coherence"), _RATIOS),
    "signal.istft": {kind: _SPECTRA[kind] for kind in ("single", "double")},
}
