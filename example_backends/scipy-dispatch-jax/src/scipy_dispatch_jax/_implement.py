"""How a function is registered, and the question whether it should run."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from importlib import import_module
from numbers import Number

import numpy as np

from spatch_core import BackendImplementation

from ._arrays import (
    has_64_bits,
    is_complex,
    is_floating,
    is_integer,
    is_jax,
    is_traced,
    known,
    leaves,
    narrowed,
)
from ._jax import jax, jnp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from spatch_core import DispatchContext

    Refusal: TypeAlias = "Callable[[dict[str, Any]], str | None]"

backend = BackendImplementation("jax")


@dataclass(frozen=True)
class Served:
    """A function, and what must hold of the arguments of a call.

    Attributes
    ----------
    function : callable
        Takes SciPy's arguments.
    arrays : tuple of str
        The parameters that may be JAX arrays, traced ones too. The values of all others must
        be known when JAX traces.
    refuse : callable
        Says why a call cannot be served; None if it can. Gets all arguments by name.
    signature : inspect.Signature
        That of `function`.
    """

    function: Callable[..., Any]
    arrays: tuple[str, ...]
    refuse: Refusal
    signature: inspect.Signature

    def bind(self, args: Any, kwargs: Any) -> inspect.BoundArguments:
        """Return the arguments by name, with the defaults of those that were left out.

        Raises
        ------
        TypeError
            If they do not fit the signature.
        """
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound

    def call(self, args: Any, kwargs: Any) -> Any:
        """Call the function, with known values for JAX arrays where arrays are not welcome."""
        bound = self.bind(args, kwargs)
        for name, value in bound.arguments.items():
            if name not in self.arrays:
                bound.arguments[name] = known(value)
        return self.function(*bound.args, **bound.kwargs)


SERVED: dict[str, Served] = {}


def implements(
    identifier: str, *arrays: str, refuse: Refusal = lambda call: None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of this backend.

    Parameters
    ----------
    identifier : str
        The function of `scipy_dispatch`, such as ``"scipy_dispatch.ndimage:sobel"``.
    *arrays : str
        Which parameters take arrays.
    refuse : callable, optional
        Says why a call cannot be served; None if it can. Gets all arguments by name.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        served = Served(function, arrays, refuse, inspect.signature(function))

        @functools.wraps(function)
        def implementation(*args: Any, **kwargs: Any) -> Any:
            return served.call(args, kwargs)

        SERVED[identifier] = served
        return backend.implements(identifier, should_run=should_run)(implementation)

    return register


def should_run(context: DispatchContext, *args: Any, **kwargs: Any) -> bool | str:
    """Say whether a call can be served, without a look at the elements of JAX arrays.

    Returns
    -------
    bool or str
        True, or the reason why not.
    """
    module = context.function.partition(":")[0].removeprefix("scipy_dispatch.")
    import_module(f"{__package__}.{module}")
    served = SERVED[context.function]
    try:
        call = served.bind(args, kwargs).arguments
        return (
            _why_without_data(context, served, call)
            or _why_not(served, call)
            or served.refuse(call)
            or True
        )
    except (TypeError, ValueError, IndexError) as error:
        if any(map(is_traced, leaves((args, kwargs)))):
            # SciPy cannot be asked. The implementation raises what SciPy would.
            return True
        return f"the arguments do not fit: {error}"


def _why_without_data(context: DispatchContext, served: Served, call: dict[str, Any]) -> str | None:
    """Leave NumPy arrays to SciPy where a setting alone is a JAX array, unless the user asks."""
    if context.prioritized or jax.Array in context.types:
        return None
    names = [name for name, value in call.items() if any(map(is_jax, leaves(value)))]
    if not names or any(name in served.arrays for name in names):
        return None
    return f"only {names[0]}= is a JAX array, which holds no data"


def _why_not(served: Served, call: dict[str, Any]) -> str | None:
    for name, value in call.items():
        if name == "output":
            reason = _why_not_output(value)
        elif name in served.arrays:
            reason = _why_not_array(name, value)
        elif any(is_traced(each) for each in leaves(value)):
            reason = (
                f"{name}= is traced, but what there is to compute depends on its value; "
                "pass a number, or make the argument static"
            )
        else:
            reason = None
        if reason:
            return reason
    return None


def _why_not_output(output: Any) -> str | None:
    if any(output is each for each in (None, float, int, complex, bool)):
        return None
    if not isinstance(output, (str, type, np.dtype)):
        return (
            "output= is an array, and no implementation of JAX can write into one; "
            "pass a data type, or leave it out"
        )
    dtype = np.dtype(output)
    if is_floating(dtype) and dtype.itemsize < 4:
        return f"output= is {dtype}, which SciPy refuses; convert the result instead"
    return _why_not_dtype("output=", dtype)


def _why_not_array(name: str, value: Any) -> str | None:
    if name in ("cval", "fillvalue") and not _is_one_number(value):
        return f"{name}= is not one number"
    if is_jax(value):
        return _why_not_jax(name, value.dtype)
    if isinstance(value, list) and all(isinstance(each, Number) for each in leaves(value)):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        return _why_not_numpy(name, value)
    return None


def _is_one_number(value: Any) -> bool:
    if is_jax(value) or isinstance(value, np.ndarray):
        return bool(value.ndim == 0)
    return isinstance(value, (Number, np.generic))


def _why_not_jax(name: str, dtype: Any) -> str | None:
    if jnp.issubdtype(dtype, jax.dtypes.extended):
        return f"{name}= holds {dtype}, which are no numbers"
    # What is none of NumPy's own has fewer bits, but for one.
    if np.dtype(dtype).isbuiltin != 1 and dtype != jnp.bfloat16:
        return f"{name}= is of {dtype}; pass {name}.astype('float32'), or another with more bits"
    return None


def _why_not_numpy(name: str, array: np.ndarray) -> str | None:
    dtype = array.dtype
    is_number = is_integer(dtype) or is_floating(dtype) or is_complex(dtype)
    if not is_number or not dtype.isnative or dtype.char in "gG":
        return f"{name}= is of data type {dtype}, which JAX has not"
    if is_integer(dtype) and dtype.itemsize == 8 and not has_64_bits() and array.size:
        limits = np.iinfo(narrowed(dtype))
        if array.min() < limits.min or array.max() > limits.max:
            return f"{name}= holds integers of more than 32 bits; set jax_enable_x64"
    return None


def _why_not_dtype(what: str, dtype: np.dtype[Any]) -> str | None:
    try:
        has_it = narrowed(dtype) == dtype
    except TypeError:
        return f"{what}{dtype} is a data type that JAX has not"
    return None if has_it else f"{what}{dtype} is a data type of JAX only with jax_enable_x64"
