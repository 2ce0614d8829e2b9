"""One implementation of every function: unwrap, call the function again, wrap."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import BoundArguments

    from spatch_core import DispatchContext


_BY_ARGUMENT = {
    "scipy_dispatch.ndimage": {
        "input": """
            affine_transform binary_closing binary_dilation binary_erosion binary_fill_holes
            binary_hit_or_miss binary_opening binary_propagation black_tophat convolve convolve1d
            correlate correlate1d distance_transform_bf distance_transform_cdt
            distance_transform_edt fourier_ellipsoid fourier_gaussian fourier_shift
            fourier_uniform gaussian_filter gaussian_filter1d gaussian_gradient_magnitude
            gaussian_laplace generic_filter generic_filter1d generic_gradient_magnitude
            generic_laplace grey_closing grey_dilation grey_erosion grey_opening label laplace
            maximum_filter maximum_filter1d median_filter minimum_filter minimum_filter1d
            morphological_gradient morphological_laplace percentile_filter prewitt rank_filter
            rotate shift sobel spline_filter spline_filter1d uniform_filter uniform_filter1d
            vectorized_filter watershed_ift white_tophat
        """,
    },
    "scipy_dispatch.signal": {
        "a": "order_filter",
        "data": "detrend",
        "im": "wiener",
        "in1": "convolve convolve2d correlate correlate2d fftconvolve oaconvolve",
        "input": "medfilt2d",
        "t": "chirp gausspulse sawtooth square",
        "volume": "medfilt",
        "x": "filtfilt hilbert hilbert2 lfilter savgol_filter sosfilt sosfiltfilt",
    },
}

KEPT: dict[str, str] = {
    f"{module}:{name}": argument
    for module, arguments in _BY_ARGUMENT.items()
    for argument, names in arguments.items()
    for name in names.split()
}
"""The argument with the coordinates of the result, by function."""


def why_not(context: DispatchContext, *args: Any, **kwargs: Any) -> bool | str:
    """Return why a call is left to others; True if it is not."""
    if context.function not in KEPT:
        return "the result has other coordinates than the argument; pass its .data"
    name, arguments = KEPT[context.function], _bound(context.function, args, kwargs).arguments
    if not isinstance(arguments[name], xr.DataArray):
        return f"{name}= has no coordinates: it is a {type(arguments[name]).__name__}"
    if arguments.get("mode") in ("full", "valid"):
        return f"the result of mode={arguments['mode']!r} has another shape; pass mode='same'"
    for changing in ("output_shape", "N"):
        if arguments.get(changing) is not None:
            return f"the result has another shape with {changing}="
    if arguments.get("reshape"):
        return "the result has another shape with reshape=True"
    output = arguments.get("output")
    if output is not None and not isinstance(output, str | type | np.dtype):
        return "output= is an array; pass a data type"
    return True


def run(context: DispatchContext, *args: Any, **kwargs: Any) -> Any:
    """Call the function again with what is in the arrays, and return a DataArray."""
    if why_not(context, *args, **kwargs) is not True:
        return NotImplemented
    bound = _bound(context.function, args, kwargs)
    array: xr.DataArray = bound.arguments[KEPT[context.function]]
    for name, value in bound.arguments.items():
        if name in ("axis", "axes"):
            value = _numbered(array, value)
        bound.arguments[name] = _unwrapped(array, value)
    # Dispatched anew: arrays of Dask or JAX reach their backend.
    result = _function(context.function)(*bound.args, **bound.kwargs)
    if isinstance(result, tuple):
        return tuple(_wrapped(array, each) for each in result)
    return _wrapped(array, result)


@cache
def _function(identifier: str) -> Callable[..., Any]:
    """Return the library's function of this name."""
    module, _, name = identifier.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def _bound(identifier: str, args: Any, kwargs: Any) -> BoundArguments:
    """Return the arguments by name, with defaults."""
    bound = signature(_function(identifier)).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound


def _numbered(array: xr.DataArray, axes: Any) -> Any:
    """Return `axes` with numbers in the place of names of dimensions."""
    if isinstance(axes, str):
        return array.get_axis_num(axes)
    if isinstance(axes, list | tuple):
        return tuple(_numbered(array, axis) for axis in axes)
    return axes


def _unwrapped(array: xr.DataArray, value: Any) -> Any:
    """Return the array in a DataArray, in the order of `array` if it has the same dimensions.

    Raises
    ------
    ValueError
        If it has the same dimensions, but other coordinates.
    """
    if not isinstance(value, xr.DataArray):
        return value
    if set(value.dims) == set(array.dims):
        _, value = xr.align(array, value.transpose(*array.dims), join="exact", copy=False)
    return value.data


def _wrapped(array: xr.DataArray, value: Any) -> Any:
    """Return `value` with everything else from `array`, if it has its shape."""
    return array.copy(data=value) if np.shape(value) == array.shape else value
