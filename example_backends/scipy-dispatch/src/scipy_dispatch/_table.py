"""The dispatchable functions and the parameters that they dispatch on. Data only.

A parameter is dispatched on if SciPy documents that it takes an array, whether to read
(``input``, ``weights``, ``labels``) or to fill (``output``). Settings are excluded, even those
that accept one number for each axis (``sigma``, ``size``, ``zoom``, ``offset``). Data types and
callables are excluded too. The values of these parameters say nothing about where the data live.
A parameter that takes an array *or* another kind of value (``output=np.float32``,
``window="hann"``) is included: no backend lists the type of the other value, so dispatching
ignores it. An argument that is None or not given never counts.

Forms of an entry:

``("input", "output")``
    The names of the parameters, in the order of the signature. A parameter that the
    installed SciPy's function does not have yet is skipped.
``("*system", "w")``
    ``system`` may be a tuple of arrays, such as ``(num, den)``: its items are dispatched
    on. Any other value, such as an instance of `scipy.signal.lti`, is dispatched on itself.
``{"input": 0, "hrow": 1}``
    The parameters with their positions, for functions whose signature is unavailable in
    some SciPy releases: C functions and ``(*args, **kwargs)``.

Names that the installed SciPy does not have are skipped. Comments say since or until which SciPy
release a name exists.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Parameters: TypeAlias = "tuple[str, ...] | dict[str, int]"


class ModuleTable(NamedTuple):
    """All public names of a module of SciPy.

    Attributes
    ----------
    dispatched : dict of str to tuple or dict
        The functions that take an array, with the parameters dispatched on.
    unchanged : frozenset of str
        All other public names, re-exported unchanged.
    written : frozenset of str
        The parameters that take an array to fill.
    """

    dispatched: dict[str, Parameters]
    unchanged: frozenset[str]
    written: frozenset[str] = frozenset()


NDIMAGE = ModuleTable(
    dispatched={
        # Filters
        "convolve": ("input", "weights", "output"),
        "convolve1d": ("input", "weights", "output"),
        "correlate": ("input", "weights", "output"),
        "correlate1d": ("input", "weights", "output"),
        "gaussian_filter": ("input", "output"),
        "gaussian_filter1d": ("input", "output"),
        "gaussian_gradient_magnitude": ("input", "output"),
        "gaussian_laplace": ("input", "output"),
        "generic_filter": ("input", "footprint", "output"),
        "generic_filter1d": ("input", "output"),
        "generic_gradient_magnitude": ("input", "output"),
        "generic_laplace": ("input", "output"),
        "laplace": ("input", "output"),
        "maximum_filter": ("input", "footprint", "output"),
        "maximum_filter1d": ("input", "output"),
        "median_filter": ("input", "footprint", "output"),
        "minimum_filter": ("input", "footprint", "output"),
        "minimum_filter1d": ("input", "output"),
        "percentile_filter": ("input", "footprint", "output"),
        "prewitt": ("input", "output"),
        "rank_filter": ("input", "footprint", "output"),
        "sobel": ("input", "output"),
        "uniform_filter": ("input", "output"),
        "uniform_filter1d": ("input", "output"),
        "vectorized_filter": ("input", "footprint", "output"),  # since 1.16
        # Filters in the Fourier domain
        "fourier_ellipsoid": ("input", "output"),
        "fourier_gaussian": ("input", "output"),
        "fourier_shift": ("input", "output"),
        "fourier_uniform": ("input", "output"),
        # Interpolation
        "affine_transform": ("input", "matrix", "output"),
        "geometric_transform": ("input", "output"),
        "map_coordinates": ("input", "coordinates", "output"),
        "rotate": ("input", "output"),
        "shift": ("input", "output"),
        "spline_filter": ("input", "output"),
        "spline_filter1d": ("input", "output"),
        "zoom": ("input", "output"),
        # Measurements
        "center_of_mass": ("input", "labels", "index"),
        "extrema": ("input", "labels", "index"),
        "find_objects": ("input",),
        "histogram": ("input", "labels", "index"),
        "label": ("input", "structure", "output"),
        "labeled_comprehension": ("input", "labels", "index"),
        "maximum": ("input", "labels", "index"),
        "maximum_position": ("input", "labels", "index"),
        "mean": ("input", "labels", "index"),
        "median": ("input", "labels", "index"),
        "minimum": ("input", "labels", "index"),
        "minimum_position": ("input", "labels", "index"),
        "standard_deviation": ("input", "labels", "index"),
        "sum": ("input", "labels", "index"),
        "sum_labels": ("input", "labels", "index"),
        "value_indices": ("arr",),
        "variance": ("input", "labels", "index"),
        "watershed_ift": ("input", "markers", "structure", "output"),
        # Morphology
        "binary_closing": ("input", "structure", "output", "mask"),
        "binary_dilation": ("input", "structure", "mask", "output"),
        "binary_erosion": ("input", "structure", "mask", "output"),
        "binary_fill_holes": ("input", "structure", "output"),
        "binary_hit_or_miss": ("input", "structure1", "structure2", "output"),
        "binary_opening": ("input", "structure", "output", "mask"),
        "binary_propagation": ("input", "structure", "mask", "output"),
        "black_tophat": ("input", "footprint", "structure", "output"),
        "distance_transform_bf": ("input", "distances", "indices"),
        "distance_transform_cdt": ("input", "metric", "distances", "indices"),
        "distance_transform_edt": ("input", "distances", "indices"),
        "grey_closing": ("input", "footprint", "structure", "output"),
        "grey_dilation": ("input", "footprint", "structure", "output"),
        "grey_erosion": ("input", "footprint", "structure", "output"),
        "grey_opening": ("input", "footprint", "structure", "output"),
        "iterate_structure": ("structure",),
        "morphological_gradient": ("input", "footprint", "structure", "output"),
        "morphological_laplace": ("input", "footprint", "structure", "output"),
        "white_tophat": ("input", "footprint", "structure", "output"),
    },
    unchanged=frozenset(
        {
            # Two numbers in, an array out
            "generate_binary_structure",
            # Old submodules, public until 1.14
            *("filters", "fourier", "interpolation", "measurements", "morphology"),
        }
    ),
    written=frozenset({"output", "distances", "indices"}),
)

SIGNAL = ModuleTable(
    dispatched={
        # Convolution
        "choose_conv_method": ("in1", "in2"),
        "convolve": ("in1", "in2"),
        "convolve2d": ("in1", "in2"),
        "correlate": ("in1", "in2"),
        "correlate2d": ("in1", "in2"),
        "fftconvolve": ("in1", "in2"),
        "oaconvolve": ("in1", "in2"),
        "sepfir2d": {"input": 0, "hrow": 1, "hcol": 2},
        # Splines
        "cspline1d": ("signal",),
        "cspline1d_eval": ("cj", "newx"),
        "cspline2d": {"signal": 0},
        "gauss_spline": ("x",),
        "qspline1d": ("signal",),
        "qspline1d_eval": ("cj", "newx"),
        "qspline2d": {"signal": 0},
        "spline_filter": ("Iin",),
        "whittaker_henderson": ("signal", "weights"),  # since 1.18
        # Filtering
        "decimate": ("x",),
        "deconvolve": ("signal", "divisor"),
        "detrend": ("data", "bp"),
        "envelope": ("z",),  # since 1.15
        "filtfilt": ("b", "a", "x"),
        "hilbert": ("x",),
        "hilbert2": ("x",),
        "lfilter": ("b", "a", "x", "zi"),
        "lfilter_zi": ("b", "a"),
        "lfiltic": ("b", "a", "y", "x"),
        "medfilt": ("volume",),
        "medfilt2d": ("input",),
        "order_filter": ("a", "domain"),
        "resample": ("x", "t", "window"),
        "resample_poly": ("x", "window"),
        "savgol_filter": ("x",),
        "sosfilt": ("sos", "x", "zi"),
        "sosfilt_zi": ("sos",),
        "sosfiltfilt": ("sos", "x"),
        "symiirorder1": {"signal": 0},
        "symiirorder2": {"input": 0},
        "upfirdn": ("h", "x"),
        "wiener": ("im",),
        # Filter design
        "band_stop_obj": ("passb", "stopb"),
        "bessel": ("Wn",),
        "bilinear": ("b", "a"),
        "bilinear_zpk": ("z", "p"),
        "butter": ("Wn",),
        "buttord": ("wp", "ws"),
        "cheb1ord": ("wp", "ws"),
        "cheb2ord": ("wp", "ws"),
        "cheby1": ("Wn",),
        "cheby2": ("Wn",),
        "ellip": ("Wn",),
        "ellipord": ("wp", "ws"),
        "findfreqs": ("num", "den"),
        "firls": ("bands", "desired", "weight"),
        "firwin": ("cutoff",),
        "firwin2": ("freq", "gain"),
        "firwin_2d": ("fc",),  # since 1.16
        "freqs": ("b", "a", "worN"),
        "freqs_zpk": ("z", "p", "worN"),
        "freqz": ("b", "a", "worN"),
        "freqz_sos": ("sos", "worN"),  # since 1.15
        "freqz_zpk": ("z", "p", "worN"),
        "group_delay": ("*system", "w"),
        "iirdesign": ("wp", "ws"),
        "iirfilter": ("Wn",),
        "minimum_phase": ("h",),
        "remez": ("bands", "desired", "weight"),
        "sosfreqz": {"sos": 0, "worN": 1},
        # Representations of filters
        "abcd_normalize": ("A", "B", "C", "D"),
        "cmplx_sort": ("p",),  # until 1.14
        "invres": ("r", "p", "k"),
        "invresz": ("r", "p", "k"),
        "lp2bp": ("b", "a"),
        "lp2bp_zpk": ("z", "p"),
        "lp2bs": ("b", "a"),
        "lp2bs_zpk": ("z", "p"),
        "lp2hp": ("b", "a"),
        "lp2hp_zpk": ("z", "p"),
        "lp2lp": ("b", "a"),
        "lp2lp_zpk": ("z", "p"),
        "normalize": ("b", "a"),
        "residue": ("b", "a"),
        "residuez": ("b", "a"),
        "sos2tf": ("sos",),
        "sos2zpk": ("sos",),
        "ss2tf": ("A", "B", "C", "D"),
        "ss2zpk": ("A", "B", "C", "D"),
        "tf2sos": ("b", "a"),
        "tf2ss": ("num", "den"),
        "tf2zpk": ("b", "a"),
        "unique_roots": ("p",),
        "zpk2sos": ("z", "p"),
        "zpk2ss": ("z", "p"),
        "zpk2tf": ("z", "p"),
        # Linear systems
        "bode": ("*system", "w"),
        "cont2discrete": ("*system",),
        "dbode": ("*system", "w"),
        "dfreqresp": ("*system", "w"),
        "dimpulse": ("*system", "x0", "t"),
        "dlsim": ("*system", "u", "t", "x0"),
        "dstep": ("*system", "x0", "t"),
        "freqresp": ("*system", "w"),
        "impulse": ("*system", "X0", "T"),
        "lsim": ("*system", "U", "T", "X0"),
        "place_poles": ("A", "B", "poles"),
        "step": ("*system", "X0", "T"),
        # Waveforms
        "chirp": ("t",),
        "gausspulse": ("t",),
        "max_len_seq": ("state", "taps"),
        "sawtooth": ("t", "width"),
        "square": ("t", "duty"),
        "sweep_poly": ("t", "poly"),
        # Wavelets, until 1.14
        "cascade": ("hk",),
        "cwt": ("data", "widths"),
        "qmf": ("hk",),
        # Peaks
        "argrelextrema": ("data",),
        "argrelmax": ("data",),
        "argrelmin": ("data",),
        "find_peaks": ("x", "height", "threshold", "prominence", "width", "plateau_size"),
        "find_peaks_cwt": ("vector", "widths", "max_distances"),
        "peak_prominences": ("x", "peaks"),
        "peak_widths": ("x", "peaks", "*prominence_data"),
        # Spectra
        "check_COLA": ("window",),
        "check_NOLA": ("window",),
        "closest_STFT_dual_window": ("win", "desired_dual"),  # since 1.16
        "coherence": ("x", "y", "window"),
        "csd": ("x", "y", "window"),
        "czt": ("x",),
        "istft": ("Zxx", "window"),
        "lombscargle": ("x", "y", "freqs", "weights"),  # weights since 1.15
        "periodogram": ("x", "window"),
        "spectrogram": ("x", "window"),
        "stft": ("x", "window"),
        "vectorstrength": ("events", "period"),
        "welch": ("x", "window"),
        "zoom_fft": ("x", "fn"),
    },
    unchanged=frozenset(
        {
            # Classes
            *("CZT", "ShortTimeFFT", "StateSpace", "TransferFunction", "ZerosPolesGain"),
            *("ZoomFFT", "dlti", "lti"),
            "BadCoefficients",
            # Numbers and names in, an array out
            *("besselap", "buttap", "cheb1ap", "cheb2ap", "ellipap"),
            *("correlation_lags", "czt_points", "get_window", "unit_impulse"),
            *("gammatone", "iircomb", "iirnotch", "iirpeak", "savgol_coeffs"),
            *("daub", "morlet", "morlet2", "ricker"),  # until 1.14
            # Numbers in, numbers out
            *("kaiser_atten", "kaiser_beta", "kaiserord"),
            # Submodules: the window functions, and old ones that are public until 1.15
            "windows",
            *("bsplines", "filter_design", "fir_filter_design", "lti_conversion", "ltisys"),
            *("signaltools", "spectral", "spline", "waveforms", "wavelets"),
        }
    ),
)

FFT = ModuleTable(
    dispatched={
        # Discrete Fourier transforms
        "fft": ("x",),
        "fft2": ("x",),
        "fftn": ("x",),
        "hfft": ("x",),
        "hfft2": ("x",),
        "hfftn": ("x",),
        "ifft": ("x",),
        "ifft2": ("x",),
        "ifftn": ("x",),
        "ihfft": ("x",),
        "ihfft2": ("x",),
        "ihfftn": ("x",),
        "irfft": ("x",),
        "irfft2": ("x",),
        "irfftn": ("x",),
        "rfft": ("x",),
        "rfft2": ("x",),
        "rfftn": ("x",),
        # Discrete sine and cosine transforms
        "dct": ("x",),
        "dctn": ("x",),
        "dst": ("x",),
        "dstn": ("x",),
        "idct": ("x",),
        "idctn": ("x",),
        "idst": ("x",),
        "idstn": ("x",),
        # Fast Hankel transforms
        "fht": ("a",),
        "ifht": ("A",),
        # Helpers
        "fftshift": ("x",),
        "ifftshift": ("x",),
    },
    unchanged=frozenset(
        {
            # Numbers in, an array or a number out
            *("fftfreq", "fhtoffset", "next_fast_len", "prev_fast_len", "rfftfreq"),
            # SciPy's own backends and threads
            *("register_backend", "set_backend", "set_global_backend", "skip_backend"),
            *("get_workers", "set_workers"),
        }
    ),
)
