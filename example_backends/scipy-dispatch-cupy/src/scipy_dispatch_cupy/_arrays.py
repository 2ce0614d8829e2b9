"""A call on the device: arguments moved there, and what CuPy is to be asked otherwise."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from ._measurements import MEASUREMENTS, measured
from ._moving import on_device
from ._rules import is_array, kind_of, of_cupy, result_type
from ._signals import adapted, as_scipy_types_it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call

_INTERPOLATION = {"affine_transform", "map_coordinates", "rotate", "shift", "zoom"}
_COMPLEX_COEFFICIENTS = {"zpk2tf", "zpk2ss"}
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
    """Call CuPy's function; whole numbers are rounded and cut off as SciPy does."""
    output = call["output"]
    if call.name in _COMPLEX_COEFFICIENTS and any(kind_of(call[name]) == "c" for name in "zp"):
        return _by_scipy(call)
    if call.name == "find_objects":
        return _objects(call)
    if call.name == "distance_transform_edt":
        return _distances(call)
    if call.name not in _INTERPOLATION:
        return as_scipy_types_it(call.run(), call)
    dtype = np.dtype(output.dtype if is_array(output) else output or call[call.first].dtype)
    if dtype.kind not in "iu":
        return call.run()
    result = _rounded(call.replaced(output=np.float64).run(), dtype)
    if not is_array(output):
        return result
    output[...] = result
    return output


def _by_scipy(call: Call) -> Any:
    """Return what SciPy makes of a few numbers, of which CuPy drops the imaginary parts."""
    import cupy

    function = getattr(import_module(f"scipy.{call.module}"), call.name)
    given = {name: each.get() if of_cupy(each) else each for name, each in call.given.items()}
    return tuple(map(cupy.asarray, function(**given)))


def _objects(call: Call) -> Any:
    """Return what CuPy finds of all labels, up to the last one that is asked for.

    With a ``max_label`` its kernel would write the larger labels beyond the end of its array.
    """
    found = call.replaced(max_label=0).run()
    last = call["max_label"]
    return found if last < 1 else [*found[:last], *[None] * (last - len(found))]


def _distances(call: Call) -> Any:
    """Return what there is no array for. CuPy refuses those of the lengths that it extends."""
    result = _with_wide_indices(call.replaced(distances=None, indices=None).run())
    parts = iter(result if isinstance(result, tuple) else (result,))
    left = []
    for name in ("distances", "indices"):
        if not call[f"return_{name}"]:
            continue
        part, target = next(parts), call[name]
        if target is None:
            left.append(part)
        elif (target.shape, target.dtype) != (part.shape, part.dtype):
            raise RuntimeError(
                f"{name}= must be of {part.dtype} and {part.shape}, not {target.dtype} and "
                f"{target.shape}"
            )
        else:
            target[...] = part
    return tuple(left) if len(left) > 1 else left[0] if left else None


def _with_wide_indices(result: Any) -> Any:
    """Return indices that hold more than the length of an axis, as SciPy's do."""
    if isinstance(result, tuple):
        return tuple(map(_with_wide_indices, result))
    # Where an array is filled, there is nothing to return.
    return result.astype(np.int32, copy=False) if kind_of(result) == "i" else result


def _rounded(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return the nearest whole numbers, away from zero if there are two, within the type."""
    import cupy

    limits = np.iinfo(dtype)
    whole = cupy.trunc(values + cupy.copysign(0.5, values))
    return cupy.clip(whole, limits.min, limits.max).astype(dtype)


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
    if call.name == "affine_transform" and is_array(output) and call["output_shape"] is None:
        changes["output_shape"] = output.shape
    if call.name in _INTERPOLATION and x.dtype.char not in "dD":
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
