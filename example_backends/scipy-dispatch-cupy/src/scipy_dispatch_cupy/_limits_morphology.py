"""Limits of CuPy's morphology, measurements and distances."""

from __future__ import annotations

import numpy as np

from ._limits_filters import RANKED, unsigned_sums
from ._rules import (
    for_real,
    is_array,
    kind_of,
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


def _ignored_output(call: Call) -> str | None:
    output = call["output"]
    if output is None or is_array(output):
        return None
    made = np.dtype(bool) if call.name.startswith("binary") else result_type(None, call["input"])
    if np.dtype(output) != made:
        return f"SciPy's {call.name} returns {made}, whatever type output= is; leave it out"
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


_DISTANCES = (for_real("input"), some_dimensions(2, 3), _filled_elsewhere)
_TOTALS = "center_of_mass mean standard_deviation sum sum_labels variance"
_STEPS = "binary_erosion binary_dilation binary_opening binary_closing"
_GREY = (*RANKED, _added_structure)

RULES = table(
    ("ndimage", "grey_erosion grey_dilation grey_opening grey_closing", _GREY),
    ("ndimage", "morphological_gradient morphological_laplace", (*_GREY, unsigned_sums)),
    ("ndimage", "morphological_gradient morphological_laplace", (_ignored_output,)),
    ("ndimage", "white_tophat black_tophat", (*_GREY, unsigned_sums)),
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
