"""A call on the device: arguments moved there, and what CuPy is to be asked otherwise."""

from __future__ import annotations

from operator import index

import numpy as np

from ._rules import is_array, result_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call

_INTERPOLATION = {"affine_transform", "map_coordinates", "rotate", "shift", "zoom"}
_ITERATED = {"binary_erosion", "binary_dilation", "binary_opening", "binary_closing"}
# Whose kernels take numbers of one type.
_WAVES = {"sawtooth": "width", "square": "duty"}
_CONVOLUTIONS = {"convolve", "correlate", "convolve2d", "correlate2d"}
# A pair of numbers is an interval here, no array.
_INTERVALS = {"find_peaks"}
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

    output = call["output"]
    ready = _adapted(_on_device(call))
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
    if call.name not in _INTERPOLATION:
        return call.run()
    dtype = np.dtype(output.dtype if is_array(output) else output or call[call.first].dtype)
    if dtype.kind not in "iu":
        return call.run()
    result = _rounded(call.replaced(output=np.float64).run(), dtype)
    if not is_array(output):
        return result
    output[...] = result
    return output


def _rounded(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return the nearest whole numbers, away from zero if there are two, within the type."""
    import cupy

    limits = np.iinfo(dtype)
    whole = cupy.trunc(values + cupy.copysign(0.5, values))
    return cupy.clip(whole, limits.min, limits.max).astype(dtype)


def _on_device(call: Call) -> Call:
    moved = {
        name: _move(call.given[name], call.name not in _INTERVALS)
        for name in call.arrays
        if name in call.given
    }
    return call.replaced(**moved)


def _move(value: Any, lists: bool) -> Any:
    import cupy

    if isinstance(value, np.ndarray):
        return cupy.asarray(value)
    if isinstance(value, tuple) and any(hasattr(each, "dtype") for each in value):
        return tuple(_move(each, lists) for each in value)  # a system, say
    if lists and isinstance(value, list | tuple):
        try:
            array = np.asarray(value)
        except (TypeError, ValueError):
            return value
        return cupy.asarray(array) if array.dtype.kind in "biufc" else value
    return value


def _adapted(call: Call) -> Call:
    if call.module == "fft":
        return _with_lengths(call)
    if call.module == "signal" and call.name in _CONVOLUTIONS:
        return _of_one_type(call)
    if call.name in _WAVES:
        return _of_one_precision(call, _WAVES[call.name])
    return _for_images(call) if call.module == "ndimage" else call


def _for_images(call: Call) -> Call:
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
        changes["footprint"] = _move(np.ones(call["structure"].shape, bool), lists=False)
        changes["size"] = None
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


def _with_lengths(call: Call) -> Call:
    """Return a transform with the axes' own lengths for -1, which CuPy would cut off with.

    In a list: a tuple that equals the shape CuPy takes for no lengths, whatever the axes.
    """
    s, axes = call["s"], call["axes"]
    if s is None:
        return call
    lengths = [index(each) for each in np.atleast_1d(s)]
    shape = call[call.first].shape
    axes = range(-len(lengths), 0) if axes is None else np.atleast_1d(axes)
    if len(axes) != len(lengths):
        return call  # which is for CuPy to refuse
    return call.replaced(
        s=[
            shape[axis] if length == -1 else length
            for length, axis in zip(lengths, axes, strict=True)
        ]
    )


def _of_one_precision(call: Call, name: str) -> Call:
    """Return a wave with `name` of floating point, too, which may be a whole number."""
    value = call[name]
    return call.replaced(**{name: value.astype(float) if is_array(value) else float(value)})


def _of_one_type(call: Call) -> Call:
    """Return a convolution of arrays of one type, by a method that CuPy has for them."""
    given = {name: call.given[name] for name in ("in1", "in2")}
    if not all(hasattr(each, "dtype") for each in given.values()):
        return call  # which is for CuPy to refuse
    # CuPy adds up in the type of the smaller array, and cuts off what that does not hold.
    dtype = np.result_type(*(each.dtype for each in given.values()))
    changes: dict[str, Any] = {
        name: each.astype(dtype, copy=False) for name, each in given.items() if each.ndim
    }
    if call["method"] == "auto":
        # CuPy chooses for one dimension only, between the same.
        changes["method"] = "direct" if dtype.kind in "iu" else "fft"
    return call.replaced(**changes)
