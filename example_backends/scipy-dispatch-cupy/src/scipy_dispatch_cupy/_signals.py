"""Signals and transforms: adapting calls to CuPy, and the data types of the results."""

from __future__ import annotations

from operator import index

import numpy as np

from ._rules import is_array, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call

# Transforms along several axes whose input or output is half a spectrum.
_OF_HALVES = {"rfft2", "rfftn", "irfft2", "irfftn", "hfft2", "hfftn", "ihfft2", "ihfftn"}
# Functions whose kernels require arguments of the same type.
_WAVES = {"sawtooth": "width", "square": "duty"}
_CONVOLUTIONS = {"convolve", "correlate", "convolve2d", "correlate2d"}
# SciPy converts all real numbers (or, for the second table, integers) to float64. CuPy would
# compute in their own type, truncate values that the type cannot hold, and compare rounded
# values.
_IN_DOUBLE_PRECISION = {
    **dict.fromkeys(("find_peaks", "peak_prominences", "peak_widths"), ("x",)),
    **dict.fromkeys(("chirp", "gausspulse"), ("t",)),
    **dict.fromkeys(("cspline1d", "qspline1d"), ("signal",)),
}
_OF_FLOATING_POINT = {
    "deconvolve": ("signal", "divisor"),
    "gauss_spline": ("x",),
    **dict.fromkeys(("cspline2d", "qspline2d"), ("signal",)),
}
BY_TRANSFORMS = {"fftconvolve", "oaconvolve"}
"""Functions that convolve by transforms for all arrays."""
_COEFFICIENTS = {"lfilter", "filtfilt"}
# Functions with an initial state, which SciPy computes in double precision for integers.
_BOTH_WAYS = {"filtfilt": ("b", "a"), "sosfiltfilt": ("sos",)}
_TRANSFER_FUNCTIONS = {"lp2hp", "lp2lp", "tf2zpk"}
# Parameters of windows for which CuPy has no defaults.
_PARAMETERS: dict[str, tuple[float | None, ...]] = {
    **dict.fromkeys(("tukey", "tuk"), (0.5,)),
    **dict.fromkeys(("exponential", "poisson"), (None, 1.0)),
}
_NAMES = {"kaiser_bessel_derived": "kbd"}


def adapted(call: Call) -> Call:
    """Return the call with its arguments adapted to CuPy.

    Parameters
    ----------
    call : Call
        The call of a function of ``signal`` or ``fft``, with CuPy arrays.
    """
    if call.module == "fft":
        call = _with_lengths(call)
        return _in_rows(call) if call.name in _OF_HALVES else call
    call = _in_rows(_with_parameters(call))
    if call.name in _CONVOLUTIONS:
        return _of_one_type(call)
    if call.name in _WAVES:
        return _of_one_precision(call, _WAVES[call.name])
    if call.name in _BOTH_WAYS and call["method"] != "gust":
        if call["padtype"] == "odd" and call["padlen"] != 0:
            # This extension subtracts elements, which fails for booleans.
            call = _converted(call, ("x",), "b", np.dtype(int))
        coefficients = _BOTH_WAYS[call.name]
        if common_type(call, coefficients).kind in "biu":
            call = _converted(call, coefficients, "biu", np.dtype(float))
    if call.name in _COEFFICIENTS:
        return _with_coefficients(call)
    if call.name in _TRANSFER_FUNCTIONS:
        return _of_one_field(call)
    if call.name in BY_TRANSFORMS:
        return call if is_product(call) else _converted(call, ("in1", "in2"), "b", np.dtype(float))
    names = _IN_DOUBLE_PRECISION.get(call.name)
    if names:
        return _converted(call, names, "biuf", np.dtype(float))
    return _converted(call, _OF_FLOATING_POINT.get(call.name, ()), "biu", np.dtype(float))


def as_scipy_types_it(result: Any, call: Call) -> Any:
    """Return the result of `call` in the precision of SciPy's result."""
    x = call[call.first]
    if call.name in ("welch", "csd") and call["average"] == "median":
        # CuPy divides by a double-precision array.
        frequencies, density = result
        if not density.size:
            return result
        # Promote all at once: int16 and uint16 first would give int32, whose spectrum is wider.
        types = [each.dtype for each in (x, call["y"]) if is_array(each)]
        spectrum = np.result_type(*types, np.complex64)
        real = np.empty(0, spectrum).real.dtype
        return frequencies, density.astype(
            spectrum if kind_of(density) == "c" else real, copy=False
        )
    if call.name == "resample_poly" and kind_of(x) in "fc" and not is_array(call["window"]):
        # CuPy's window is of double precision.
        return result.astype(x.dtype, copy=False)
    return result


def common_type(call: Call, names: tuple[str, ...]) -> np.dtype[Any]:
    """Return the common data type of the arrays among some arguments.

    Parameters
    ----------
    call : Call
        The call.
    names : tuple of str
        The arguments, at least one of which is an array; numbers are ignored.
    """
    return np.result_type(*(call[name].dtype for name in names if is_array(call[name])))


def _with_parameters(call: Call) -> Call:
    """Return the call with SciPy's defaults for the missing parameters of its window."""
    window = call["window"]
    name, *given = window if isinstance(window, tuple) and window else (window,)
    if not isinstance(name, str) or name not in {*_PARAMETERS, *_NAMES}:
        return call
    others = _PARAMETERS.get(name, ())[len(given) :]
    return call.replaced(window=(_NAMES.get(name, name), *given, *others))


def is_product(call: Call) -> bool:
    """Return whether there is no axis to transform along, so that elements are just multiplied.

    Parameters
    ----------
    call : Call
        A call of one of `BY_TRANSFORMS`.
    """
    shapes = np.shape(call["in1"]), np.shape(call["in2"])
    axes = range(len(shapes[0])) if call["axes"] is None else np.atleast_1d(call["axes"])
    try:
        return all(1 in (each[axis] for each in shapes) for axis in axes)
    except IndexError:
        return False  # CuPy reports the error


def _in_rows(call: Call) -> Call:
    """Return the call with all arrays in C order.

    Many of CuPy's signal kernels assume that order for any array. CuPy's real transforms along
    several axes read the memory layout before they convert the array. The conversion may change
    the layout, and the transform then uses the old one.
    """
    return call.replaced(
        **{name: _rows(call.given[name]) for name in call.arrays if name in call.given}
    )


def _rows(value: Any) -> Any:
    import cupy

    if isinstance(value, tuple):
        return tuple(map(_rows, value))
    if not is_array(value) or value.flags.c_contiguous:
        return value
    return cupy.ascontiguousarray(value)


def _converted(call: Call, names: tuple[str, ...], kinds: str, dtype: np.dtype[Any]) -> Call:
    return call.replaced(
        **{
            name: call[name].astype(dtype, copy=False)
            for name in names
            if is_array(call[name]) and kind_of(call[name]) in kinds
        }
    )


def _with_coefficients(call: Call) -> Call:
    """Return the filter with coefficients of a signed type that also holds fractions."""
    import cupy

    dtype = common_type(call, ("b", "a", "x"))
    call = _converted(call, ("b", "a"), "biu", dtype if dtype.kind in "fc" else np.dtype(float))
    missing = call["b"].size - call["a"].size
    if call.name == "filtfilt" and missing > 0 and call["a"].size > 1:
        # CuPy derives the length of the initial state from `a` alone.
        call = call.replaced(a=cupy.pad(call["a"], (0, missing)))
    return call


def _of_one_field(call: Call) -> Call:
    """Return the call with both polynomials complex if one of them is."""
    dtype = common_type(call, ("b", "a"))
    return _converted(call, ("b", "a"), "biuf", dtype) if dtype.kind == "c" else call


def _with_lengths(call: Call) -> Call:
    """Return the transform with the axis lengths in place of -1, which CuPy would take literally.

    The lengths are a list: CuPy treats a tuple that equals the shape as no lengths, for any
    axes.
    """
    s, axes = call["s"], call["axes"]
    if s is None:
        return call
    lengths = [index(each) for each in np.atleast_1d(s)]
    shape = call[call.first].shape
    axes = range(-len(lengths), 0) if axes is None else np.atleast_1d(axes)
    if len(axes) != len(lengths):
        return call  # CuPy reports the error
    return call.replaced(
        s=[
            shape[axis] if length == -1 else length
            for length, axis in zip(lengths, axes, strict=True)
        ]
    )


def _of_one_precision(call: Call, name: str) -> Call:
    """Return the call with the parameter `name`, which may be an integer, as floating point."""
    value = call[name]
    return call.replaced(**{name: value.astype(float) if is_array(value) else float(value)})


def _of_one_type(call: Call) -> Call:
    """Return the convolution with arrays of the same type and a method that CuPy supports."""
    given = {name: call.given[name] for name in ("in1", "in2")}
    if not all(hasattr(each, "dtype") for each in given.values()):
        return call  # CuPy reports the error
    # CuPy would sum in the type of the smaller array and truncate values that it cannot hold.
    dtype = np.result_type(*(each.dtype for each in given.values()))
    changes: dict[str, Any] = {
        name: each.astype(dtype, copy=False) for name, each in given.items() if each.ndim
    }
    if call["method"] == "auto":
        # CuPy supports "auto" for one dimension only; it chooses between the same methods.
        changes["method"] = "direct" if dtype.kind in "iu" else "fft"
    return call.replaced(**changes)
