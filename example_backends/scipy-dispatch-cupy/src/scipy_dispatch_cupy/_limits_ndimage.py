"""What CuPy's functions of `ndimage` do otherwise than SciPy's."""

from __future__ import annotations

import numpy as np

from ._rules import (
    is_array,
    kind_of,
    of_cupy,
    real,
    result_type,
    some_dimensions,
    table,
    whole,
    whole_numbers,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call


_MODES = {
    *("reflect", "constant", "nearest", "mirror", "wrap"),
    *("grid-mirror", "grid-constant", "grid-wrap"),
}
_LONG = 24  # elements, for a sum that CuPy ends early; by then it differs by less than 1e-14

_UNSEEN = "structure= is an array of CuPy's, which is not looked at; pass one of NumPy's"


def _modes(call: Call) -> list[Any]:
    mode = call["mode"]
    return [mode] if isinstance(mode, str) or mode is None else list(mode)


def _known_mode(call: Call) -> str | None:
    for mode in _modes(call):
        if mode is not None and mode not in _MODES:
            return f"mode={mode!r} is none of SciPy's, and CuPy may know it; see SciPy's docs"
    return None


def _filter_mode(call: Call) -> str | None:
    if "grid-constant" in _modes(call):
        return "CuPy's filters have no mode='grid-constant'; mode='constant' means the same"
    return None


def _several_modes(call: Call) -> str | None:
    if not isinstance(call["mode"], str):
        return "CuPy mixes up the modes if there is one for each axis (cupy#9760)"
    return None


def _has_complex_numbers(call: Call) -> bool:
    return any(kind_of(call[name]) == "c" for name in ("input", "weights"))


def _pads(call: Call) -> bool:
    """Whether numbers other than 0 are put around the image."""
    around = {"constant", "grid-constant"}
    return bool(call["cval"]) and not around.isdisjoint(_modes(call))


def _complex_constant(call: Call) -> str | None:
    if np.iscomplexobj(call["cval"]) or (_has_complex_numbers(call) and call["cval"]):
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
    image = result_type(None, call["input"])
    if not _pads(call) or image.kind not in "biu":
        return None
    fractions = result_type(call["output"], call["input"]).kind == "f"
    if not _holds(image, call["cval"], fractions=not fractions):
        return f"cval={call['cval']} is no number of {image}, the image's type, which CuPy makes it"
    return None


def _holds(dtype: np.dtype[Any], value: Any, fractions: bool = False) -> bool:
    """Whether a type of whole numbers has `value`, or what is left without its fraction."""
    if dtype.kind == "b":
        return value in (0, 1)
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max) and (fractions or float(value).is_integer())


def _padded_spline(call: Call) -> str | None:
    image = result_type(None, call["input"])
    padded = call["mode"] == "grid-constant" and call["prefilter"] and call["order"] > 1
    if padded and image.kind in "iu" and not _holds(image, call["cval"]):
        return f"SciPy pads with cval={call['cval']} as a number of {image}, and CuPy does not"
    return None


def _lost_zoom_constant(call: Call) -> str | None:
    modes = ("constant", "grid-constant") if call["grid_mode"] else ("grid-constant",)
    if call["cval"] != 0 and call["mode"] in modes:
        return "CuPy's zoom takes 0 for any cval="
    return None


def _unsigned_sums(call: Call) -> str | None:
    output = call["output"]
    result = result_type(output, call["input"])
    if result.kind == "u" and result.itemsize >= 4:
        return f"a sum below 0 becomes another number of {result} with CuPy than with SciPy"
    return None


def _boolean_result(call: Call) -> str | None:
    if result_type(call["output"], call["input"]).kind == "b":
        return "SciPy cuts fractions off, and CuPy makes True of them; pass output=float"
    return None


def _complex_result(call: Call) -> str | None:
    output = call["output"]
    if output is None:
        return None
    given = result_type(output, call["input"])
    if _has_complex_numbers(call) and given.kind != "c":
        return f"output= is of {given}, for complex numbers; pass output=complex"
    if given.kind == "c" and not _has_complex_numbers(call):
        return f"output= is of {given}, which SciPy does not fill with real numbers"
    return None


def _ignored_output(call: Call) -> str | None:
    output = call["output"]
    if output is None or is_array(output):
        return None
    made = np.dtype(bool) if call.name.startswith("binary") else result_type(None, call["input"])
    if np.dtype(output) != made:
        return f"SciPy's {call.name} returns {made}, whatever type output= is; leave it out"
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
    if float(call["angle"]) % 90 == 0:
        return "CuPy does not turn by a multiple of 90 degrees exactly (cupy#8400)"
    return None


def _whole_coefficients(call: Call) -> str | None:
    result = result_type(call["output"], call["input"])
    if result.kind in "iu":
        return f"SciPy makes whole numbers of each axis' coefficients for output= of {result}"
    return None


def _whole_order(call: Call) -> str | None:
    if not whole(call["order"]):
        return f"order={call['order']!r} is no whole number"
    return None


def _short_spline(call: Call) -> str | None:
    # Interpolation puts a margin around an image for mode="nearest", which hides its ends.
    modes = {"reflect", "grid-mirror"} | ({"nearest"} if call["prefilter"] is None else set())
    filtered = call["prefilter"] is None or bool(call["prefilter"])
    if not filtered or call["order"] < 2 or call["mode"] not in modes:
        return None
    shape = np.shape(call["input"])
    shortest = min(shape if call["axis"] is None else [shape[call["axis"]]], default=_LONG)
    if shortest < _LONG:
        return (
            f"CuPy's spline filter is exact from {_LONG} elements on for mode={call['mode']!r}, "
            f"and there are {shortest}"
        )
    return None


def _homogeneous(call: Call) -> str | None:
    matrix = call["matrix"]
    ndim = np.ndim(call["input"])
    if np.shape(matrix) != (ndim + 1, ndim + 1) or of_cupy(matrix):
        return None
    if list(matrix[ndim]) != [0] * ndim + [1]:
        return "the last row of matrix= is not 0, ..., 0, 1, and CuPy does not look at it"
    return None


def _window_size(call: Call) -> str | None:
    size = call["size"]
    if size is not None and not all(whole(each, least=1) for each in np.ravel(size)):
        return f"size={size!r}: a window that is not of whole elements, at least one"
    return None


def _whole_rank(call: Call) -> str | None:
    if not whole(call["rank"]):
        return f"rank={call['rank']!r} is no whole number"
    return None


def _added_structure(call: Call) -> str | None:
    structure = call["structure"]
    if structure is None:
        return None
    if of_cupy(structure):
        return _UNSEEN
    if np.any(np.asarray(structure) < 0):
        return "CuPy leaves out structure= where it is below 0 in the middle"
    for dtype in (result_type(None, call["input"]), result_type(call["output"], call["input"])):
        if dtype != np.float64:
            return f"CuPy adds structure= as {dtype}, and SciPy as float64; pass such an image"
    return None


def _standard_structure(call: Call) -> str | None:
    from scipy.ndimage import generate_binary_structure

    structure = call["structure"]
    if structure is None:
        return None
    if of_cupy(structure):
        return _UNSEEN
    cells = np.asarray(structure) != 0
    ndim = cells.ndim
    standard = (generate_binary_structure(ndim, each) for each in range(1, ndim + 1))
    if not any(np.array_equal(cells, each) for each in standard):
        return "CuPy fills other holes with a structure= that is no generate_binary_structure(...)"
    return None


def _symmetric_structure(call: Call) -> str | None:
    structure = call["structure"]
    if structure is None or of_cupy(structure):
        return None
    cells = np.asarray(structure) != 0
    if not np.array_equal(cells, np.flip(cells)):
        return "structure= is not symmetric, and CuPy looks at one half of it"
    return None


def _smoothed_constant(call: Call) -> str | None:
    ndim = np.ndim(call["input"])
    if _pads(call) and call["axis"] % ndim != 0:
        return "CuPy takes the axes in another order, which shows where cval= is not 0"
    return None


def _derivative_of_a_point(call: Call) -> str | None:
    sigma = np.asarray(call["sigma"], float)
    order = call["order"] if call.name == "gaussian_filter" else 1
    radius = call["radius"]
    if radius is None:
        radius = np.floor((4.0 if call["truncate"] is None else call["truncate"]) * sigma + 0.5)
    if np.any((np.asarray(order) > 0) & (sigma > 1e-15) & (np.asarray(radius) < 1)):
        return "CuPy leaves out a derivative whose radius is 0; give a larger sigma= or radius="
    return None


def _wrapped_squares(call: Call) -> str | None:
    result = result_type(call["output"], call["input"])
    if result.kind in "iu":
        return f"squares of {result} wrap round, which makes much of little; pass output=float"
    return None


def _wrapped_derivative(call: Call) -> str | None:
    result = result_type(call["output"], call["input"])
    if result.kind == "u" and (call["order"] is None or np.any(np.asarray(call["order"]) > 0)):
        return f"a derivative below 0 wraps round in {result}; pass output=float"
    return None


def _no_axes(call: Call) -> str | None:
    if call["axes"] is not None and not np.size(call["axes"]):
        return f"CuPy's {call.name} takes no empty axes="
    return None


def _width(call: Call) -> str | None:
    if np.any(np.asarray(call["sigma"]) < 0):
        return f"sigma={call['sigma']!r} is negative"
    return None


_SPLINE = (
    *(_known_mode, _whole_order, _boolean_image, _boolean_result, _complex_result),
    *(_whole_constant, _complex_constant, _padded_spline, _short_spline),
)
_WEIGHTED = (
    *(_known_mode, _filter_mode, _boolean_result, _complex_result, _complex_constant),
    *(_whole_constant, _unsigned_sums),
)
_RANKED = (
    *(real("input"), _known_mode, _filter_mode, _window_size, _complex_result),
    *(_whole_constant, _ordered_constant),
)
_GREY = (*_RANKED, _added_structure)


RULES = table(
    ("ndimage", "convolve convolve1d correlate correlate1d sobel prewitt laplace", _WEIGHTED),
    ("ndimage", "gaussian_filter gaussian_filter1d gaussian_laplace", _WEIGHTED),
    ("ndimage", "gaussian_gradient_magnitude generic_laplace", _WEIGHTED),
    ("ndimage", "generic_gradient_magnitude uniform_filter uniform_filter1d", _WEIGHTED),
    ("ndimage", "sobel prewitt", (_several_modes, _smoothed_constant)),
    ("ndimage", "median_filter rank_filter percentile_filter", _RANKED),
    ("ndimage", "maximum_filter minimum_filter maximum_filter1d minimum_filter1d", _RANKED),
    ("ndimage", "rank_filter", (_whole_rank,)),
    ("ndimage", "grey_erosion grey_dilation grey_opening grey_closing", _GREY),
    ("ndimage", "morphological_gradient morphological_laplace", (*_GREY, _unsigned_sums)),
    ("ndimage", "morphological_gradient morphological_laplace", (_ignored_output,)),
    ("ndimage", "white_tophat black_tophat", (*_GREY, _unsigned_sums)),
    ("ndimage", "generic_filter generic_filter1d", (*_RANKED, _kernel_function)),
    ("ndimage", "gaussian_filter gaussian_filter1d gaussian_laplace", (_width,)),
    ("ndimage", "gaussian_gradient_magnitude", (_width,)),
    ("ndimage", "gaussian_gradient_magnitude generic_gradient_magnitude", (_no_axes,)),
    ("ndimage", "gaussian_gradient_magnitude generic_gradient_magnitude", (_wrapped_squares,)),
    ("ndimage", "gaussian_filter gaussian_filter1d gaussian_laplace", (_wrapped_derivative,)),
    ("ndimage", "gaussian_filter gaussian_laplace", (_derivative_of_a_point,)),
    ("ndimage", "gaussian_gradient_magnitude", (_derivative_of_a_point,)),
    ("ndimage", "uniform_filter uniform_filter1d", (_window_size,)),
    ("ndimage", "binary_erosion binary_dilation binary_opening binary_closing", (real("input"),)),
    ("ndimage", "binary_hit_or_miss binary_propagation label", (real("input"),)),
    ("ndimage", "binary_erosion binary_dilation binary_opening", (_ignored_output,)),
    ("ndimage", "binary_closing binary_hit_or_miss binary_propagation", (_ignored_output,)),
    ("ndimage", "binary_fill_holes", (_ignored_output, _standard_structure)),
    ("ndimage", "label", (_symmetric_structure,)),
    ("ndimage", "center_of_mass mean standard_deviation variance sum", (real("input"),)),
    ("ndimage", "sum_labels", (real("input"),)),
    ("ndimage", "map_coordinates", (real("coordinates"),)),
    ("ndimage", "find_objects", (whole_numbers("input"),)),
    ("ndimage", "value_indices", (whole_numbers("arr"),)),
    ("ndimage", "fourier_ellipsoid", (_fourier_ellipsoid,)),
    ("ndimage", "affine_transform map_coordinates rotate shift zoom", _SPLINE),
    ("ndimage", "spline_filter spline_filter1d", (_known_mode, _whole_order, _boolean_image)),
    ("ndimage", "spline_filter spline_filter1d", (_boolean_result, _complex_result)),
    ("ndimage", "spline_filter spline_filter1d", (_short_spline, _whole_coefficients)),
    ("ndimage", "affine_transform", (_fewer_coordinates, _homogeneous)),
    ("ndimage", "zoom", (_no_zoom, _lost_zoom_constant)),
    ("ndimage", "rotate", (_half_turn,)),
    ("ndimage", "distance_transform_edt", (some_dimensions(2, 3), _filled_elsewhere)),
)
