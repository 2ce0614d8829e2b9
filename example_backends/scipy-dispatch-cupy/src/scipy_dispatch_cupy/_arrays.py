"""A call on the device: moving its arguments there and adapting them to CuPy's functions."""

from __future__ import annotations

from operator import index

import numpy as np

from ._measurements import MEASUREMENTS, measured
from ._moving import on_device
from ._rules import is_array, result_type
from ._signals import adapted, as_scipy_types_it
from ._special import INTERPOLATION, SPECIAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call

_ITERATED = {"binary_erosion", "binary_dilation", "binary_opening", "binary_closing"}
_SUMS = {
    *("convolve", "convolve1d", "correlate", "correlate1d", "prewitt", "sobel", "laplace"),
    *("gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace"),
    *("uniform_filter", "uniform_filter1d"),
}


def compute(call: Call) -> Any:
    """Return the result of CuPy's function for `call`, with SciPy's semantics.

    Parameters
    ----------
    call : Call
        The call, with NumPy or CuPy arrays. An ``output`` array of either kind is filled, and
        returned if SciPy returns it. It may share memory with other arguments.
    """
    import cupy

    if call.name in MEASUREMENTS:
        return measured(call)
    output = call["output"]
    ready = _adapted(on_device(call))
    if not is_array(output):
        return _run(ready)
    target = ready.given["output"]
    if target is output and _is_shared(ready, output):
        # CuPy might read elements that it has already overwritten.
        ready = ready.replaced(output=output.copy())
        target = ready.given["output"]
    result = _run(ready)
    if target is not output:
        output[...] = target if isinstance(output, cupy.ndarray) else target.get()
    return output if isinstance(result, cupy.ndarray) else result


def _is_shared(call: Call, output: Any) -> bool:
    import cupy

    others = [call.given[name] for name in call.arrays if name in call.given and name != "output"]
    return any(
        isinstance(each, cupy.ndarray) and cupy.may_share_memory(each, output) for each in others
    )


def _run(call: Call) -> Any:
    special = SPECIAL.get(call.name)
    return special(call) if special else as_scipy_types_it(call.run(), call)


def _adapted(call: Call) -> Call:
    return _for_images(call) if call.module == "ndimage" else adapted(call)


def _named(mode: Any) -> Any:
    if not isinstance(mode, str):
        return type(mode)(map(_named, mode))
    return "constant" if mode == "grid-constant" else mode


def _for_images(call: Call) -> Call:
    import cupy

    changes: dict[str, Any] = {}
    x, output = call[call.first], call["output"]
    if isinstance(output, str | np.dtype):
        # Some functions of CuPy accept only types, not data types or their names.
        changes["output"] = output = np.dtype(output).type
    if "cval" in call.given and not np.iscomplexobj(call["cval"]):
        # CuPy writes the value into a kernel's source code, where True and nan are not valid.
        cval = float(call["cval"])
        changes["cval"] = np.nan if cval != cval else cval  # CuPy recognizes np.nan by identity
    if "footprint" in call.arrays and is_array(call["structure"]) and call["footprint"] is None:
        # SciPy takes the window's size from the structure, CuPy requires a size or a footprint.
        changes["footprint"] = cupy.asarray(np.ones(call["structure"].shape, bool))
        changes["size"] = None
    if call["mode"] is not None and call.name not in (*INTERPOLATION, "zoom"):
        # The same for filters, and CuPy's know the shorter name only.
        changes["mode"] = _named(call["mode"])
    if call.name == "affine_transform":
        shape = call["output_shape"]
        if shape is not None:
            # CuPy compares the value with shapes and uses it as a key of a cache.
            changes["output_shape"] = tuple(map(index, np.atleast_1d(shape)))
        elif is_array(output):
            changes["output_shape"] = output.shape
    if call.name in INTERPOLATION and x.dtype.char not in "dD":
        # CuPy would compute in single precision, including the positions. SciPy does not.
        changes[call.first] = x.astype(np.result_type(x.dtype, np.float64))
        changes["output"] = x.dtype.type if output is None else output
    double = result_type(output, x).char in "dD"
    if call.name in _SUMS and double and x.dtype.char not in "dD":
        # CuPy would compute in single precision although the result is of double precision.
        changes[call.first] = x.astype(np.result_type(x.dtype, np.float64))
    if call.name == "binary_fill_holes":
        # CuPy would interpret the bytes of small integers as booleans.
        changes[call.first] = x.astype(bool, copy=False)
    if call.name in _ITERATED and call["iterations"] != 1:
        # The result is the same, and CuPy iterates only with brute force.
        changes["brute_force"] = True
    return call.replaced(**changes)
