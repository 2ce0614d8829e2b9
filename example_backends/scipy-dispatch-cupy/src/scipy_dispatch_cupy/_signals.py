"""Signals and transforms: what CuPy is to be asked otherwise, and what SciPy's result is."""

from __future__ import annotations

from operator import index

import numpy as np

from ._rules import is_array, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call

# Transforms along several axes from or to half a spectrum.
_OF_HALVES = {"rfft2", "rfftn", "irfft2", "irfftn", "hfft2", "hfftn", "ihfft2", "ihfftn"}
# Whose kernels take numbers of one type.
_WAVES = {"sawtooth": "width", "square": "duty"}
_CONVOLUTIONS = {"convolve", "correlate", "convolve2d", "correlate2d"}
# SciPy makes float64 of all real numbers, or of whole ones. CuPy would compute in their own type,
# cut off what that does not hold, and compare what is rounded.
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
"""Convolutions by transforms, whatever the arrays."""
_COEFFICIENTS = {"lfilter", "filtfilt"}
# Which begin in a state that SciPy computes in double precision from whole numbers.
_BOTH_WAYS = {"filtfilt": ("b", "a"), "sosfiltfilt": ("sos",)}
_TRANSFER_FUNCTIONS = {"lp2hp", "lp2lp", "tf2zpk"}
# Windows for which CuPy has no parameters of its own.
_PARAMETERS: dict[str, tuple[float | None, ...]] = {
    **dict.fromkeys(("tukey", "tuk"), (0.5,)),
    **dict.fromkeys(("exponential", "poisson"), (None, 1.0)),
}
_NAMES = {"kaiser_bessel_derived": "kbd"}


def adapted(call: Call) -> Call:
    """Return the call as CuPy is to be asked.

    Parameters
    ----------
    call : Call
        The call of a function of ``signal`` or ``fft``, with arrays of CuPy's.
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
            # By differences, of booleans too.
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
    """Return a result of `call` in the precision of SciPy's."""
    x = call[call.first]
    if call.name in ("welch", "csd") and call["average"] == "median":
        # CuPy divides by an array of double precision.
        frequencies, density = result
        if not density.size:
            return result
        # All at once: int16 and uint16 alone would be int32, whose spectrum is wider.
        types = [each.dtype for each in (x, call["y"]) if is_array(each)]
        spectrum = np.result_type(*types, np.complex64)
        real = np.empty(0, spectrum).real.dtype
        return frequencies, density.astype(
            spectrum if kind_of(density) == "c" else real, copy=False
        )
    if call.name == "resample_poly" and kind_of(x) in "fc" and not is_array(call["window"]):
        # The window that CuPy makes is of double precision.
        return result.astype(x.dtype, copy=False)
    return result


def common_type(call: Call, names: tuple[str, ...]) -> np.dtype[Any]:
    """Return the data type that holds those of the arrays among some arguments.

    Parameters
    ----------
    call : Call
        The call.
    names : tuple of str
        The arguments, of which one at least is an array; numbers do not count.
    """
    return np.result_type(*(call[name].dtype for name in names if is_array(call[name])))


def _with_parameters(call: Call) -> Call:
    """Return a call with SciPy's parameters of a window that is given with fewer of them."""
    window = call["window"]
    name, *given = window if isinstance(window, tuple) and window else (window,)
    if not isinstance(name, str) or name not in {*_PARAMETERS, *_NAMES}:
        return call
    others = _PARAMETERS.get(name, ())[len(given) :]
    return call.replaced(window=(_NAMES.get(name, name), *given, *others))


def is_product(call: Call) -> bool:
    """Whether there is no axis to transform along, so that the elements are multiplied.

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
        return False  # which is for CuPy to refuse


def _in_rows(call: Call) -> Call:
    """Return a call with arrays that lie row by row, each element beside the next.

    Many of CuPy's kernels for signals read them so, however they lie. Its transforms of real
    numbers along several axes look at how an array lies, then convert it, which may turn it in
    memory, and read it as it lay.
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
    """Return a filter with coefficients that may be negative, and halves."""
    import cupy

    dtype = common_type(call, ("b", "a", "x"))
    call = _converted(call, ("b", "a"), "biu", dtype if dtype.kind in "fc" else np.dtype(float))
    missing = call["b"].size - call["a"].size
    if call.name == "filtfilt" and missing > 0 and call["a"].size > 1:
        # CuPy looks for the state that it begins in as far back as `a` reaches.
        call = call.replaced(a=cupy.pad(call["a"], (0, missing)))
    return call


def _of_one_field(call: Call) -> Call:
    """Return a call with both polynomials complex, if one of them is."""
    dtype = common_type(call, ("b", "a"))
    return _converted(call, ("b", "a"), "biuf", dtype) if dtype.kind == "c" else call


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
