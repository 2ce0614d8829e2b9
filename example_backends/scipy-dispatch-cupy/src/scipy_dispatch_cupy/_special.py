"""Functions that need more than a call of CuPy's function with the same arguments."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from ._call import Call
from ._moving import number
from ._recursive import in_double
from ._rules import holds_complex, is_array, kind_of, on_host, result_type
from ._signals import as_scipy_types_it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

INTERPOLATION = ("affine_transform", "map_coordinates", "rotate", "shift", "zoom")


def _interpolated(call: Call) -> Any:
    """Return the values at the positions; integers are rounded to nearest, as in SciPy."""
    dtype = result_type(call["output"], call[call.first])
    if dtype.kind not in "iu":
        return call.run()
    return _filled(call, _rounded(call.replaced(output=np.float64).run(), dtype))


def _rounded(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return the nearest integers within the type's range; ties round away from zero."""
    import cupy

    whole = cupy.trunc(values + cupy.copysign(0.5, values))
    return cupy.clip(whole, np.iinfo(dtype).min, _largest(dtype)).astype(dtype)


def _largest(dtype: np.dtype[Any]) -> float:
    """Return the largest double that an integer type can hold."""
    largest = np.iinfo(dtype).max
    # The largest 64-bit integer is not a double, and the next double above it is too large.
    return float(largest) if largest < 2**53 else float(np.nextafter(float(largest), 0))


def _mean(call: Call) -> Any:
    """Return means of windows. Integers are summed first and divided afterwards.

    CuPy divides before it sums, so that rounding may leave the mean just below an integer, to
    which it is then truncated.
    """
    import cupy

    x = call[call.first]
    dtype = result_type(call["output"], x)
    if dtype.kind not in "iu":
        return call.run()
    lines = list(_lines(call))
    for axis, size, mode, origin in lines:
        given = {"axis": axis, "mode": mode, "origin": origin, "cval": call["cval"]}
        weights = cupy.asarray(np.ones(int(size), np.int64))
        sums = Call("ndimage", "correlate1d", {"input": x, "weights": weights, **given})
        means = cupy.trunc(sums.replaced(output=np.float64).run() / int(size))
        if dtype.itemsize == 8:
            means = cupy.clip(means, np.iinfo(dtype).min, _largest(dtype))
        x = means.astype(dtype)
    return _filled(call, x if lines else x.astype(dtype))


def _lines(call: Call) -> Iterator[tuple[Any, ...]]:
    """Yield the axis, the size, the mode and the origin of the window along each axis."""
    names = ("axis", "size", "mode", "origin")
    if call.name == "uniform_filter1d":
        yield tuple(call[name] for name in names)
        return
    ndim, axes = call[call.first].ndim, call["axes"]
    if axes is None:
        axes = range(ndim)
    elif not isinstance(axes, list | tuple):
        axes = (axes,)
    if len({axis % ndim for axis in axes}) < len(axes):
        raise ValueError(f"axes={axes!r} has an axis twice")
    columns = [axes]
    for name in names[1:]:
        value = call[name]
        column = value if isinstance(value, list | tuple) else [value] * len(axes)
        if len(column) != len(axes):
            raise RuntimeError(f"{name}= has {len(column)} elements, for {len(axes)} axes")
        columns.append(column)
    for line in zip(*columns, strict=True):
        if not -ndim <= line[0] < ndim:
            raise np.exceptions.AxisError(line[0], ndim)
        if line[1] > 1:
            yield line


def _filled(call: Call, result: Any) -> Any:
    """Copy a result to the output array, if there is one, and return the array."""
    output = call["output"]
    if not is_array(output):
        return result
    output[...] = result
    return output


def _objects(call: Call) -> Any:
    """Return the objects that CuPy finds for all labels, up to the last requested label.

    With ``max_label``, CuPy's kernel would write out of bounds for larger labels.
    """
    found = call.replaced(max_label=0).run()
    last = call["max_label"]
    return found if last < 1 else [*found[:last], *[None] * (last - len(found))]


def _distances(call: Call) -> Any:
    """Return results without an output array. CuPy rejects output arrays if it pads lengths."""
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
    """Return indices of type int32, as SciPy does, so that arithmetic on them does not overflow."""
    if isinstance(result, tuple):
        return tuple(map(_with_wide_indices, result))
    # The result is None if an output array was filled.
    return result.astype(np.int32, copy=False) if kind_of(result) == "i" else result


def _coefficients(call: Call) -> Any:
    """Return coefficients for complex zeros and poles, whose imaginary parts CuPy would drop."""
    import cupy

    # A number stands for a single root.
    roots = {
        name: each if is_array(each) and each.ndim else cupy.asarray(np.atleast_1d(number(each)))
        for name, each in call.given.items()
        if name in ("z", "p")
    }
    call = call.replaced(**roots)
    if not any(map(holds_complex, roots.values())):
        return as_scipy_types_it(call.run(), call)
    # There are few coefficients, so SciPy computes them on the host.
    function = getattr(import_module(f"scipy.{call.module}"), call.name)
    given = {name: on_host(each) for name, each in call.given.items()}
    return tuple(map(cupy.asarray, function(**given)))


SPECIAL: dict[str, Callable[[Call], Any]] = {
    **dict.fromkeys(INTERPOLATION, _interpolated),
    **dict.fromkeys(("uniform_filter", "uniform_filter1d"), _mean),
    **dict.fromkeys(("lfilter", "filtfilt"), in_double("b", "a", "x")),
    **dict.fromkeys(("sosfilt", "sosfiltfilt"), in_double("sos", "x")),
    "decimate": in_double("x"),
    **dict.fromkeys(("zpk2tf", "zpk2ss"), _coefficients),
    "distance_transform_edt": _distances,
    "find_objects": _objects,
}
"""The functions that compute these calls."""
