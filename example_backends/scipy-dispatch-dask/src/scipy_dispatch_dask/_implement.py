"""The implementations made from the table, and their `should_run`."""

from __future__ import annotations

from importlib import import_module

from spatch_core import BackendImplementation

from ._call import bind
from ._strategy import ready, why_not
from ._table import TABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spatch_core import DispatchContext

    from ._strategy import Strategy

backend = BackendImplementation("dask")


def should_run(context: DispatchContext, *args: Any, **kwargs: Any) -> bool | str:
    """Decide whether the strategy for ``context.function`` supports these arguments.

    Returns
    -------
    bool or str
        True, or the reason why it does not.
    """
    module, _, name = context.function.partition(":")
    strategy = TABLES[module][name]
    try:
        return why_not(strategy, bind(context.function, args, kwargs)) or True
    except (TypeError, ValueError, IndexError, AttributeError):
        # The arguments are invalid. The implementation calls SciPy, which raises the error.
        return True


def implement_all(module: str, namespace: dict[str, Any]) -> None:
    """Add an implementation of every function of `module` in the table to `namespace`.

    Parameters
    ----------
    module : str
        A module of `scipy_dispatch`. Functions that the installed SciPy lacks are skipped.
    namespace : dict
        The globals of the module that holds the implementations.
    """
    library = import_module(module)
    for name, strategy in TABLES[module].items():
        if not hasattr(library, name):
            continue
        identifier = f"{module}:{name}"
        implementation = _implementation(identifier, strategy)
        implementation.__name__ = implementation.__qualname__ = name
        implementation.__module__ = namespace["__name__"]
        # The documentation of the library's function shows the first paragraph.
        implementation.__doc__ = (
            "Lazy: takes Dask arrays, and computes nothing before the result is computed.\n\n"
            f"The arguments are those of `{module}.{name}`, and so are the values."
        )
        namespace[name] = backend.implements(identifier, should_run=should_run)(implementation)


def _implementation(identifier: str, strategy: Strategy) -> Callable[..., Any]:
    def implementation(*args: Any, **kwargs: Any) -> Any:
        return strategy.run(ready(strategy, bind(identifier, args, kwargs)))

    return implementation
