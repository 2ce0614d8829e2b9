"""A call on the device: arguments moved there, and what CuPy is to be asked otherwise."""

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
    """Return what CuPy's function makes of `call`, with SciPy's meaning.

    Parameters
    ----------
    call : Call
        The call, with arrays of NumPy's or of CuPy's. An ``output`` of either is filled, and
        returned where SciPy returns it; it may share memory with other arguments.
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
        # CuPy may read what it has written already.
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


def _for_images(call: Call) -> Call:
    import cupy

    changes: dict[str, Any] = {}
    x, output = call[call.first], call["output"]
    if isinstance(output, str | np.dtype):
        # Some functions of CuPy take nothing but a type.
        changes["output"] = output = np.dtype(output).type
    if "cval" in call.given and not np.iscomplexobj(call["cval"]):
        # It is written into a kernel's text, where True and nan mean nothing.
        cval = float(call["cval"])
        changes["cval"] = np.nan if cval != cval else cval  # which CuPy knows by identity
    if "footprint" in call.arrays and is_array(call["structure"]) and call["footprint"] is None:
        # SciPy takes the size of the structure, and CuPy asks for another one.
        changes["footprint"] = cupy.asarray(np.ones(call["structure"].shape, bool))
        changes["size"] = None
    if call.name == "affine_transform":
        shape = call["output_shape"]
        if shape is not None:
            # Which is compared with shapes, and remembered.
            changes["output_shape"] = tuple(map(index, np.atleast_1d(shape)))
        elif is_array(output):
            changes["output_shape"] = output.shape
    if call.name in INTERPOLATION and x.dtype.char not in "dD":
        # CuPy would compute in single precision, positions too. SciPy does not.
        changes[call.first] = x.astype(np.result_type(x.dtype, np.float64))
        changes["output"] = x.dtype.type if output is None else output
    double = result_type(output, x).char in "dD"
    if call.name in _SUMS and double and x.dtype.char not in "dD":
        # CuPy would compute in single precision what is asked for in double precision.
        changes[call.first] = x.astype(np.result_type(x.dtype, np.float64))
    if call.name == "binary_fill_holes":
        # CuPy would take the bytes of small integers for booleans.
        changes[call.first] = x.astype(bool, copy=False)
    if call.name in _ITERATED and call["iterations"] != 1:
        # The result is the same, and CuPy has no other way to iterate.
        changes["brute_force"] = True
    return call.replaced(**changes)
