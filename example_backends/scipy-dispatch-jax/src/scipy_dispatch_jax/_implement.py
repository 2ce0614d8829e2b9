"""The registration of implementations, each as a plan: what runs a call, or why not."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from numbers import Number

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
    Refusal: TypeAlias = "Callable[[dict[str, Any]], str | None]"

backend = BackendImplementation("jax")

# The parameters for values beyond the ends.
_FILLS = ("cval", "fillvalue")


@dataclass(frozen=True)
class Served:
    """A function with the conditions that its arguments must meet.

    Attributes
    ----------
    function : callable
        The implementation, with SciPy's parameters.
    arrays : tuple of str
        The parameters that may be JAX arrays, including traced ones. The values of all other
        parameters must be known while JAX traces.
    refuse : callable
        Takes all arguments by name; returns the reason why the call is not supported, or None.
    signature : inspect.Signature
        The signature of `function`.
    """

    function: Callable[..., Any]
    arrays: tuple[str, ...]
    refuse: Refusal
    signature: inspect.Signature

    def bind(self, args: Any, kwargs: Any) -> inspect.BoundArguments:
        """Return the arguments by name, with defaults for missing ones.

        Raises
        ------
        TypeError
            If the arguments do not fit the signature.
        """
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound

    def settle(self, call: dict[str, Any]) -> None:
        """Normalize the arguments in place.

        Settings that are JAX arrays become known values. Lists that contain numbers or arrays
        become arrays. For an integer array, a known fill value becomes a Python number, because
        whether the integer type can hold it decides whether the call is supported.
        """
        for name, value in call.items():
            if name not in self.arrays or (name == "window" and isinstance(value, tuple)):
                call[name] = known(value)
            elif is_list(value):
                has_jax = any(map(is_jax, leaves(value)))
                call[name] = jnp.asarray(value) if has_jax else np.asarray(value)
            elif (
                name in _FILLS
                and is_jax(value)
                and not is_traced(value)
                and is_integer(dtype_of(call[self.arrays[0]]))
            ):
                call[name] = known(value)

    def call(self, args: Any, kwargs: Any, **others: Any) -> Any:
        """Call the function; `others` override arguments with the same names."""
        bound = self.bind(args, kwargs)
        bound.arguments.update(others)
        self.settle(bound.arguments)
        return self.function(*bound.args, **bound.kwargs)


def implements(
    identifier: str, *arrays: str, refuse: Refusal = lambda call: None
) -> Callable[[Callable[..., Any]], Planned]:
    """Return a decorator that registers an implementation with this backend.

    Parameters
    ----------
    identifier : str
        The function of `scipy_dispatch`, such as ``"scipy_dispatch.ndimage:sobel"``.
    *arrays : str
        The parameters that take arrays.
    refuse : callable, optional
        Takes all arguments by name; returns the reason why the call is not supported, or None.
    """

    def register(function: Callable[..., Any]) -> Planned:
        signature = inspect.signature(function)
        served = Served(function, arrays, refuse, signature)

        def plan(context: DispatchContext | None, /, *args: Any, **kwargs: Any) -> Plan:
            return _plan(served, context, args, kwargs)

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(plan, name, getattr(function, name))
        first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_ONLY)
        parameters = [first, *signature.parameters.values()]
        plan.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return backend.plans(identifier, uses_context=True)(plan)

    return register


def _plan(served: Served, context: DispatchContext | None, args: Any, kwargs: Any) -> Plan:
    """Return what runs a call, or why it is not supported; reads no elements of JAX arrays."""
    try:
        bound = served.bind(args, kwargs)
        call = bound.arguments
        reason = _why_without_data(context, served, call) or _why_not(served, call)
        if reason is None:
            served.settle(call)
            reason = served.refuse(call) or _why_not_there(served, call, args, kwargs)
        return reason or (lambda: served.function(*bound.args, **bound.kwargs))
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        if any(map(is_traced, leaves((args, kwargs)))):
            # SciPy cannot report the error for tracers. The implementation raises the same
            # error.
            return lambda: served.call(args, kwargs)
        return f"the arguments do not fit: {error}"


def _why_without_data(
    context: DispatchContext | None, served: Served, call: dict[str, Any]
) -> str | None:
    """Reject a call in which only a setting is a JAX array, unless the user requests JAX."""
    if context is None or context.prioritized or jax.Array in context.types:
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


def _why_not_there(served: Served, call: dict[str, Any], args: Any, kwargs: Any) -> str | None:
    """Return why JAX cannot compute with the placement of the arrays; None if it can."""
    arrays = {name: call[name] for name in served.arrays if is_jax(call.get(name))}
    if are_apart(list(arrays.values())):
        return f"{' and '.join(f'{name}=' for name in arrays)} are on different devices"
    names = [name for name, value in arrays.items() if is_split(value)]
    if not names:
        return None
    try:
        # Only JAX knows for which functions and axes it can infer the sharding of the result.
        jax.eval_shape(lambda: served.call(args, kwargs))
    except Exception as error:  # noqa: BLE001 - JAX raises several classes of exceptions
        if _raises_anyway(served, args, kwargs, arrays):
            # The arguments are invalid, and the implementation raises SciPy's error.
            return None
        first = str(error).partition("\n")[0].rstrip(".")
        return (
            f"{names[0]}= is sharded over explicit axes of a mesh, with which JAX says: {first}. "
            "Use jax.sharding.auto_axes, or reshard"
        )
    return None


def _raises_anyway(served: Served, args: Any, kwargs: Any, arrays: dict[str, Any]) -> bool:
    """Return whether a call fails even for unsharded arrays of the same shapes."""
    alike = {name: jax.ShapeDtypeStruct(x.shape, x.dtype) for name, x in arrays.items()}
    try:
        jax.eval_shape(lambda others: served.call(args, kwargs, **others), alike)
    except Exception:  # noqa: BLE001 - any error means that the arguments are invalid
        return True
    return False


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
