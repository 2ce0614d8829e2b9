"""The registration of implementations, each as a plan: what runs a call, or why not."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

import numpy as np

from scipy_dispatch.planning import Planned, PlannedBackend
from spatch_core import DispatchContext, backend_utils

from ._arrays import is_jax, is_traced, leaves, mapped
from ._call import Call
from ._jax import jnp
from ._refusals import why_not

__all__ = ["TRACES", "Call", "backend", "implements", "require", "warn_caller"]

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
