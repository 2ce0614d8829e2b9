"""The strategy for each function, and the plan of a call: its strategy, or why not.

For functions that are not listed, `scipy_dispatch` passes Dask arrays to SciPy. The README
explains why some functions are not listed.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import dask.array as da
import numpy as np

from scipy_dispatch import reach
from scipy_dispatch.calls import BoundCall
from scipy_dispatch.planning import Plan, PlannedBackend, Prepared

from ._blocks import dispatchable
from ._interpolation import (
    Interpolation,
    Sampling,
    of_affine,
    of_rotation,
    of_shift,
    of_zoom,
    plane_axes,
    tiny_shape,
    tiny_zoom,
)
from ._labelling import Labelling
from ._lines import (
    TRANSFORM,
    AxisByAxis,
    EveryAxis,
    Lines,
    Spectrum,
    many_widths,
    no_length,
    no_plane,
    one_pulse,
    second_result,
    two_axes,
)
from ._measurement import Centers, Extremes, Mean, Measurement, Median, Sum, Variances
from ._neighbourhood import (
    Convolution,
    Neighbourhood,
    domain_reach,
    median_kernel,
    misfit,
    running_mean,
    shrunk,
    tiny_kernel,
    without_function,
    without_reflection,
)
from ._strategy import FourierFilter, Shift, Strategy, ready, why_not


def _none(call: BoundCall, ndim: int) -> tuple[int, ...]:
    return ()  # each element is processed by itself


_window = Neighbourhood(reach.window)
_rank = Neighbourhood(reach.window, harmless=without_reflection)
_two_windows = Neighbourhood(reach.two_windows)
_stencil = Neighbourhood(reach.stencil)
_weights = Neighbourhood(reach.weights)
_gaussian = Neighbourhood(reach.gaussian)

_kernel = Convolution()
_from_half = replace(TRANSFORM, refuse=no_length)

_structure = Neighbourhood(reach.structure, ("input", "mask"), misfit)
_two_structures = Neighbourhood(reach.two_structures, ("input", "mask"), misfit)

NDIMAGE: dict[str, Strategy] = {
    # Filters
    "convolve": _weights,
    "convolve1d": _weights,
    "correlate": _weights,
    "correlate1d": _weights,
    "gaussian_filter": _gaussian,
    "gaussian_filter1d": _gaussian,
    "gaussian_gradient_magnitude": Neighbourhood(reach.gaussian_gradient),
    "gaussian_laplace": Neighbourhood(reach.gaussian_laplace),
    "generic_filter": Neighbourhood(reach.window, harmless=without_function),
    # The user's function may use the whole line for each element.
    "generic_filter1d": Lines(("input",), harmless=without_function),
    "laplace": _stencil,
    "maximum_filter": _window,
    "maximum_filter1d": _window,
    "median_filter": _rank,
    "minimum_filter": _window,
    "minimum_filter1d": _window,
    "percentile_filter": _rank,
    "prewitt": _stencil,
    "rank_filter": _rank,
    "sobel": _stencil,
    "uniform_filter": Neighbourhood(running_mean(reach.window)),
    "uniform_filter1d": Neighbourhood(running_mean(reach.window)),
    "vectorized_filter": Neighbourhood(reach.window, why_not=shrunk),
    # Filters in the Fourier domain
    "fourier_gaussian": FourierFilter("sigma"),
    "fourier_shift": FourierFilter("shift"),
    "fourier_uniform": FourierFilter("size"),
    # Interpolation
    "affine_transform": Interpolation(of_affine, tiny_shape),
    "map_coordinates": Sampling(),
    "rotate": Interpolation(of_rotation, axes=plane_axes),
    "shift": Interpolation(of_shift),
    "spline_filter": EveryAxis("scipy_dispatch.ndimage:spline_filter1d"),
    "spline_filter1d": Lines(("input",)),
    "zoom": Interpolation(of_zoom, tiny_zoom),
    # Measurements
    "center_of_mass": Measurement(Centers()),
    "label": Labelling(),
    "maximum": Measurement(Extremes(np.maximum), da.max, needs_elements=True),
    "mean": Mean(),
    "median": Median(),
    "minimum": Measurement(Extremes(np.fmin), da.min, needs_elements=True),
    "standard_deviation": Measurement(Variances(root=True)),
    "sum": Sum(),
    "sum_labels": Sum(),
    "variance": Measurement(Variances()),
    # Morphology
    "binary_closing": _two_structures,
    "binary_dilation": _structure,
    "binary_erosion": _structure,
    "binary_hit_or_miss": Neighbourhood(reach.hit_or_miss),
    "binary_opening": _two_structures,
    "black_tophat": _two_windows,
    "grey_closing": _two_windows,
    "grey_dilation": _window,
    "grey_erosion": _window,
    "grey_opening": _two_windows,
    "morphological_gradient": _window,
    "morphological_laplace": _window,
    "white_tophat": _two_windows,
}

SIGNAL: dict[str, Strategy] = {
    # Convolution
    "convolve": _kernel,
    "convolve2d": _kernel,
    "correlate": _kernel,
    "correlate2d": Convolution(late=True),
    "fftconvolve": _kernel,
    "oaconvolve": _kernel,
    # Splines
    "gauss_spline": Lines(axes=_none),
    # Filtering
    "decimate": Lines(),
    "detrend": Lines(("data",), always={"overwrite_data": False}),
    "filtfilt": Lines(),
    "hilbert": Lines(),
    "hilbert2": Lines(axes=two_axes, refuse=no_plane),
    "lfilter": Lines(refuse=second_result("zi")),
    "medfilt": Neighbourhood(median_kernel, ("volume",), harmless=tiny_kernel),
    "medfilt2d": Neighbourhood(median_kernel, harmless=tiny_kernel),
    "order_filter": Neighbourhood(domain_reach, ("a",)),
    "resample": Lines(refuse=second_result("t")),
    "resample_poly": Lines(),
    "savgol_filter": Lines(),
    "sosfilt": Lines(refuse=second_result("zi")),
    "sosfiltfilt": Lines(),
    "upfirdn": Lines(),
    # Waveforms
    "chirp": Lines(("t",), axes=_none),
    "gausspulse": Lines(("t",), axes=_none, refuse=one_pulse),
    "sawtooth": Lines(("t",), axes=_none, refuse=many_widths),
    "square": Lines(("t",), axes=_none, refuse=many_widths),
    # Spectra
    "coherence": Spectrum(("x", "y")),
    "csd": Spectrum(("x", "y")),
    "czt": Lines(),
    "periodogram": Spectrum(),
    "spectrogram": Spectrum(),
    "stft": Spectrum(),
    "welch": Spectrum(),
    "zoom_fft": Lines(),
}

FFT: dict[str, Strategy] = {
    # Discrete Fourier transforms
    "fft": TRANSFORM,
    "hfft": _from_half,
    "ifft": TRANSFORM,
    "ihfft": TRANSFORM,
    "irfft": _from_half,
    "rfft": TRANSFORM,
    # Discrete sine and cosine transforms
    "dct": TRANSFORM,
    "dst": TRANSFORM,
    "idct": TRANSFORM,
    "idst": TRANSFORM,
    # Along several axes
    "fft2": AxisByAxis("fft"),
    "fftn": AxisByAxis("fft"),
    "hfft2": AxisByAxis("hfft", before="fft"),
    "hfftn": AxisByAxis("hfft", before="fft"),
    "ifft2": AxisByAxis("ifft"),
    "ifftn": AxisByAxis("ifft"),
    "ihfft2": AxisByAxis("ihfft", after="ifft"),
    "ihfftn": AxisByAxis("ihfft", after="ifft"),
    "irfft2": AxisByAxis("irfft", before="ifft"),
    "irfftn": AxisByAxis("irfft", before="ifft"),
    "rfft2": AxisByAxis("rfft", after="fft"),
    "rfftn": AxisByAxis("rfft", after="fft"),
    "dctn": AxisByAxis("dct"),
    "dstn": AxisByAxis("dst"),
    "idctn": AxisByAxis("idct"),
    "idstn": AxisByAxis("idst"),
    # Fast Hankel transforms
    "fht": Lines(("a",), axes=lambda call, ndim: (ndim - 1,)),
    "ifht": Lines(("A",), axes=lambda call, ndim: (ndim - 1,)),
    # Order of the frequencies
    "fftshift": Shift(da.fft.fftshift),
    "ifftshift": Shift(da.fft.ifftshift),
}

TABLES: dict[str, dict[str, Strategy]] = {
    "scipy_dispatch.ndimage": NDIMAGE,
    "scipy_dispatch.signal": SIGNAL,
    "scipy_dispatch.fft": FFT,
}


backend = PlannedBackend("dask")


def implement_all(module: str, namespace: dict[str, Any]) -> None:
    """Add an implementation of every function of `module` in the table to `namespace`.

    Functions that the installed SciPy lacks are skipped.
    """
    library = import_module(module)
    plans = {
        name: _plan_of(module, name, strategy)
        for name, strategy in TABLES[module].items()
        if hasattr(library, name)
    }
    backend.plans_each(module, plans, namespace)


def _plan_of(module: str, name: str, strategy: Strategy) -> Plan:
    function = dispatchable(f"{module}:{name}")

    def plan(*args: Any, **kwargs: Any) -> Prepared:
        try:
            call = BoundCall.bind(function, args, kwargs)
            reason = why_not(strategy, call)
        except (TypeError, ValueError, IndexError, AttributeError):
            # The arguments are invalid. The strategy calls SciPy, which raises the error.
            return lambda: strategy.run(ready(strategy, BoundCall.bind(function, args, kwargs)))
        return reason or (lambda: strategy.run(ready(strategy, call)))

    # The documentation of the library's function shows the first paragraph.
    plan.__doc__ = (
        "Lazy: takes Dask arrays, and computes nothing before the result is computed.\n\n"
        f"The arguments are those of `{module}.{name}`, and so are the values."
    )
    return plan
