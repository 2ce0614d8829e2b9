"""Calls: how one is read, refused and run.

A call is planned once: `implements` binds the arguments with SciPy's signature, and returns why
they are not supported, or what computes the result.
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

from scipy_dispatch.planning import Planned, PlannedBackend
from spatch_core import DispatchContext, backend_utils

from ._arrays import (
    dtype_of,
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


class Call(SimpleNamespace):
    """The arguments of a call, by the names of SciPy's parameters, with defaults for missing ones.

    Attributes
    ----------
    axes
        None, unless SciPy's function has such a parameter: older releases lack some.
    """

    axes: Any = None

    @classmethod
    def bound(cls, signature: inspect.Signature, args: Any, kwargs: Any) -> Call:
        """Return the call of a function with this signature."""
        arguments = signature.bind(*args, **kwargs)
        arguments.apply_defaults()
        call = cls(**arguments.arguments)
        output = signature.parameters.get("output")
        if output is not None and output.default is np.float64 is call.output:
            call.output = float  # the widest that JAX has
        return call

    def but(self, **others: Any) -> Call:
        """Return the call with other values for some arguments."""
        return Call(**{**vars(self), **others})


# The parameters for values beyond the ends.
_FILLS = ("cval", "fillvalue")
_KINDS = {
    "b": "booleans",
    "i": "integers",
    "f": "single and double precision",
    "h": "half precision",
    "c": "complex numbers",
}


def why_not(call: Call, kinds: dict[str, str], context: DispatchContext | None) -> str | None:
    """Return why a call is not supported, by the arguments alone; None if it may be.

    It reads no elements of the data. Settings that are JAX arrays become known values, and
    lists of numbers and arrays become arrays, in place. `kinds` has the parameters that may be
    traced, the data first, and the kinds of numbers of each.
    """
    given = vars(call)
    settings = [name for name, value in given.items() if any(map(is_jax, leaves(value)))]
    is_asked = context is None or context.prioritized or jax.Array in context.types
    if settings and not is_asked and not any(name in kinds for name in settings):
        return f"only {settings[0]}= is a JAX array, which holds no data"
    data = next(iter(kinds))
    dtype = np.dtype(bool)  # of the data, which comes before fill values and `output`
    for name in sorted(given, key=lambda name: name != data):
        reason, value = None, given[name]
        if name in kinds and name in _FILLS:
            reason = _why_not_fill(name, value, dtype)
            if reason is None and not is_traced(value):
                given[name] = np.asarray(known(value)).item()
        elif name in kinds:
            reason = _why_not_array(name, value, kinds[name])
            if reason is None and value is not None and not isinstance(value, str):
                given[name] = as_array(value) if name != "window" else _window(value)
            if reason is None and name == data:
                dtype = dtype_of(given[name])
                reason = f"{name}= has no elements" if 0 in given[name].shape else None
        elif any(map(is_traced, leaves(value))):
            reason = (
                f"{name}= is traced, but what there is to compute depends on its value; "
                "pass a number, or make the argument static"
            )
        else:
            given[name] = known(value)
            reason = _why_not_output(value, dtype) if name == "output" else None
        if reason:
            return reason
    return None


def as_array(value: Any) -> Any:
    """Return an array, which is a JAX array if `value` is one or has some."""
    if is_jax(value):
        return value
    return jnp.asarray(value) if any(map(is_jax, leaves(value))) else np.asarray(value)


def _window(value: Any) -> Any:
    """Return a window as an array, unless SciPy makes it by its name."""
    return value if isinstance(value, tuple) else as_array(value)


def _why_not_array(name: str, value: Any, kinds: str) -> str | None:
    if value is None:
        return None
    if name == "window" and isinstance(value, (str, tuple)):
        if any(map(is_traced, leaves(value))):
            return "window= is a name with a traced number; pass the window as an array"
        return None
    several: list[Any] = list(leaves(value)) if any(map(is_jax, leaves(value))) else [value]
    for each in several:
        if is_jax(each) and jnp.issubdtype(each.dtype, jax.dtypes.extended):
            return f"{name}= holds {each.dtype}, which are no numbers"
        if not is_jax(each) and (reason := _why_not_numpy(name, np.asarray(each))):
            return reason
        kind = _kind_of(dtype_of(each))
        if kind not in (kinds or "bifhc"):
            taken = ", ".join(_KINDS[each] for each in kinds or "bifhc")
            return (
                f"{name}= is of {dtype_of(each)}, and this function takes {taken}; "
                f"pass {name}.astype('float32'), or another of these"
            )
    return None


def _kind_of(dtype: Any) -> str:
    """Return the letter of a kind of numbers; none for the types of JAX's with too few bits."""
    if dtype == jnp.bfloat16 or dtype == np.float16:
        return "h"
    return {"u": "i"}.get(dtype.kind, dtype.kind) if np.dtype(dtype).isbuiltin == 1 else "-"


def _why_not_numpy(name: str, array: np.ndarray) -> str | None:
    dtype = array.dtype
    is_number = is_integer(dtype) or is_floating(dtype) or is_complex(dtype)
    if not is_number or not dtype.isnative or dtype.char in "gG":
        return f"{name}= is of data type {dtype}, which JAX has not"
    if is_integer(dtype) and dtype.itemsize == 8 and not has_64_bits() and array.size:
        least, most = limits_of(narrowed(dtype))
        if array.min() < least or array.max() > most:
            return f"{name}= holds integers of more than 32 bits; set jax_enable_x64"
    return None


def _why_not_fill(name: str, value: Any, dtype: np.dtype[Any]) -> str | None:
    is_array = is_jax(value) or isinstance(value, np.ndarray)
    is_number = isinstance(value, (Number, np.generic)) and not isinstance(value, np.flexible)
    if not (value.ndim == 0 if is_array else is_number):
        return f"{name}= is not one number"
    if is_complex(dtype_of(value)) and not is_complex(dtype):
        return f"{name}= is complex, and the data are not"
    is_narrow = is_integer(dtype) and not has_64_bits() and not is_traced(value)
    if is_narrow and abs(np.asarray(known(value)).item()) >= 2**31:
        return f"{name}= has more than 32 bits; set jax_enable_x64"
    return None


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
    refuse: Callable[[Call], str | None] = lambda call: None,
    name: str = "",
    docs: str = "Supports tracing and differentiation.",
) -> Callable[[Callable[[Call], Any]], Planned]:
    """Return a decorator that registers an implementation, a function of a `Call`.

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

    def register(function: Callable[[Call], Any]) -> Planned:
        title = name or function.__name__
        scipys = getattr(import_module(f"scipy.{module}"), title)
        signature = inspect.signature(scipys)

        def plan(
            context: DispatchContext | None, /, *args: Any, **kwargs: Any
        ) -> Callable[[], Any] | str:
            def run() -> Any:
                try:
                    return function(call.but(**{data: jnp.asarray(getattr(call, data))}))
                except _ERRORS as error:
                    raise_scipys_error(scipys, args, kwargs, error)

            try:
                call = Call.bound(signature, args, kwargs)
                reason = why_not(call, kinds, context) or refuse(call)
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
