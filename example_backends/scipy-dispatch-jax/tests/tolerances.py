"""The tolerances for results relative to SciPy's, by function and kind of data.

Data only: ``TOLERANCES[function][kind]`` is a `Tolerance`. The kind is that of the array:

==============  =====================================================================
``integers``    integers and booleans, with ``jax_enable_x64``
``integers32``  integers and booleans, without it: JAX has no double precision
``half``        float16 and bfloat16, compared with SciPy's result for the same numbers
``single``      float32 and complex64
``double``      float64 and complex128
==============  =====================================================================

Relative tolerances are relative to the largest value of SciPy's result, or of the data if that is
larger. Those of integers are for results that are integers, as a number of counts; for real
results, the kind of the real numbers applies.

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

from scipy_dispatch.testing import EXACT, Tolerance

_RANKED = Tolerance(0, 0, "exact without NaN; where NaN goes depends on the comparisons of SciPy")
_NONE = "computed and rounded in single precision; SciPy rounds double precision once"
_SINGLE = "sums of up to 10,000 terms in single precision; SciPy computes in double precision"
_BETWEEN = (
    "computed in single precision, where SciPy computes in double precision; coordinates of "
    "double precision are rounded without jax_enable_x64, which is 7e-5 on a line of 4096"
)
_DOUBLE = "other fused or reordered sums of double precision"
_CUT = (
    "a sum that is whole but for its last bits is cut off to the whole number before or after; "
    "without jax_enable_x64 in single precision, which rounds more than 24 bits"
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
_CUT_TWICE = _CUT + ", along each of two axes"
_WHOLE: Kinds = {
    "integers": Tolerance(0, 1, _CUT),
    "integers32": Tolerance(1e-6, 1, _CUT),
    "half": Tolerance(8e-3, 0, _NONE),
    "single": Tolerance(2e-6, 0, _SINGLE),
    "double": Tolerance(1e-14, 0, _DOUBLE),
}
_LINE_BY_LINE: Kinds = {
    **_WHOLE,
    "integers": Tolerance(0, 2, _CUT_TWICE),
    "integers32": Tolerance(1e-6, 2, _CUT_TWICE),
}
_TRANSFORMS: Kinds = {
    "integers": Tolerance(1e-14, 0, _FFT_DOUBLE),
    "integers32": Tolerance(1e-6, 0, _FFT_NONE),
    "half": Tolerance(1e-6, 0, _FFT_SINGLE),
    "single": Tolerance(1e-6, 0, _FFT_SINGLE),
    "double": Tolerance(1e-14, 0, _FFT_DOUBLE),
}
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


def _only(kinds: Kinds, *names: str) -> Kinds:
    return {name: kinds[name] for name in names}


_FOR_PRODUCTS = _only(_TRANSFORMS, *_PRODUCTS)
_REALS = ("single", "double")

_ROWS: list[tuple[str, Kinds, str]] = [
    # Weighted sums
    ("ndimage", _WHOLE, "sobel prewitt laplace uniform_filter1d gaussian_filter1d"),
    ("ndimage", _WHOLE, "correlate convolve correlate1d convolve1d"),
    ("ndimage", _LINE_BY_LINE, "gaussian_filter gaussian_laplace gaussian_gradient_magnitude"),
    ("ndimage", _LINE_BY_LINE, "uniform_filter"),
    # Unchanged elements of the array
    ("ndimage", _RANKS, "minimum_filter maximum_filter minimum_filter1d maximum_filter1d"),
    ("ndimage", _RANKS, "median_filter rank_filter percentile_filter"),
    # Interpolation between elements
    ("ndimage", _SPLINES, "map_coordinates zoom rotate shift affine_transform"),
    ("ndimage", _MEASURED, "spline_filter spline_filter1d"),
    # Morphology
    ("ndimage", _RAISED, "grey_erosion grey_dilation grey_opening grey_closing"),
    ("ndimage", _RAISED, "morphological_gradient morphological_laplace white_tophat black_tophat"),
    ("ndimage", _DECIDED, "binary_erosion binary_dilation binary_opening binary_closing"),
    ("ndimage", _DECIDED, "binary_hit_or_miss binary_propagation binary_fill_holes"),
    # Regions
    ("ndimage", _MEASURED, "sum sum_labels mean variance standard_deviation center_of_mass"),
    ("ndimage", _DECIDED, "minimum maximum extrema label minimum_position maximum_position"),
    ("ndimage", _MEASURED, "distance_transform_edt"),
    # Fourier transforms and functions based on them
    ("fft", _TRANSFORMS, "fft fft2 fftn ifft ifft2 ifftn rfft rfft2 rfftn irfft irfft2 irfftn"),
    ("fft", _TRANSFORMS, "hfft hfft2 hfftn ihfft ihfft2 ihfftn"),
    ("fft", _TRANSFORMS, "dct dctn idct idctn dst dstn idst idstn"),
    ("fft", _CHOSEN, "fftshift ifftshift"),
    ("signal", _PRODUCTS, "convolve correlate convolve2d correlate2d"),
    ("signal", _FOR_PRODUCTS, "fftconvolve oaconvolve detrend"),
    ("signal", _SPECTRA, "welch csd stft periodogram spectrogram hilbert hilbert2"),
    ("signal", _only(_SPECTRA, *_REALS), "istft"),
    # Smoothing, and other sampling rates
    ("signal", _SMOOTHED, "savgol_filter upfirdn resample resample_poly lfilter sosfilt"),
    ("signal", _only(_SMOOTHED, *_REALS), "decimate filtfilt sosfiltfilt"),
    ("signal", _DECIDED, "medfilt medfilt2d order_filter"),
    ("signal", _RATIOS, "wiener coherence"),
]
TOLERANCES: dict[str, Kinds] = {
    f"{module}.{name}": kinds for module, kinds, names in _ROWS for name in names.split()
}
