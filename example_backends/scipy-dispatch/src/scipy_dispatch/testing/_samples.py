"""One small, valid call of every function that is dispatchable. Data only.

Dispatch arguments are NumPy arrays wherever SciPy accepts them, so that the same calls show that
each dispatch parameter is found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._comparison import Call, call


def threshold(values: Any) -> Any:
    return values.max() - values.min()


def running_sum(line: Any, output: Any) -> None:
    output[...] = np.convolve(line, [1.0, 1.0, 1.0], "valid")


def difference(input: Any, axis: int, output: Any, mode: str, cval: float) -> Any:
    from scipy_dispatch import ndimage  # for arrays of any type

    return ndimage.correlate1d(input, [-1.0, 0.0, 1.0], axis, output, mode, cval)


def turned(position: tuple[int, ...]) -> tuple[float, float]:
    return position[1] * 0.5, position[0] + 0.25


def spread(values: Any, axis: Any = None) -> Any:
    return np.max(values, axis=axis) - np.min(values, axis=axis)


def box(points: int, width: float) -> Any:
    return np.ones(min(points, round(width)))


_random = np.random.default_rng(20240229)
IMAGE = _random.standard_normal((6, 7))
WAVE = np.sin(np.arange(64) / 3.0) + 0.1 * _random.standard_normal(64)
OTHER = np.cos(np.arange(64) / 5.0) + 0.1 * _random.standard_normal(64)
WINDOW = np.hanning(17)[:16]
PICTURE = _random.standard_normal((24, 24))
KERNEL = np.array([[0.0, 1.0, 0.5], [1.0, -3.0, 1.0], [0.0, 1.0, 2.0]])
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], dtype=bool)
HEIGHTS = CROSS * 0.25
BLOBS = IMAGE > 0.2
MASK = np.ones((6, 7), dtype=bool)
MASK[:, 3] = False
LABELS = np.arange(42).reshape(6, 7) // 9
INDEX = np.array([1, 2, 4])
B = np.array([0.2, 0.3, 0.2])
A = np.array([1.0, -0.4, 0.1])
ANALOG = np.array([1.0, 0.6, 1.0])
SOS = np.array([[0.2, 0.3, 0.2, 1.0, -0.4, 0.1], [0.5, 0.1, 0.0, 1.0, 0.2, 0.0]])
ZEROS = np.array([-0.5 + 0.5j, -0.5 - 0.5j])
POLES = np.array([-0.2 + 0.4j, -0.2 - 0.4j])
RESIDUES = np.array([1.0, 2.0])
STATES = (
    np.array([[-0.5, 0.2], [0.1, -0.7]]),
    np.array([[1.0], [0.5]]),
    np.array([[1.0, 2.0]]),
    np.array([[0.5]]),
)
TIMES = np.linspace(0.0, 3.0, 9)
STEPS = np.arange(9.0)
ANGLES = np.linspace(0.1, 3.0, 8)
PEAKS = 1 + np.flatnonzero((WAVE[1:-1] > WAVE[:-2]) & (WAVE[1:-1] > WAVE[2:]))

_spectrum = np.fft.fft2(IMAGE)
_filter = call(IMAGE, footprint=CROSS)
_fourier = call(_spectrum, 1.5)
_measured = call(IMAGE, LABELS, INDEX)
_binary = call(BLOBS, structure=CROSS, mask=MASK)
_grey = call(IMAGE, footprint=CROSS, structure=HEIGHTS)
_two_images = call(IMAGE, KERNEL)
_polynomials = call(B, A)
_zpk = call(ZEROS, POLES, 0.5)
_spectral = call(WAVE, window=WINDOW, nperseg=16)
_order = call(np.array([0.2, 0.3]), np.array([0.1, 0.4]), 3.0, 30.0)

NDIMAGE: dict[str, Call] = {
    "convolve": _two_images,
    "convolve1d": call(IMAGE, B, axis=0),
    "correlate": _two_images,
    "correlate1d": call(IMAGE, B, axis=0),
    "gaussian_filter": call(IMAGE, 1.5),
    "gaussian_filter1d": call(IMAGE, 1.5, axis=0),
    "gaussian_gradient_magnitude": call(IMAGE, 1.5),
    "gaussian_laplace": call(IMAGE, 1.5),
    "generic_filter": call(IMAGE, threshold, footprint=CROSS),
    "generic_filter1d": call(IMAGE, running_sum, 3),
    "generic_gradient_magnitude": call(IMAGE, difference),
    "generic_laplace": call(IMAGE, difference),
    "laplace": call(IMAGE),
    "maximum_filter": _filter,
    "maximum_filter1d": call(IMAGE, 3),
    "median_filter": _filter,
    "minimum_filter": _filter,
    "minimum_filter1d": call(IMAGE, 3),
    "percentile_filter": call(IMAGE, 30, footprint=CROSS),
    "prewitt": call(IMAGE, 0),
    "rank_filter": call(IMAGE, 2, footprint=CROSS),
    "sobel": call(IMAGE, 0),
    "uniform_filter": call(IMAGE, 3),
    "uniform_filter1d": call(IMAGE, 3),
    "vectorized_filter": call(IMAGE, spread, footprint=CROSS),
    "fourier_ellipsoid": _fourier,
    "fourier_gaussian": _fourier,
    "fourier_shift": _fourier,
    "fourier_uniform": _fourier,
    "affine_transform": call(IMAGE, np.array([[0.9, 0.1], [-0.1, 0.9]]), offset=0.25),
    "geometric_transform": call(IMAGE, turned),
    "map_coordinates": call(IMAGE, np.array([[0.5, 2.0, 3.25], [1.0, 1.5, 4.75]])),
    "rotate": call(IMAGE, 30.0),
    "shift": call(IMAGE, (0.5, -1.25)),
    "spline_filter": call(IMAGE),
    "spline_filter1d": call(IMAGE),
    "zoom": call(IMAGE, 1.5),
    "center_of_mass": _measured,
    "extrema": _measured,
    "find_objects": call(LABELS),
    "histogram": call(IMAGE, -2.0, 2.0, 4, LABELS, INDEX),
    "label": call(BLOBS, CROSS),
    "labeled_comprehension": call(IMAGE, LABELS, INDEX, threshold, float, -1.0),
    "maximum": _measured,
    "maximum_position": _measured,
    "mean": _measured,
    "median": _measured,
    "minimum": _measured,
    "minimum_position": _measured,
    "standard_deviation": _measured,
    "sum": _measured,
    "sum_labels": _measured,
    "value_indices": call(LABELS),
    "variance": _measured,
    "watershed_ift": call(
        (IMAGE * 20 + 100).astype(np.uint8), (LABELS % 3).astype(np.int16), CROSS
    ),
    "binary_closing": _binary,
    "binary_dilation": _binary,
    "binary_erosion": _binary,
    "binary_fill_holes": call(BLOBS, CROSS),
    "binary_hit_or_miss": call(BLOBS, CROSS, ~CROSS),
    "binary_opening": _binary,
    "binary_propagation": _binary,
    "black_tophat": _grey,
    "distance_transform_bf": call(BLOBS, return_indices=True),
    "distance_transform_cdt": call(BLOBS, return_indices=True),
    "distance_transform_edt": call(BLOBS, return_indices=True),
    "grey_closing": _grey,
    "grey_dilation": _grey,
    "grey_erosion": _grey,
    "grey_opening": _grey,
    "iterate_structure": call(CROSS, 2),
    "morphological_gradient": _grey,
    "morphological_laplace": _grey,
    "white_tophat": _grey,
}

SIGNAL: dict[str, Call] = {
    "choose_conv_method": _two_images,
    "convolve": _two_images,
    "convolve2d": _two_images,
    "correlate": _two_images,
    "correlate2d": _two_images,
    "fftconvolve": _two_images,
    "oaconvolve": _two_images,
    "sepfir2d": call(IMAGE, B, np.array([1.0, 2.0, 1.0])),
    "cspline1d": call(WAVE),
    "cspline1d_eval": call(WAVE, TIMES),
    "cspline2d": call(PICTURE, 0.0),
    "gauss_spline": call(TIMES, 3),
    "qspline1d": call(WAVE),
    "qspline1d_eval": call(WAVE, TIMES),
    "qspline2d": call(PICTURE, 0.0),
    "spline_filter": call(PICTURE, 1.0),
    "whittaker_henderson": call(WAVE, lamb=2.0, weights=np.ones(64)),
    "decimate": call(WAVE, 2),
    "deconvolve": call(np.array([0.0, 1.0, 4.0, 3.0]), np.array([1.0, 2.0])),
    "detrend": call(WAVE, bp=np.array([16, 32])),
    "envelope": call(WAVE),
    "filtfilt": call(B, A, WAVE),
    "hilbert": call(WAVE),
    "hilbert2": call(IMAGE),
    "lfilter": call(B, A, WAVE, zi=np.array([0.1, 0.2])),
    "lfilter_zi": _polynomials,
    "lfiltic": call(B, A, np.array([0.5, 0.25]), np.array([1.0, 2.0])),
    "medfilt": call(WAVE, 5),
    "medfilt2d": call(IMAGE),
    "order_filter": call(IMAGE, CROSS, 2),
    "resample": call(WAVE, 24, t=np.arange(64.0), window=np.hanning(64)),
    "resample_poly": call(WAVE, 3, 2, window=WINDOW),
    "savgol_filter": call(WAVE, 7, 2),
    "sosfilt": call(SOS, WAVE, zi=np.full((2, 2), 0.1)),
    "sosfilt_zi": call(SOS),
    "sosfiltfilt": call(SOS, WAVE),
    "symiirorder1": call(WAVE, 0.5, 0.25),
    "symiirorder2": call(WAVE, 0.5, 0.25),
    "upfirdn": call(B, WAVE, 2),
    "wiener": call(IMAGE),
    "band_stop_obj": call(
        0.3, 0, np.array([0.25, 0.75]), np.array([0.4, 0.6]), 1.0, 30.0, "butter"
    ),
    "bessel": call(3, np.array(0.3)),
    "bilinear": _polynomials,
    "bilinear_zpk": call(ZEROS, POLES, 0.5, 2.0),
    "butter": call(3, np.array([0.2, 0.5]), "bandpass"),
    "buttord": _order,
    "cheb1ord": _order,
    "cheb2ord": _order,
    "cheby1": call(3, 1.0, np.array([0.2, 0.5]), "bandpass"),
    "cheby2": call(3, 30.0, np.array([0.2, 0.5]), "bandpass"),
    "ellip": call(3, 1.0, 30.0, np.array([0.2, 0.5]), "bandpass"),
    "ellipord": _order,
    "findfreqs": call(B, A, 8),
    "firls": call(
        9, np.array([0.0, 0.3, 0.5, 1.0]), np.array([1.0, 1.0, 0.0, 0.0]), weight=np.array([1.0, 2])
    ),
    "firwin": call(9, np.array([0.2, 0.5])),
    "firwin2": call(9, np.array([0.0, 0.4, 1.0]), np.array([1.0, 0.5, 0.0])),
    "firwin_2d": call((5, 5), ("hamming", "hamming"), fc=np.array(0.4)),
    "freqs": call(B, ANALOG, ANGLES),
    "freqs_zpk": call(ZEROS, POLES, 0.5, ANGLES),
    "freqz": call(B, A, ANGLES),
    "freqz_sos": call(SOS, ANGLES),
    "freqz_zpk": call(ZEROS, POLES, 0.5, ANGLES),
    "group_delay": call((B, A), ANGLES),
    "iirdesign": call(np.array([0.2, 0.4]), np.array([0.1, 0.5]), 1.0, 30.0),
    "iirfilter": call(2, np.array([0.2, 0.5])),
    "minimum_phase": call(np.array([1.0, 3.0, 5.0, 3.0, 1.0])),
    "remez": call(
        9, np.array([0.0, 0.2, 0.3, 0.5]), np.array([1.0, 0.0]), weight=np.array([1.0, 2.0])
    ),
    "sosfreqz": call(SOS, ANGLES),
    "abcd_normalize": call(*STATES),
    "cmplx_sort": call(POLES),
    "invres": call(RESIDUES, np.array([-1.0, -2.0]), np.array([3.0])),
    "invresz": call(RESIDUES, np.array([-0.5, -0.25]), np.array([3.0])),
    "lp2bp": _polynomials,
    "lp2bp_zpk": _zpk,
    "lp2bs": _polynomials,
    "lp2bs_zpk": _zpk,
    "lp2hp": _polynomials,
    "lp2hp_zpk": _zpk,
    "lp2lp": _polynomials,
    "lp2lp_zpk": _zpk,
    "normalize": call(B, 2 * A),
    "residue": _polynomials,
    "residuez": _polynomials,
    "sos2tf": call(SOS),
    "sos2zpk": call(SOS),
    "ss2tf": call(*STATES),
    "ss2zpk": call(*STATES),
    "tf2sos": _polynomials,
    "tf2ss": _polynomials,
    "tf2zpk": _polynomials,
    "unique_roots": call(np.array([1.0, 1.0001, 3.0])),
    "zpk2sos": _zpk,
    "zpk2ss": _zpk,
    "zpk2tf": _zpk,
    "bode": call((B, ANALOG), ANGLES),
    "cont2discrete": call(STATES, 0.1),
    "dbode": call((B, A, 0.1), ANGLES),
    "dfreqresp": call((B, A, 0.1), ANGLES),
    "dimpulse": call((*STATES, 1.0), x0=np.array([0.1, 0.2]), t=STEPS),
    "dlsim": call((*STATES, 1.0), np.ones((9, 1)), t=STEPS, x0=np.array([0.1, 0.2])),
    "dstep": call((*STATES, 1.0), x0=np.array([0.1, 0.2]), t=STEPS),
    "freqresp": call((B, ANALOG), ANGLES),
    "impulse": call(STATES, X0=np.array([[0.1], [0.2]]), T=TIMES),
    "lsim": call(STATES, np.ones(9), TIMES, X0=np.array([0.1, 0.2])),
    "place_poles": call(*STATES[:2], np.array([-1.0, -2.0])),
    "step": call(STATES, X0=np.array([0.1, 0.2]), T=TIMES),
    "chirp": call(TIMES, 1.0, 3.0, 2.0),
    "gausspulse": call(TIMES, 2),
    "max_len_seq": call(4, state=np.array([1, 0, 0, 1]), length=9, taps=np.array([3])),
    "sawtooth": call(TIMES, np.full(9, 0.5)),
    "square": call(TIMES, np.full(9, 0.25)),
    "sweep_poly": call(TIMES, np.array([0.1, 1.0])),
    "cascade": call(np.array([0.5, 0.5])),
    "cwt": call(WAVE, box, np.array([2.0, 4.0])),
    "qmf": call(B),
    "argrelextrema": call(WAVE, np.greater),
    "argrelmax": call(WAVE),
    "argrelmin": call(WAVE),
    "find_peaks": call(
        WAVE,
        height=np.zeros(64),
        threshold=np.zeros(64),
        prominence=np.full(64, 0.1),
        width=np.ones(64),
        plateau_size=np.ones(64),
    ),
    "find_peaks_cwt": call(WAVE, np.array([2, 4, 6]), max_distances=np.array([1.0, 1.0, 1.5])),
    "peak_prominences": call(WAVE, PEAKS),
    "peak_widths": call(
        WAVE,
        PEAKS,
        prominence_data=(np.full(PEAKS.size, 0.05), PEAKS - 1, PEAKS + 1),
    ),
    "check_COLA": call(WINDOW, 16, 8),
    "check_NOLA": call(WINDOW, 16, 8),
    "closest_STFT_dual_window": call(WINDOW, 4, np.ones(16)),
    "coherence": call(WAVE, OTHER, window=WINDOW, nperseg=16),
    "csd": call(WAVE, OTHER, window=WINDOW, nperseg=16),
    "czt": call(WAVE, 8),
    "istft": call(np.fft.rfft(WAVE[:48].reshape(3, 16)).T, window=WINDOW, nperseg=16),
    "lombscargle": call(TIMES, WAVE[:9], ANGLES, weights=np.ones(9)),
    "periodogram": call(WAVE, window=np.hanning(64)),
    "spectrogram": _spectral,
    "stft": _spectral,
    "vectorstrength": call(TIMES, np.array([0.5, 0.75])),
    "welch": _spectral,
    "zoom_fft": call(WAVE, np.array([0.1, 0.5]), 8),
}

_complex = call(_spectrum)
_real = call(IMAGE)

FFT: dict[str, Call] = {
    **dict.fromkeys(("fft", "fft2", "fftn", "ifft", "ifft2", "ifftn"), _complex),
    **dict.fromkeys(("hfft", "hfft2", "hfftn", "irfft", "irfft2", "irfftn"), _complex),
    **dict.fromkeys(("ihfft", "ihfft2", "ihfftn", "rfft", "rfft2", "rfftn"), _real),
    **dict.fromkeys(("dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"), _real),
    **dict.fromkeys(("fftshift", "ifftshift"), _real),
    **dict.fromkeys(("fht", "ifht"), call(WAVE, 0.1, 0.5)),
}

SAMPLES: dict[str, Call] = {
    f"{module}.{name}": each
    for module, calls in (("ndimage", NDIMAGE), ("signal", SIGNAL), ("fft", FFT))
    for name, each in calls.items()
}
"""The calls by function, such as ``"ndimage.sobel"``."""
