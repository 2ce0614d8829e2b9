"""Calls: how one is read, refused and run.

A call is planned once: `implements` binds the arguments with SciPy's signature. The plan returns
why they are not supported, or what computes the result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from numbers import Number
from types import SimpleNamespace
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from scipy_dispatch.calls import Deferred
from scipy_dispatch.planning import Planned, PlannedBackend, Prepared
from spatch_core import DispatchContext, backend_utils

from ._arrays import (
    dtype_of,
    exceeds_32_bits,
    has_64_bits,
    is_complex,
    is_floating,
    is_integer,
    is_jax,
    is_traced,
    known,
    leaves,
    limits_of,
    mapped,
    narrowed,
)


class Arguments(SimpleNamespace):
    """The arguments of a call, by the names of SciPy's parameters, with defaults for missing ones.

    Attributes
    ----------
    axes
        None, unless SciPy's function has such a parameter: older releases lack some.
    """

    axes: Any = None

    @classmethod
    def bound(cls, signature: inspect.Signature, args: Any, kwargs: Any) -> Arguments:
        """Return the arguments of a call of a function with this signature."""
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        call = cls(**bound.arguments)
        output = signature.parameters.get("output")
        if output is not None and output.default is np.float64 is call.output:
            call.output = float  # the widest that JAX has
        return call

    def but(self, **others: Any) -> Arguments:
        """Return the arguments with other values for some of them."""
        return Arguments(**{**vars(self), **others})


# The parameters for values beyond the ends.
_FILLS = ("cval", "fillvalue")
_KINDS = {
    "b": "booleans",
    "i": "integers",
    "f": "single and double precision",
    "h": "half precision",
    "c": "complex numbers",
}


def supported(call: Arguments, kinds: dict[str, str], context: DispatchContext | None) -> Arguments:
    """Return a call with known settings, and with arrays in the place of lists; or defer.

    It reads no elements of the data. `kinds` has the parameters that may be traced, the data first,
    and the kinds of numbers of each.

    Raises
    ------
    Deferred
        If the call is not supported, by the arguments alone.
    """
    given = vars(call)
    of_jax = [name for name, value in given.items() if any(map(is_jax, leaves(value)))]
    is_asked = context is None or context.prioritized or jax.Array in context.types
    if of_jax and not is_asked and not any(name in kinds for name in of_jax):
        raise Deferred(f"only {of_jax[0]}= is a JAX array, which holds no data")
    data = next(iter(kinds))
    dtype = np.dtype(bool)  # of the data, which comes before fill values and `output`
    found: dict[str, Any] = {}
    for name in sorted(given, key=lambda name: name != data):
        value = given[name]
        if name in kinds and name in _FILLS:
            value = _fill(name, value, dtype)
        elif name in kinds:
            value = _array(name, value, kinds[name])
        elif any(map(is_traced, leaves(value))):
            raise Deferred(
                f"{name}= is traced, but what there is to compute depends on its value; "
                "pass a number, or make the argument static"
            )
        else:
            value = known(value)
        if name == data:
            dtype = dtype_of(value)
            if 0 in value.shape:
                raise Deferred(f"{name}= has no elements")
        if name == "output" and (reason := _why_not_output(value, dtype)):
            raise Deferred(reason)
        found[name] = value
    return Arguments(**found)


def as_array(value: Any) -> Any:
    """Return an array, which is a JAX array if `value` is one or has some."""
    if is_jax(value):
        return value
    return jnp.asarray(value) if any(map(is_jax, leaves(value))) else np.asarray(value)


def _array(name: str, value: Any, kinds: str) -> Any:
    """Return an argument as an array, unless it is None or the name of a window."""
    if value is None:
        return None
    if name == "window" and isinstance(value, (str, tuple)):
        if any(map(is_traced, leaves(value))):
            raise Deferred("window= is a name with a traced number; pass the window as an array")
        return value
    several: list[Any] = list(leaves(value)) if any(map(is_jax, leaves(value))) else [value]
    for each in several:
        if not is_jax(each):
            _check_numpy(name, np.asarray(each))
        elif jnp.issubdtype(each.dtype, jax.dtypes.extended):
            raise Deferred(f"{name}= holds {each.dtype}, which are no numbers")
        if _kind_of(dtype_of(each)) not in (kinds or "bifhc"):
            taken = ", ".join(_KINDS[each] for each in kinds or "bifhc")
            raise Deferred(
                f"{name}= is of {dtype_of(each)}, and this function takes {taken}; "
                f"pass {name}.astype('float32'), or another of these"
            )
    return as_array(value)


def _kind_of(dtype: Any) -> str:
    """Return the letter of a kind of numbers; none for the types of JAX's with too few bits."""
    if dtype == jnp.bfloat16 or dtype == np.float16:
        return "h"
    return {"u": "i"}.get(dtype.kind, dtype.kind) if np.dtype(dtype).isbuiltin == 1 else "-"


def _check_numpy(name: str, array: np.ndarray) -> None:
    dtype = array.dtype
    is_number = is_integer(dtype) or is_floating(dtype) or is_complex(dtype)
    if not is_number or not dtype.isnative or dtype.char in "gG":
        raise Deferred(f"{name}= is of data type {dtype}, which JAX has not")
    if exceeds_32_bits(array):
        raise Deferred(f"{name}= holds integers of more than 32 bits; set jax_enable_x64")


def _fill(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a fill value as a number, unless it is traced."""
    is_array = is_jax(value) or isinstance(value, np.ndarray)
    is_number = isinstance(value, (Number, np.generic)) and not isinstance(value, np.flexible)
    if not (value.ndim == 0 if is_array else is_number):
        raise Deferred(f"{name}= is not one number")
    if is_complex(dtype_of(value)) and not is_complex(dtype):
        raise Deferred(f"{name}= is complex, and the data are not")
    if is_traced(value):
        return value
    number = np.asarray(known(value)).item()
    if is_integer(dtype) and not has_64_bits() and abs(number) >= 2**31:
        raise Deferred(f"{name}= has more than 32 bits; set jax_enable_x64")
    return number


def why_not_element(name: str, value: Any, dtype: np.dtype[Any]) -> str | None:
    """Return why a fill value cannot be an element of an array of integers; None if it can."""
    if is_traced(value) or not is_integer(dtype):
        return None
    least, most = limits_of(dtype)
    if not least <= value <= most or value != int(value):
        return f"{name}= is no {dtype}, as the data are"
    return None


def _why_not_output(output: Any, dtype: np.dtype[Any]) -> str | None:
    """Return why the result cannot be of a data type, for data of another one."""
    if output is None:
        return None
    if not isinstance(output, (str, type, np.dtype)):
        return (
            "output= is an array, and no implementation of JAX can write into one; "
            "pass a data type, or leave it out"
        )
    wanted = np.dtype(output)
    if is_complex(wanted) != is_complex(dtype):
        given, other = ("real", "complex") if is_complex(dtype) else ("complex", "real")
        return f"output= is a {given} data type, and the result is {other}"
    if any(output is each for each in (float, int, complex, bool)):  # the widest that JAX has
        return None
    if is_floating(wanted) and wanted.itemsize < 4:
        return f"output= is {wanted}, which SciPy refuses; convert the result instead"
    try:
        has_it = narrowed(wanted) == wanted
    except TypeError:
        return f"output= is {wanted}, a data type that JAX has not"
    return None if has_it else f"output= is {wanted}, a data type of JAX only with jax_enable_x64"


backend = PlannedBackend("jax")

TRACES = "Supports tracing."
"""The documentation of functions whose results have no slopes."""
# What wrong arguments raise, here and in JAX.
_ERRORS = (TypeError, ValueError, IndexError, KeyError, OverflowError, RuntimeError)


def implements(
    module: str,
    arrays: str,
    refuse: Callable[[Arguments], str | None] = lambda call: None,
    name: str = "",
    docs: str = "Supports tracing and differentiation.",
) -> Callable[[Callable[[Arguments], Any]], Planned]:
    """Return a decorator that registers an implementation, a function of `Arguments`.

    Calls are bound once, with the signature of SciPy's function. The first of the arrays is a JAX
    array when the implementation gets it.

    Parameters
    ----------
    module : str
        The module of SciPy's function, such as ``"ndimage"``.
    arrays : str
        The parameters that may be JAX arrays, including traced ones, the data first. The values
        of all other parameters must be known while JAX traces. After a colon, the kinds of
        numbers that are supported, if not all: booleans (b), integers (i), single and double
        precision (f), half precision (h) and complex numbers (c), as in ``"x:if zi:f"``.
    refuse : callable, optional
        Takes the call; returns the reason why it is not supported, or None.
    name : str, optional
        The function's name, if it is not that of the decorated function.
    docs : str, optional
        What the documentation says of the implementation, before its docstring.
    """
    kinds = {each: chosen for each, _, chosen in (part.partition(":") for part in arrays.split())}
    data = next(iter(kinds))

    def register(function: Callable[[Arguments], Any]) -> Planned:
        title = name or function.__name__
        scipys = getattr(import_module(f"scipy.{module}"), title)
        signature = inspect.signature(scipys)

        def plan(context: DispatchContext | None, /, *args: Any, **kwargs: Any) -> Prepared:
            def run() -> Any:
                try:
                    return function(call.but(**{data: jnp.asarray(getattr(call, data))}))
                except _ERRORS as error:
                    raise_scipys_error(scipys, args, kwargs, error)

            try:
                call = supported(Arguments.bound(signature, args, kwargs), kinds, context)
                reason = refuse(call)
            except _ERRORS as error:
                if not any(map(is_traced, leaves((args, kwargs)))):
                    return f"the arguments do not fit: {error}"
                # SciPy cannot report the error for tracers.
                return partial(raise_scipys_error, scipys, args, kwargs, error)
            return reason or run

        plan.__module__ = function.__module__
        plan.__doc__ = f"{docs} {function.__doc__ or ''}".strip()
        plan.__name__ = plan.__qualname__ = title
        first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_ONLY)
        parameters = [first, *signature.parameters.values()]
        plan.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return backend.plans(f"scipy_dispatch.{module}:{title}", uses_context=True)(plan)

    return register


def require(fits: Any) -> None:
    """Raise an error if arguments do not fit; the user gets the one that SciPy raises for them."""
    if not fits:
        raise ValueError("the arguments do not fit")


def raise_scipys_error(scipys: Any, args: Any, kwargs: Any, own: Exception) -> NoReturn:
    """Raise the error of SciPy's function, which gets ones in place of JAX arrays.

    So each of SciPy's errors is SciPy's own, also while JAX traces. If SciPy raises none, `own` is
    raised: the call must not end without a result.
    """

    def ones(value: Any) -> Any:
        if not is_jax(value):
            return value
        is_known = np.dtype(value.dtype).isbuiltin == 1 and value.dtype != np.float16
        return np.ones(value.shape, value.dtype if is_known else np.float32)

    args, kwargs = mapped((args, kwargs), ones)
    scipys(*args, **kwargs)
    raise own


def warn_caller(message: str) -> None:
    """Warn at the line that called the function of `scipy_dispatch`, with SciPy's text."""
    backend_utils.warn_caller(message, UserWarning, "scipy_dispatch")
