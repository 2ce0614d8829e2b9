"""The tolerances for CuPy's results relative to SciPy's: function, data type, tolerance, reason.

``TOLERANCES["ndimage.sobel"]["single"]`` is a `Tolerance`. No GPU has tested these tolerances yet:
they come from CuPy's sources and from the tolerances of SciPy's own tests against CuPy.
``pytest -m gpu`` prints the measured differences.
"""

from __future__ import annotations

from scipy_dispatch.testing import Tolerance


def _float(single: float, double: float, reason: str, counts: float = 0) -> dict[str, Tolerance]:
    kinds = {"single": Tolerance(single, 0, reason), "double": Tolerance(double, 0, reason)}
    cut = "small integers are of single precision, and cut off along each axis"
    return {"integers": Tolerance(0, counts, cut), **kinds} if counts else kinds


_CHOSEN = {"all": Tolerance(0, 0, "exact: values are chosen, compared or moved, not computed")}
_ADDED = _float(1e-6, 1e-14, "sums in the arrays' own precision, SciPy's are double", 2)
_RUNNING = _float(2e-6, 1e-12, "each window is added up, SciPy goes on from the one before", 2)
_PEAKED = _float(2e-5, 1e-12, "differences of sums in the arrays' own precision", 2)
_SPLINE = _float(1e-3, 1e-9, "positions in the image's precision, another start of the spline", 1)
_COEFFICIENTS = _float(1e-5, 1e-9, "the spline filter starts from a sum that ends elsewhere")
_EXPONENTIAL = _float(2e-6, 1e-12, "exponentials, sines and Bessel functions of CUDA")
_REDUCED = _float(2e-5, 1e-11, "numbers are added up in parallel, in another order")
_FOURIER = _float(2e-5, 1e-11, "cuFFT rounds otherwise than pocketfft")
_CONVOLVED = _float(2e-5, 1e-11, "by cuFFT, or added up in the arrays' own precision", 1)
_MINIMUM_PHASE = _float(1e-2, 1e-3, "logarithms of numbers near 0 magnify what a transform rounds")
_RECURSIVE = _float(1e-3, 1e-7, "recursions are computed in blocks, in parallel")
_SOLVED = _float(1e-4, 1e-8, "linear equations and least squares by cuSOLVER")
_ROOTS = _float(1e-3, 1e-6, "roots of polynomials are ill-conditioned, and found otherwise")
_DESIGNED = _float(1e-4, 1e-7, "products of roots, and searches for a minimum, round otherwise")
_SIMULATED = _float(1e-3, 1e-6, "matrix exponentials and steps of recursions round otherwise")
_DISTANCE = _float(1e-6, 1e-12, "square roots of whole numbers")

_FAMILIES: dict[str, list[tuple[dict[str, Tolerance], str]]] = {
    "ndimage": [
        (
            _CHOSEN,
            """
            minimum_filter minimum_filter1d maximum_filter maximum_filter1d median_filter
            rank_filter percentile_filter grey_erosion grey_dilation grey_opening grey_closing
            binary_erosion binary_dilation binary_opening binary_closing binary_hit_or_miss
            binary_propagation binary_fill_holes iterate_structure label find_objects
            value_indices minimum maximum minimum_position maximum_position extrema histogram
            labeled_comprehension
            """,
        ),
        (
            _ADDED,
            """
            convolve convolve1d correlate correlate1d sobel prewitt laplace gaussian_filter
            gaussian_filter1d generic_laplace generic_filter generic_filter1d
            morphological_gradient morphological_laplace white_tophat black_tophat
            """,
        ),
        (_RUNNING, "uniform_filter uniform_filter1d"),
        (_PEAKED, "gaussian_laplace gaussian_gradient_magnitude generic_gradient_magnitude"),
        (_SPLINE, "affine_transform map_coordinates rotate shift zoom"),
        (_COEFFICIENTS, "spline_filter spline_filter1d"),
        (_EXPONENTIAL, "fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform"),
        (_REDUCED, "sum sum_labels mean variance standard_deviation center_of_mass median"),
        (_DISTANCE, "distance_transform_edt"),
    ],
    "signal": [
        (_CHOSEN, "medfilt medfilt2d order_filter argrelextrema argrelmax argrelmin max_len_seq"),
        (_CHOSEN, "check_COLA check_NOLA"),
        (_CONVOLVED, "convolve correlate fftconvolve oaconvolve convolve2d correlate2d"),
        (_CONVOLVED, "sepfir2d wiener upfirdn resample_poly"),
        (_FOURIER, "periodogram welch csd coherence spectrogram stft istft"),
        (_FOURIER, "hilbert resample czt zoom_fft lombscargle vectorstrength"),
        (_MINIMUM_PHASE, "minimum_phase"),
        (_SOLVED, "detrend savgol_filter firls deconvolve"),
        (_RECURSIVE, "lfilter filtfilt sosfilt sosfiltfilt decimate cspline1d qspline1d"),
        (_RECURSIVE, "cspline1d_eval qspline1d_eval cspline2d qspline2d"),
        (_EXPONENTIAL, "gauss_spline chirp gausspulse sawtooth square sweep_poly"),
        (_REDUCED, "find_peaks peak_prominences peak_widths"),
        (_ROOTS, "residue residuez invres invresz unique_roots tf2zpk tf2sos sos2zpk ss2zpk"),
        (
            _DESIGNED,
            """
            butter cheby1 cheby2 ellip iirfilter iirdesign buttord cheb1ord cheb2ord ellipord
            band_stop_obj bilinear bilinear_zpk lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk
            lp2lp lp2lp_zpk normalize zpk2sos zpk2ss zpk2tf sos2tf ss2tf tf2ss findfreqs firwin
            firwin2 freqs freqs_zpk freqz freqz_sos freqz_zpk sosfreqz group_delay
            """,
        ),
        (_SIMULATED, "bode dbode freqresp dfreqresp impulse step lsim dimpulse dlsim dstep"),
        (_SIMULATED, "cont2discrete"),
    ],
    "fft": [
        (_CHOSEN, "fftshift ifftshift"),
        (_FOURIER, "fft fft2 fftn ifft ifft2 ifftn rfft rfft2 rfftn irfft irfft2 irfftn"),
        (_FOURIER, "hfft hfft2 hfftn ihfft ihfft2 ihfftn fht ifht"),
        (_FOURIER, "dct dctn dst dstn idct idctn idst idstn"),
    ],
}

TOLERANCES: dict[str, dict[str, Tolerance]] = {
    f"{module}.{name}": family
    for module, families in _FAMILIES.items()
    for family, names in families
    for name in names.split()
}
"""The tolerances for each function and data type, with reasons."""
