"""What CuPy's functions of `ndimage` do otherwise than SciPy's."""

from __future__ import annotations

import numpy as np

from ._rules import kind_of, real, result_type, some_dimensions, table, whole, whole_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call


def _modes(call: Call) -> list[Any]:
    mode = call["mode"]
    return [mode] if isinstance(mode, str) or mode is None else list(mode)


def _filter_mode(call: Call) -> str | None:
    if "grid-constant" in _modes(call):
        return "CuPy's filters have no mode='grid-constant'; mode='constant' means the same"
    return None


def _several_modes(call: Call) -> str | None:
    if not isinstance(call["mode"], str):
        return "CuPy mixes up the modes if there is one for each axis (cupy#9760)"
    return None


def _complex_constant(call: Call) -> str | None:
    complex_numbers = any(kind_of(call[name]) == "c" for name in ("input", "weights"))
    if isinstance(call["cval"], complex) or (complex_numbers and call["cval"]):
        return "CuPy takes no cval= with complex numbers (cupy#8405)"
    return None


def _whole_constant(call: Call) -> str | None:
    result = result_type(call["output"], call["input"])
    if result.kind in "biu" and not np.isfinite(call["cval"]):
        return f"cval={call['cval']} is no number of {result}"
    return None


def _ordered_constant(call: Call) -> str | None:
    if np.isnan(call["cval"]):
        return "CuPy compares nothing with a cval= that is not a number"
    return None


def _unsigned_sums(call: Call) -> str | None:
    output = call["output"]
    result = result_type(output, call["input"])
    if result.kind == "u" and result.itemsize >= 4:
        return f"a sum below 0 becomes another number of {result} with CuPy than with SciPy"
    return None


def _boolean_image(call: Call) -> str | None:
    if kind_of(call["input"]) == "b":
        return "CuPy interpolates no booleans as SciPy does"
    return None


def _kernel_function(call: Call) -> str | None:
    if type(call["function"]).__module__.partition(".")[0] not in ("cupy", "cupyx"):
        return (
            "function= is a Python function, which no GPU can run; "
            "pass a cupy.RawKernel or a cupy.ReductionKernel"
        )
    return None


def _filled_elsewhere(call: Call) -> str | None:
    for name in ("distances", "indices"):
        if isinstance(call[name], np.ndarray):
            return f"{name}= is an array of NumPy's, which CuPy cannot fill"
    return None


def _fourier_ellipsoid(call: Call) -> str | None:
    if np.ndim(call["input"]) > 3 or np.size(call["input"]) == 0:
        return "CuPy's fourier_ellipsoid is for 1 to 3 dimensions and at least one element"
    return None


def _fewer_coordinates(call: Call) -> str | None:
    matrix = call["matrix"]
    shape = np.shape(matrix)
    ndim = np.ndim(call["input"])
    if len(shape) == 2 and (shape[0] not in (ndim, ndim + 1) or shape[1] < ndim):
        return "CuPy keeps the number of dimensions (cupy#8394)"
    return None


def _no_zoom(call: Call) -> str | None:
    if np.all(np.asarray(call["zoom"]) == 1):
        return "SciPy copies an image for zoom=1, and CuPy interpolates it"
    return None


def _half_turn(call: Call) -> str | None:
    angle = call["angle"]
    if isinstance(angle, int | float) and angle % 90 == 0:
        return "CuPy does not turn by a multiple of 90 degrees exactly (cupy#8400)"
    return None


def _reflected_spline(call: Call) -> str | None:
    order = call["order"]
    smooth = isinstance(order, int) and order > 1 and call["prefilter"] is not False
    if smooth and call["mode"] in ("reflect", "grid-mirror") and np.ndim(call["input"]) > 1:
        return "CuPy's spline filter is not exact for mode='reflect' in several dimensions"
    return None


def _window_size(call: Call) -> str | None:
    size = call["size"]
    if size is not None and not all(whole(each, least=1) for each in np.ravel(size)):
        return f"size={size!r}: a window that is not of whole elements, at least one"
    return None


def _width(call: Call) -> str | None:
    if np.any(np.asarray(call["sigma"]) < 0):
        return f"sigma={call['sigma']!r} is negative"
    return None


_SPLINE = (_boolean_image, _whole_constant, _complex_constant, _reflected_spline)
_WEIGHTED = (_filter_mode, _complex_constant, _whole_constant, _unsigned_sums)
_RANKED = (real("input"), _window_size, _filter_mode, _whole_constant, _ordered_constant)

RULES = table(
    ("ndimage", "convolve convolve1d correlate correlate1d sobel prewitt laplace", _WEIGHTED),
    ("ndimage", "gaussian_filter gaussian_filter1d gaussian_laplace", _WEIGHTED),
    ("ndimage", "gaussian_gradient_magnitude generic_laplace", _WEIGHTED),
    ("ndimage", "generic_gradient_magnitude uniform_filter uniform_filter1d", _WEIGHTED),
    ("ndimage", "sobel prewitt", (_several_modes,)),
    ("ndimage", "median_filter rank_filter percentile_filter", _RANKED),
    ("ndimage", "maximum_filter minimum_filter maximum_filter1d minimum_filter1d", _RANKED),
    ("ndimage", "grey_erosion grey_dilation grey_opening grey_closing", _RANKED),
    ("ndimage", "morphological_gradient morphological_laplace", (*_RANKED, _unsigned_sums)),
    ("ndimage", "white_tophat black_tophat", (*_RANKED, _unsigned_sums)),
    ("ndimage", "generic_filter generic_filter1d", (*_RANKED, _kernel_function)),
    ("ndimage", "gaussian_filter gaussian_filter1d gaussian_laplace", (_width,)),
    ("ndimage", "gaussian_gradient_magnitude", (_width,)),
    ("ndimage", "uniform_filter uniform_filter1d", (_window_size,)),
    ("ndimage", "binary_erosion binary_dilation binary_opening binary_closing", (real("input"),)),
    ("ndimage", "binary_hit_or_miss binary_propagation label", (real("input"),)),
    ("ndimage", "center_of_mass mean standard_deviation variance sum", (real("input"),)),
    ("ndimage", "sum_labels", (real("input"),)),
    ("ndimage", "map_coordinates", (real("coordinates"),)),
    ("ndimage", "find_objects", (whole_numbers("input"),)),
    ("ndimage", "value_indices", (whole_numbers("arr"),)),
    ("ndimage", "fourier_ellipsoid", (_fourier_ellipsoid,)),
    ("ndimage", "affine_transform map_coordinates rotate shift zoom", _SPLINE),
    ("ndimage", "spline_filter spline_filter1d", (_boolean_image, _reflected_spline)),
    ("ndimage", "affine_transform", (_fewer_coordinates,)),
    ("ndimage", "zoom", (_no_zoom,)),
    ("ndimage", "rotate", (_half_turn,)),
    ("ndimage", "distance_transform_edt", (some_dimensions(2, 3), _filled_elsewhere)),
)
