"""The implementations made from the table: the plan of a call is its strategy, or why not."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from scipy_dispatch.planning import PlannedBackend

from ._call import Call, dispatchable
from ._strategy import Strategy, ready, why_not
from ._table import TABLES

Plan: TypeAlias = "Callable[[], Any] | str"

backend = PlannedBackend("dask")


def implement_all(module: str, namespace: dict[str, Any]) -> None:
    """Add an implementation of every function of `module` in the table to `namespace`.

    Functions that the installed SciPy lacks are skipped.
    """
    library = import_module(module)
    for name, strategy in TABLES[module].items():
        if not hasattr(library, name):
            continue
        plan = _plan_of(f"{module}:{name}", strategy)
        plan.__name__ = plan.__qualname__ = name
        plan.__module__ = namespace["__name__"]
        # The documentation of the library's function shows the first paragraph.
        plan.__doc__ = (
            "Lazy: takes Dask arrays, and computes nothing before the result is computed.\n\n"
            f"The arguments are those of `{module}.{name}`, and so are the values."
        )
        namespace[name] = backend.plans(f"{module}:{name}")(plan)


def _plan_of(identifier: str, strategy: Strategy) -> Callable[..., Plan]:
    function = dispatchable(identifier)

    def plan(*args: Any, **kwargs: Any) -> Plan:
        try:
            call = Call.bind(function, args, kwargs)
            reason = why_not(strategy, call)
        except (TypeError, ValueError, IndexError, AttributeError):
            # The arguments are invalid. The strategy calls SciPy, which raises the error.
            return lambda: strategy.run(ready(strategy, Call.bind(function, args, kwargs)))
        return reason or (lambda: strategy.run(ready(strategy, call)))

    return plan
