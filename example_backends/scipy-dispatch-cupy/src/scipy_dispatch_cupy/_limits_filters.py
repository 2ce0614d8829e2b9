"""Limits of CuPy's filters, morphology and measurements."""

from __future__ import annotations

import numpy as np

from ._image_rules import (
    boolean_result,
    complex_constant,
    complex_result,
    holds,
    is_endless,
    left_out,
    pads,
    solid_line,
    whole_constant,
)
from ._rules import (
    for_real,
    is_array,
    kind_of,
    of_cupy,
    on_host,
    real,
    result_type,
    some_dimensions,
    table,
    whole_numbers,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._call import Call


def _several_modes(call: Call) -> str | None:
    if not isinstance(call["mode"], str):
        return "CuPy mixes up the modes if there is one for each axis (cupy#9760)"
    return None


def _ordered_axes(call: Call) -> str | None:
    if call["axes"] is None:
        return None
    axes = [each % np.ndim(call["input"]) for each in np.ravel(call["axes"]).tolist()]
    if axes != sorted(axes):
        return "CuPy turns the window twice where axes= are not in the array's order"
    return None


def _boolean_ranks(call: Call) -> str | None:
    if result_type(call["output"], call["input"]).kind != "b":
        return None
    if kind_of(call["input"]) != "b":
        return "SciPy cuts fractions off, and CuPy makes True of them; pass output=float"
    return None


def _ordered_constant(call: Call) -> str | None:
    if np.isnan(call["cval"]):
        return "CuPy compares nothing with a cval= that is not a number"
    image = result_type(None, call["input"])
    if not pads(call) or image.kind not in "biu":
        return None
    fractions = result_type(call["output"], call["input"]).kind == "f"
    if not holds(image, call["cval"], fractions=not fractions):
        return f"cval={call['cval']} is no number of {image}, the image's type, which CuPy makes it"
    return None


def _unsigned_sums(call: Call) -> str | None:
    output = call["output"]
    result = result_type(output, call["input"])
    if result.kind == "u" and result.itemsize >= 4:
        return f"a sum below 0 becomes another number of {result} with CuPy than with SciPy"
    return None


def _unsigned_means(call: Call) -> str | None:
    if kind_of(call["input"]) in "ub" and not (pads(call) and call["cval"] < 0):
        return None  # no sum is negative
    return _unsigned_sums(call)


def _ignored_output(call: Call) -> str | None:
    output = call["output"]
    if output is None or is_array(output):
        return None
    made = np.dtype(bool) if call.name.startswith("binary") else result_type(None, call["input"])
    if np.dtype(output) != made:
        return f"SciPy's {call.name} returns {made}, whatever type output= is; leave it out"
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


def _added_structure(call: Call) -> str | None:
    structure = call["structure"]
    if structure is None:
        return None
    if np.any(np.asarray(on_host(structure)) < 0):
        return "CuPy leaves out structure= where it is below 0 in the middle"
    for dtype in (result_type(None, call["input"]), result_type(call["output"], call["input"])):
        if dtype != np.float64:
            return f"CuPy adds structure= as {dtype}, and SciPy as float64; pass such an image"
    return None


def _labels_without_axes(call: Call) -> str | None:
    if not np.ndim(call["input"]):
        return "CuPy finds no objects in an array without dimensions"
    return None


def _outside_of_a_line(call: Call) -> str | None:
    if np.ndim(call["input"]) < 2:
        return "CuPy takes one end of a line for all that is outside"
    return None


def _masked_steps(call: Call) -> str | None:
    output = call["output"]
    if call["iterations"] == 1 or call["mask"] is None or kind_of(output) not in ("f", "c"):
        return None
    return f"SciPy loses its way between steps in output= of {output.dtype}; pass one of booleans"


def _standard_structure(call: Call) -> str | None:
    from scipy.ndimage import generate_binary_structure

    structure = call["structure"]
    if structure is None:
        return None
    cells = np.asarray(on_host(structure)) != 0
    ndim = cells.ndim
    standard = (generate_binary_structure(ndim, each) for each in range(1, ndim + 1))
    if not any(np.array_equal(cells, each) for each in standard):
        return "CuPy fills other holes with a structure= that is no generate_binary_structure(...)"
    return None


def _symmetric_structure(call: Call) -> str | None:
    structure = call["structure"]
    if structure is None:
        return None
    cells = np.asarray(on_host(structure)) != 0
    if not np.array_equal(cells, np.flip(cells)):
        return "structure= is not symmetric, and CuPy looks at one half of it"
    return None


def _order_of_axes(call: Call) -> str | None:
    if call["axis"] % np.ndim(call["input"]) == 0:
        return None
    order = "CuPy takes the axes in another order"
    if pads(call):
        return f"{order}, which shows where cval= is not 0"
    result = result_type(call["output"], call["input"])
    if result.kind in "iu" and kind_of(call["input"]) == "f":
        return f"{order}, which shows where each is cut off to {result}; pass output=float"
    return None


def _endless_sum(call: Call) -> str | None:
    if is_endless(call):
        return f"SciPy keeps cval={call['cval']} in its sums up to the end of a line"
    return None


def _endless_weights(call: Call) -> str | None:
    weights = call["weights"]
    if not is_endless(call) or not (of_cupy(weights) or np.any(np.asarray(weights) == 0)):
        return None
    return left_out("cval", call["cval"])


def _endless_derivative(call: Call) -> str | None:
    smooth = call.name in ("gaussian_filter", "gaussian_filter1d") and not np.any(call["order"])
    if smooth or not is_endless(call):
        return None
    return left_out("cval", call["cval"])


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


def _turned_centers(call: Call) -> str | None:
    if is_array(call["index"]) and call["index"].ndim > 1:
        return (
            "of an index= of several dimensions SciPy mixes the centers; pass index=index.ravel()"
        )
    return None


def _two_dilations(call: Call) -> str | None:
    if call["iterations"] > 2:
        return "CuPy's iterate_structure has no more than 2 iterations"
    return None


def _no_axes(call: Call) -> str | None:
    if call["axes"] is not None and not np.size(call["axes"]):
        return f"CuPy's {call.name} takes no empty axes="
    return None


def _width(call: Call) -> str | None:
    if np.any(np.asarray(call["sigma"]) < 0):
        return f"sigma={call['sigma']!r} is negative"
    return None


_RANKS = ("median_filter", "rank_filter", "percentile_filter")
_GAUSSIANS = "gaussian_filter gaussian_filter1d gaussian_laplace"
_DISTANCES = (for_real("input"), some_dimensions(2, 3), _filled_elsewhere)
_TOTALS = "center_of_mass mean standard_deviation sum sum_labels variance"
_STEPS = "binary_erosion binary_dilation binary_opening binary_closing"

_ADDED = (
    *(boolean_result, complex_result, complex_constant),
    whole_constant,
)
_WEIGHTED = (*_ADDED, _unsigned_sums)
_RANKED = (*(complex_result, whole_constant, _ordered_constant, _boolean_ranks, _ordered_axes),)
_GREY = (*_RANKED, _added_structure)

RULES = table(
    ("ndimage", "convolve convolve1d correlate correlate1d sobel prewitt laplace", _WEIGHTED),
    ("ndimage", _GAUSSIANS, _WEIGHTED),
    ("ndimage", "gaussian_gradient_magnitude generic_laplace", _WEIGHTED),
    ("ndimage", "generic_gradient_magnitude", _WEIGHTED),
    ("ndimage", "uniform_filter uniform_filter1d", (*_ADDED, _unsigned_means)),
    ("ndimage", "sobel prewitt", (_several_modes, _order_of_axes)),
    ("ndimage", " ".join(_RANKS), (*_RANKED, solid_line("footprint"))),
    ("ndimage", "maximum_filter minimum_filter maximum_filter1d minimum_filter1d", _RANKED),
    ("ndimage", "grey_erosion grey_dilation grey_opening grey_closing", _GREY),
    ("ndimage", "morphological_gradient morphological_laplace", (*_GREY, _unsigned_sums)),
    ("ndimage", "morphological_gradient morphological_laplace", (_ignored_output,)),
    ("ndimage", "white_tophat black_tophat", (*_GREY, _unsigned_sums)),
    ("ndimage", "generic_filter generic_filter1d", (*_RANKED, _kernel_function)),
    ("ndimage", _GAUSSIANS, (_width,)),
    ("ndimage", "gaussian_gradient_magnitude", (_width,)),
    ("ndimage", "gaussian_gradient_magnitude generic_gradient_magnitude", (_no_axes,)),
    ("ndimage", "gaussian_gradient_magnitude generic_gradient_magnitude", (_wrapped_squares,)),
    ("ndimage", _GAUSSIANS, (_wrapped_derivative,)),
    ("ndimage", "gaussian_filter gaussian_laplace", (_derivative_of_a_point,)),
    ("ndimage", "gaussian_gradient_magnitude", (_derivative_of_a_point,)),
    ("ndimage", "uniform_filter uniform_filter1d", (_endless_sum,)),
    ("ndimage", "convolve1d correlate1d", (_endless_weights,)),
    ("ndimage", _GAUSSIANS, (_endless_derivative,)),
    ("ndimage", "gaussian_gradient_magnitude", (_endless_derivative,)),
    ("ndimage", _STEPS, (real("input"),)),
    ("ndimage", "binary_hit_or_miss binary_propagation label", (real("input"),)),
    ("ndimage", _STEPS, (_ignored_output, _masked_steps)),
    ("ndimage", "binary_hit_or_miss binary_propagation", (_ignored_output,)),
    ("ndimage", "binary_fill_holes", (_outside_of_a_line, _ignored_output, _standard_structure)),
    ("ndimage", "label", (_symmetric_structure,)),
    ("ndimage", "iterate_structure", (_two_dilations,)),
    ("ndimage", _TOTALS, (real("input"), for_real("labels", "index"))),
    ("ndimage", "center_of_mass", (_turned_centers,)),
    ("ndimage", "find_objects", (whole_numbers("input"), _labels_without_axes)),
    ("ndimage", "value_indices", (whole_numbers("arr"),)),
    ("ndimage", "distance_transform_edt", _DISTANCES),
)
