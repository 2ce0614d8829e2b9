"""The registration of implementations, each as a plan: what runs a call, or why not."""

from __future__ import annotations

import inspect
from importlib import import_module
from numbers import Number
from types import SimpleNamespace

import numpy as np

from spatch_core import BackendImplementation

from ._arrays import (
    dtype_of,
    has_64_bits,
    is_complex,
    is_floating,
    is_integer,
    is_jax,
    is_list,
    is_traced,
    known,
    leaves,
    narrowed,
)
from ._jax import jax, jnp
from ._placement import are_apart, is_split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from spatch_core import DispatchContext
    from spatch_core.types import Planned

    Plan: TypeAlias = "Callable[[], Any] | str"

backend = BackendImplementation("jax")

TRACES = "Supports tracing."
"""The documentation of functions whose results have no slopes."""
# The parameters for values beyond the ends.
_FILLS = ("cval", "fillvalue")


class Call(SimpleNamespace):
    """The arguments of a call, by the names of SciPy's parameters, with defaults for missing ones.

    Attributes
    ----------
    axes
        None, unless SciPy's function has such a parameter: older releases lack some.
    """

    axes: Any = None

    def but(self, **others: Any) -> Call:
        """Return the call with other values for some arguments."""
        return Call(**{**vars(self), **others})


def implements(
    module: str,
    arrays: str,
    refuse: Callable[[Call], str | None] = lambda call: None,
    name: str = "",
    docs: str = "Supports tracing and differentiation.",
) -> Callable[[Callable[[Call], Any]], Planned]:
    """Return a decorator that registers an implementation, a function of a `Call`.

    Calls are bound once, with the signature of SciPy's function.

    Parameters
    ----------
    module : str
        The module of SciPy's function, such as ``"ndimage"``.
    arrays : str
        The parameters that may be JAX arrays, including traced ones. The values of all other
        parameters must be known while JAX traces.
    refuse : callable, optional
        Takes the call; returns the reason why it is not supported, or None.
    name : str, optional
        The function's name, if it is not that of the decorated function.
    docs : str, optional
        What the documentation says of the implementation, before its docstring.
    """

    def register(function: Callable[[Call], Any]) -> Planned:
        title = name or function.__name__
        signature = inspect.signature(getattr(import_module(f"scipy.{module}"), title))
        served = _Served(function, arrays.split(), refuse, signature)

        def plan(context: DispatchContext | None, /, *args: Any, **kwargs: Any) -> Plan:
            return served.plan(context, args, kwargs)

        plan.__module__ = function.__module__
        plan.__doc__ = f"{docs} {function.__doc__ or ''}".strip()
        plan.__name__ = plan.__qualname__ = title
        first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_ONLY)
        parameters = [first, *signature.parameters.values()]
        plan.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return backend.plans(f"scipy_dispatch.{module}:{title}", uses_context=True)(plan)

    return register


class _Served:
    """A function with the conditions that its arguments must meet."""

    def __init__(
        self,
        function: Callable[[Call], Any],
        arrays: list[str],
        refuse: Callable[[Call], str | None],
        signature: inspect.Signature,
    ) -> None:
        self.function, self.arrays, self.refuse = function, arrays, refuse
        self.signature = signature

    def bound(self, args: Any, kwargs: Any) -> Call:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        call = Call(**bound.arguments)
        output = self.signature.parameters.get("output")
        if output is not None and output.default is np.float64 and call.output is np.float64:
            call.output = float  # the widest that JAX has
        return call

    def settle(self, call: Call) -> Call:
        """Normalize the arguments in place.

        Settings that are JAX arrays become known values. Lists that contain numbers or arrays
        become arrays. For an integer array, a known fill value becomes a Python number, because
        whether the integer type can hold it decides whether the call is supported.
        """
        for name, value in vars(call).items():
            if name not in self.arrays or (name == "window" and isinstance(value, tuple)):
                setattr(call, name, known(value))
            elif is_list(value):
                has_jax = any(map(is_jax, leaves(value)))
                setattr(call, name, jnp.asarray(value) if has_jax else np.asarray(value))
            elif (
                name in _FILLS
                and is_jax(value)
                and not is_traced(value)
                and is_integer(dtype_of(getattr(call, self.arrays[0])))
            ):
                setattr(call, name, known(value))
        return call

    def plan(self, context: DispatchContext | None, args: Any, kwargs: Any) -> Plan:
        """Return what runs a call, or why it is not supported; reads no elements of JAX arrays."""
        try:
            call = self.bound(args, kwargs)
            reason = _why_without_data(context, self, call) or _why_not(self, call)
            if reason is None:
                self.settle(call)
                reason = self.refuse(call) or _why_not_there(self, call)
            return reason or (lambda: self.function(call))
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            if any(map(is_traced, leaves((args, kwargs)))):
                # SciPy cannot report the error for tracers. The implementation raises the same
                # error.
                return lambda: self.function(self.settle(self.bound(args, kwargs)))
            return f"the arguments do not fit: {error}"


def _why_without_data(context: DispatchContext | None, served: _Served, call: Call) -> str | None:
    """Reject a call in which only a setting is a JAX array, unless the user requests JAX."""
    if context is None or context.prioritized or jax.Array in context.types:
        return None
    names = [name for name, value in vars(call).items() if any(map(is_jax, leaves(value)))]
    if not names or any(name in served.arrays for name in names):
        return None
    return f"only {names[0]}= is a JAX array, which holds no data"


def _why_not(served: _Served, call: Call) -> str | None:
    for name, value in vars(call).items():
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
    if name in _FILLS:
        if not _is_one_number(value):
            return f"{name}= is not one number"
    elif name == "window" and isinstance(value, (str, tuple)):
        if any(map(is_traced, leaves(value))):
            return "window= is a name with a traced number; pass the window as an array"
        return None
    elif is_list(value) and any(map(is_jax, leaves(value))):
        reasons = (_why_not_array(name, each) for each in leaves(value))
        return next(filter(None, reasons), None)
    elif is_list(value) or isinstance(value, (Number, np.generic)):
        value = np.asarray(value)
    if is_jax(value):
        return _why_not_jax(name, value.dtype)
    return _why_not_numpy(name, value) if isinstance(value, np.ndarray) else None


def _is_one_number(value: Any) -> bool:
    if is_jax(value) or isinstance(value, np.ndarray):
        return bool(value.ndim == 0)
    return isinstance(value, (Number, np.generic)) and not isinstance(value, np.flexible)


def _why_not_there(served: _Served, call: Call) -> str | None:
    """Return why JAX cannot compute with the placement of the arrays; None if it can."""
    given = vars(call)
    arrays = {name: given[name] for name in served.arrays if is_jax(given.get(name))}
    if are_apart(list(arrays.values())):
        return f"{' and '.join(f'{name}=' for name in arrays)} are on different devices"
    names = [name for name, value in arrays.items() if is_split(value)]
    if not names:
        return None
    try:
        # Only JAX knows for which functions and axes it can infer the sharding of the result.
        jax.eval_shape(lambda: served.function(call))
    except Exception as error:  # noqa: BLE001 - JAX raises several classes of exceptions
        alike = {name: jax.ShapeDtypeStruct(x.shape, x.dtype) for name, x in arrays.items()}
        try:
            jax.eval_shape(lambda others: served.function(call.but(**others)), alike)
        except Exception:  # noqa: BLE001 - any error means that the arguments are invalid
            return None  # the implementation raises SciPy's error
        first = str(error).partition("\n")[0].rstrip(".")
        return (
            f"{names[0]}= is sharded over explicit axes of a mesh, with which JAX says: {first}. "
            "Use jax.sharding.auto_axes, or reshard"
        )
    return None


def _why_not_jax(name: str, dtype: Any) -> str | None:
    if jnp.issubdtype(dtype, jax.dtypes.extended):
        return f"{name}= holds {dtype}, which are no numbers"
    # Of the types that are not NumPy's own, only bfloat16 has enough bits.
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
