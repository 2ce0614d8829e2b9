"""CuPy in, CuPy out: the implementations made from the map, and their `should_run`."""

from __future__ import annotations

from importlib import import_module

from ._arrays import compute
from ._backends import cupy as backend
from ._call import Call, cupyx_function
from ._device import first_line
from ._limits import LEFT_OUT, why_not
from ._map import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spatch_core import BackendImplementation, DispatchContext


def should_run(context: DispatchContext, *args: Any, **kwargs: Any) -> bool | str:
    """Decide whether CuPy supports these arguments.

    Returns
    -------
    bool or str
        True, or the reason why it does not.
    """
    module, name = names_of(context.function)
    try:
        cupyx_function(module, name)
    except Exception as error:  # noqa: BLE001 - a broken installation fails in many ways
        return f"CuPy cannot run this here: {first_line(error)}"
    try:
        return why_not(Call.bind(module, name, args, kwargs)) or True
    except Exception:  # noqa: BLE001 - rules raise any exception for invalid arguments
        # The arguments are invalid. The function that runs reports the error.
        return True


def names_of(identifier: str) -> tuple[str, str]:
    """Return the module and the name in an identifier such as ``"scipy_dispatch.fft:dct"``."""
    module, _, name = identifier.removeprefix("scipy_dispatch.").partition(":")
    return module, name


def implement_all(module: str, namespace: dict[str, Any]) -> None:
    """Add an implementation of every function of `module` in the map to `namespace`.

    Parameters
    ----------
    module : str
        ``"ndimage"``, ``"signal"`` or ``"fft"``.
    namespace : dict
        The globals of the module that holds the implementations.
    """
    for name in FUNCTIONS[module]:
        if name not in LEFT_OUT[module]:
            docs = (
                "CuPy arrays in, CuPy arrays out, on the GPU.\n\n"
                f"`cupyx.scipy.{module}.{name}` with the arguments of SciPy's."
            )
            implement(module, name, namespace, backend, should_run, compute, docs)


def implement(
    module: str,
    name: str,
    namespace: dict[str, Any],
    backend: BackendImplementation,
    should_run: Callable[..., bool | str],
    run: Callable[[Call], Any],
    docs: str,
) -> None:
    """Register an implementation and add it to a namespace, unless SciPy lacks the function.

    Parameters
    ----------
    module, name : str
        The function of `scipy_dispatch`.
    namespace : dict
        The globals of the module that holds the implementation.
    backend : BackendImplementation
        The backend on which the implementation is registered.
    should_run : callable
        The `should_run` of the implementation.
    run : callable
        Takes the call with its arguments bound; returns the result.
    docs : str
        The docstring of the implementation.
    """
    if not hasattr(import_module(f"scipy_dispatch.{module}"), name):
        return

    def implementation(*args: Any, **kwargs: Any) -> Any:
        return run(Call.bind(module, name, args, kwargs))

    implementation.__name__ = implementation.__qualname__ = name
    implementation.__module__ = namespace["__name__"]
    implementation.__doc__ = docs
    namespace[name] = backend.implements(f"scipy_dispatch.{module}:{name}")(implementation)
    backend.set_should_run(implementation)(should_run)
