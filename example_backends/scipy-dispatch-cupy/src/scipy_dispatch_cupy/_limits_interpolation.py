"""Limits of CuPy's interpolation and splines."""

from __future__ import annotations

import numpy as np

from ._image_rules import (
    boolean_result,
    complex_constant,
    complex_result,
    holds,
    takes_nearest,
    whole_constant,
)
from ._rules import kind_of, result_type, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._call import Call

_LONG = 24  # elements; CuPy truncates a sum, and from this length on the error is below 1e-14


def _padded_spline(call: Call) -> str | None:
    image = result_type(None, call["input"])
    padded = call["mode"] == "grid-constant" and call["prefilter"] and call["order"] > 1
    if padded and image.kind in "iu" and not holds(image, call["cval"]):
        return f"SciPy pads with cval={call['cval']} as a number of {image}, and CuPy does not"
    return None


def _wrapped_point(call: Call) -> str | None:
    if call["mode"] == "wrap" and 1 in np.shape(call["input"]):
        return "along an axis of one element mode='wrap' leads to other points with CuPy"
    return None


def _lost_zoom_constant(call: Call) -> str | None:
    # Even with mode="constant", rounding may place the last point outside the image.
    if call["cval"] != 0 and call["mode"] in ("constant", "grid-constant"):
        return "CuPy's zoom takes 0 for any cval="
    return None


def _other_grid(call: Call) -> str | None:
    if not call["grid_mode"]:
        return None
    if kind_of(call["input"]) == "c":
        return "SciPy drops grid_mode= for complex images, and CuPy does not"
    if call["mode"] in ("constant", "wrap"):
        mode = f"grid-{call['mode']}"
        return f"points fall on the border, and may be outside with CuPy; pass mode={mode!r}"
    return None


def _boolean_image(call: Call) -> str | None:
    if kind_of(call["input"]) == "b" and not takes_nearest(call):
        return "CuPy interpolates no booleans as SciPy does"
    return None


def _fewer_coordinates(call: Call) -> str | None:
    matrix = call["matrix"]
    shape = np.shape(matrix)
    ndim = np.ndim(call["input"])
    if len(shape) == 2 and shape[1] < ndim:
        return "CuPy keeps the number of dimensions (cupy#8394)"
    return None


def _half_turn(call: Call) -> str | None:
    if float(call["angle"]) % 90 == 0:
        return "CuPy does not turn by a multiple of 90 degrees exactly (cupy#8400)"
    return None


def _turned_planes(call: Call) -> str | None:
    if np.ndim(call["input"]) > 2 and call["order"] > 1 and not call["prefilter"]:
        return "without prefilter= CuPy smooths along the axes that are not turned, too"
    return None


def _whole_coefficients(call: Call) -> str | None:
    result = result_type(call["output"], call["input"])
    if result.kind in "iu":
        return f"SciPy makes whole numbers of each axis' coefficients for output= of {result}"
    return None


def _short_spline(call: Call) -> str | None:
    # With mode="nearest", interpolation adds a margin around the image, which hides its ends.
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


_SPLINE = (
    *(_boolean_image, boolean_result, complex_result),
    *(whole_constant, complex_constant, _padded_spline, _short_spline, _wrapped_point),
)

RULES = table(
    ("ndimage", "affine_transform map_coordinates rotate shift zoom", _SPLINE),
    ("ndimage", "spline_filter spline_filter1d", (_boolean_image,)),
    ("ndimage", "spline_filter spline_filter1d", (boolean_result, complex_result)),
    ("ndimage", "spline_filter spline_filter1d", (_short_spline, _whole_coefficients)),
    ("ndimage", "affine_transform", (_fewer_coordinates,)),
    ("ndimage", "zoom", (_other_grid, _lost_zoom_constant)),
    ("ndimage", "rotate", (_half_turn, _turned_planes)),
)
