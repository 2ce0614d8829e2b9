"""CuPy's functions under SciPy's names, and the plan of a call.

A call is bound by SciPy's signature, and CuPy's function gets the arguments by name. The signature
of the installed CuPy decides: arguments that it does not take are left to SciPy, with that reason.
The result is CuPy's.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from inspect import Parameter
from typing import TYPE_CHECKING, Any

import numpy as np

from scipy_dispatch._table import FFT, NDIMAGE, SIGNAL
from scipy_dispatch.calls import BoundCall, Deferred, signature_of
from scipy_dispatch.planning import PlannedBackend

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy_dispatch.planning import Plan, Prepared

backend = PlannedBackend("cupy")

TABLES = {"ndimage": NDIMAGE, "signal": SIGNAL, "fft": FFT}
"""What `scipy_dispatch` knows about the functions of each module."""
_LEFT_OUT = """
    distance_transform_bf distance_transform_cdt geometric_transform vectorized_filter
    watershed_ift

    abcd_normalize bessel cascade choose_conv_method closest_STFT_dual_window cmplx_sort cwt
    envelope find_peaks_cwt firwin_2d hilbert2 lfilter_zi lfiltic place_poles qmf remez sosfilt_zi
    symiirorder1 symiirorder2 whittaker_henderson
"""
LEFT_OUT = {*_LEFT_OUT.split(), "signal.spline_filter"}
"""What CuPy does not have, or has with another meaning; the README says why."""


def functions(module: str) -> list[str]:
    """Return the names of the functions in a module of the installed SciPy that CuPy has."""
    names = sorted(TABLES[module].dispatched)
    return [name for name in names if not LEFT_OUT & {name, f"{module}.{name}"}]


NO_EFFECT = {"workers"}
"""Parameters that say how the processor computes."""
_STATE = "CuPy's filter state has another shape than SciPy's (cupy#8677)"
OTHER_MEANING = {
    ("ndimage", "find_objects", "max_label"): "CuPy writes beyond its array for larger labels",
    ("signal", "lfilter", "zi"): _STATE,
    ("signal", "sosfilt", "zi"): _STATE,
}
"""Arguments that CuPy takes, but that lead to a crash or to another result without an error."""

# CuPy repeats these only by brute force, and refuses otherwise.
_REPEATED = {"binary_erosion", "binary_dilation", "binary_opening", "binary_closing"}
# A number stands for a polynomial of degree 0, such as the 1 of ``lfilter(b, 1, x)``.
_POLYNOMIALS = {"b", "a"}


def add_functions(module: str, namespace: dict[str, Any]) -> None:
    """Add an implementation of each function of a module to the globals of our module.

    Parameters
    ----------
    module : str
        ``"ndimage"``, ``"signal"`` or ``"fft"``.
    namespace : dict
        The globals of our module.
    """
    plans = {name: _plan_of(module, name) for name in functions(module)}
    backend.plans_each(f"scipy_dispatch.{module}", plans, namespace)


def _plan_of(module: str, name: str) -> Plan:
    def plan(*args: Any, **kwargs: Any) -> Prepared:
        function = cupy_function(module, name)
        arguments = _arguments(module, name, args, kwargs)
        return lambda: _run(function, module, name, arguments)

    plan.__doc__ = "CuPy arrays in, CuPy arrays out, on the GPU."
    return plan


@cache
def cupy_function(module: str, name: str) -> Callable[..., Any]:
    """Return CuPy's function.

    Raises
    ------
    Deferred
        If CuPy is not installed, lacks a library of CUDA, or is older than the function.
    """
    try:
        with warnings.catch_warnings():
            # CuPy warns about its own compiler.
            warnings.simplefilter("ignore", FutureWarning)
            functions = import_module(f"cupyx.scipy.{module}")
            function: Callable[..., Any] = getattr(functions, name)
    except Exception as error:
        first_line = str(error).strip().partition("\n")[0]
        raise Deferred(f"CuPy cannot run this here: {first_line}") from error
    return function


@cache
def _bound_function(module: str, name: str) -> Callable[..., Any]:
    """Return SciPy's function, whose signature binds a call; CuPy's if SciPy hides its own."""
    function: Callable[..., Any] = getattr(import_module(f"scipy.{module}"), name)
    try:
        parameters = signature_of(function).parameters.values()
    except ValueError:  # it is written in C
        return cupy_function(module, name)
    hidden = any(each.kind is Parameter.VAR_POSITIONAL for each in parameters)
    return cupy_function(module, name) if hidden else function


def _arguments(
    module: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments for CuPy's function, the first of which goes by position.

    Raises
    ------
    Deferred
        If CuPy's function does not take one of them.
    """
    call = BoundCall.bind(_bound_function(module, name), args, kwargs)
    ours = signature_of(call.function).parameters
    theirs = signature_of(cupy_function(module, name)).parameters
    takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in theirs.values())
    first = next(iter(ours))
    given: dict[str, Any] = {}
    for key, value in call.arguments.items():
        if key in ours and value is ours[key].default:
            continue  # the defaults mean the same, also where they are written otherwise
        # Keywords of neither signature go on to a function that both libraries call.
        if key == first or key in theirs or (takes_any and key not in ours):
            _check(module, name, key, value)
            given[key] = value
        elif key not in NO_EFFECT:
            raise Deferred(f"CuPy's {name} takes no {key}=")
    if name in _REPEATED and call["iterations"] != 1:
        given["brute_force"] = True
    if (module, name) in (("signal", "convolve"), ("signal", "correlate")):
        given |= _method(call)
    return given


def _check(module: str, name: str, key: str, value: Any) -> None:
    """Raise `Deferred` for a value that CuPy would not understand."""
    other = OTHER_MEANING.get((module, name, key))
    if other is not None:
        raise Deferred(f"{key}= is given: {other}")
    if key in TABLES[module].written and isinstance(value, np.ndarray):
        raise Deferred(f"{key}= is an array of NumPy, which CuPy cannot fill; pass one of CuPy")
    if type(value).__module__.startswith("scipy."):
        kind = type(value).__name__
        raise Deferred(f"{key}= is a {kind} of SciPy; pass a tuple of arrays, such as (num, den)")


def _method(call: BoundCall) -> dict[str, str]:
    """Return the method of a convolution for which CuPy refuses to choose one."""
    if call["method"] != "auto" or np.ndim(call["in1"]) < 2:
        return {}
    whole = all(
        getattr(call[key], "dtype", np.dtype(float)).kind in "biu" for key in ("in1", "in2")
    )
    return {"method": "direct" if whole else "fft"}


def _run(function: Callable[..., Any], module: str, name: str, arguments: dict[str, Any]) -> Any:
    dispatched = TABLES[module].dispatched[name]
    ready = {}
    for key, value in arguments.items():
        # Several arrays: a system, or the lower and the upper limit of a property of peaks.
        several = f"*{key}" in dispatched or name == "find_peaks"
        if several and isinstance(value, (list, tuple)):
            ready[key] = tuple(map(_on_device, value))
        elif key in dispatched:
            ready[key] = _on_device(value)
            if module == "signal" and key in _POLYNOMIALS and np.isscalar(ready[key]):
                ready[key] = _on_device([value])
        else:
            ready[key] = _setting(value)
    # The first parameter has another name in a few functions of CuPy.
    first, *rest = ready
    return function(ready[first], **{key: ready[key] for key in rest})


def _on_device(value: Any) -> Any:
    """Return an array, or nested lists of numbers, as a CuPy array; other values unchanged."""
    import cupy

    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.poly1d):
        return cupy.asarray(value.coeffs)
    if isinstance(value, np.ndarray):
        return cupy.asarray(value)
    if isinstance(value, (list, tuple, range)) and not any(isinstance(each, str) for each in value):
        return cupy.asarray(value)
    return value


def _setting(value: Any) -> Any:
    """Return the numbers of a setting that was computed as an array, such as ``image.max()``."""
    import cupy

    is_array = isinstance(value, (np.generic, np.ndarray, cupy.ndarray))
    return value.tolist() if is_array else value
