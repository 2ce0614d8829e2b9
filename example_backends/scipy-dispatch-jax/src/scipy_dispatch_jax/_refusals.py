"""Reasons for which a call is left to SciPy, of arguments that many functions have."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from spatch_core import DispatchContext

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
    narrowed,
)
from ._call import Call
from ._jax import jax, jnp

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

    It reads no elements of JAX arrays. Settings that are JAX arrays become known values, and
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
