"""The tolerances for results relative to SciPy's, relative to the largest value of the tensor."""

from __future__ import annotations

from scipy_dispatch.testing import EXACT, Tolerance

_NAMES = {
    "exact": """
        minimum_filter maximum_filter minimum_filter1d maximum_filter1d median_filter rank_filter
        percentile_filter grey_erosion grey_dilation
    """,
    "sums": """
        correlate correlate1d convolve convolve1d gaussian_filter gaussian_filter1d
        uniform_filter uniform_filter1d sobel prewitt laplace
    """,
    "signal": "convolve correlate fftconvolve oaconvolve convolve2d correlate2d hilbert",
}
_SUMS = "sums in the tensor's own precision, in another order; SciPy's are of double precision"
_FFT = "other Fourier transforms"
_KINDS = {
    "sums": {"single": Tolerance(4e-6, 0, _SUMS), "double": Tolerance(1e-13, 0, _SUMS)},
    "fft": {
        "integers": Tolerance(1e-13, 0, _FFT),
        "single": Tolerance(2e-6, 0, _FFT),
        "double": Tolerance(1e-13, 0, _FFT),
    },
}
TOLERANCES: dict[str, dict[str, Tolerance]] = {
    **{f"ndimage.{name}": {"all": EXACT} for name in _NAMES["exact"].split()},
    **{f"ndimage.{name}": _KINDS["sums"] for name in _NAMES["sums"].split()},
    **{f"signal.{name}": _KINDS["fft"] for name in _NAMES["signal"].split()},
    **{
        f"fft.{name}{axes}": _KINDS["fft"]
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for axes in ("", "2", "n")
    },
    "fft.fftshift": {"all": EXACT},
    "fft.ifftshift": {"all": EXACT},
}
