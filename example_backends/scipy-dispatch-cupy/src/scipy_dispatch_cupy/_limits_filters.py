"""Limits of CuPy's filters."""

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
    kind_of,
    of_cupy,
    result_type,
    table,
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


def unsigned_sums(call: Call) -> str | None:
    """Reject results of whole numbers that cannot be below 0."""
    output = call["output"]
    result = result_type(output, call["input"])
    if result.kind == "u" and result.itemsize >= 4:
        return f"a sum below 0 becomes another number of {result} with CuPy than with SciPy"
    return None


def _unsigned_means(call: Call) -> str | None:
    if kind_of(call["input"]) in "ub" and not (pads(call) and call["cval"] < 0):
        return None  # no sum is negative
    return unsigned_sums(call)


def _kernel_function(call: Call) -> str | None:
    if type(call["function"]).__module__.partition(".")[0] not in ("cupy", "cupyx"):
        return (
            "function= is a Python function, which no GPU can run; "
            "pass a cupy.RawKernel or a cupy.ReductionKernel"
        )
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

_ADDED = (boolean_result, complex_result, complex_constant, whole_constant)
_WEIGHTED = (*_ADDED, unsigned_sums)
RANKED = (complex_result, whole_constant, _ordered_constant, _boolean_ranks, _ordered_axes)

RULES = table(
    ("ndimage", "convolve convolve1d correlate correlate1d sobel prewitt laplace", _WEIGHTED),
    ("ndimage", _GAUSSIANS, _WEIGHTED),
    ("ndimage", "gaussian_gradient_magnitude generic_laplace", _WEIGHTED),
    ("ndimage", "generic_gradient_magnitude", _WEIGHTED),
    ("ndimage", "uniform_filter uniform_filter1d", (*_ADDED, _unsigned_means)),
    ("ndimage", "sobel prewitt", (_several_modes, _order_of_axes)),
    ("ndimage", " ".join(_RANKS), (*RANKED, solid_line("footprint"))),
    ("ndimage", "maximum_filter minimum_filter maximum_filter1d minimum_filter1d", RANKED),
    ("ndimage", "generic_filter generic_filter1d", (*RANKED, _kernel_function)),
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
)
