"""The implementations, one for each function of the map: a plan says why not, or computes."""

from __future__ import annotations

from importlib import import_module

from scipy_dispatch.planning import PlannedBackend

from ._arrays import compute
from ._call import Call, cupyx_function
from ._limits import LEFT_OUT, why_not
from ._map import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Plan = Callable[..., Callable[[], Any] | str]

backend = PlannedBackend("cupy")


def implement_all(module: str, namespace: dict[str, Any]) -> None:
    """Add an implementation of every function of `module` in the map to `namespace`.

    Parameters
    ----------
    module : str
        ``"ndimage"``, ``"signal"`` or ``"fft"``.
    namespace : dict
        The globals of the module that holds the implementations.
    """
    ours = import_module(f"scipy_dispatch.{module}")
    names = [name for name in FUNCTIONS[module] if name not in LEFT_OUT[module]]
    plans = {name: _plan_of(module, name) for name in names if hasattr(ours, name)}
    backend.plans_each(f"scipy_dispatch.{module}", plans, namespace)


def _plan_of(module: str, name: str) -> Plan:
    def plan(*args: Any, **kwargs: Any) -> Callable[[], Any] | str:
        try:
            cupyx_function(module, name)
        except Exception as error:  # noqa: BLE001 - a broken installation fails in many ways
            return f"CuPy cannot run this here: {str(error).strip().partition(chr(10))[0]}"
        call = Call.bind(module, name, args, kwargs)
        try:
            reason = why_not(call)
        except Exception:  # noqa: BLE001 - rules raise any exception for invalid arguments
            reason = None  # CuPy reports the error
        return reason or (lambda: compute(call))

    plan.__doc__ = "CuPy arrays in, CuPy arrays out, on the GPU."
    return plan
