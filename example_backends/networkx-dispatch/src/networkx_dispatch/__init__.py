"""NetworkX's dispatchable functions, dispatched by spatch_core.

Importing this package is all: from then on, NetworkX's own functions (`networkx.pagerank`) look
for backends here. Every name that is bound to one of them, anywhere, follows: these are plain
functions that call an object of NetworkX's class `_dispatchable`, and that class gets another
`__call__`, as NetworkX itself gives it one for its tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from networkx.utils.backends import _dispatchable, _registered_algorithms
from spatch_core import BackendSystem

__all__ = ["backend_opts", "functions", "system"]

system = BackendSystem(
    "networkx_dispatch.backends",
    "NETWORKX_DISPATCH",
    default_primary_types=["~networkx:Graph"],
)
backend_opts = system.backend_opts


def _make_dispatchable(record: Any) -> Callable[..., Any]:
    """Make what spatch_core dispatches of what NetworkX has recorded about a function."""
    graphs: Any = list(record.graphs)
    if record.list_graphs:
        (name,) = record.list_graphs

        def graphs(*args: Any, **kwargs: Any) -> Any:
            return args[0] if args else kwargs[name]

    decorate = system.dispatchable(
        graphs, module=record.__module__, qualname=record.__qualname__
    )
    return decorate(record.orig_func)


functions = {
    name: _make_dispatchable(function.__wrapped__)
    for name, function in _registered_algorithms.items()
    if not name.endswith("__new__")
}
"""The dispatchable functions by the names under which NetworkX dispatches."""


def _call(record: Any, /, *args: Any, backend: str | None = None, **kwargs: Any) -> Any:
    """Call the function that NetworkX has recorded; the new `__call__` of `_dispatchable`."""
    function: Any = functions.get(record.name, record.orig_func)
    if record.list_graphs:
        # Finding the dispatch arguments must not exhaust an iterator.
        args, kwargs = _with_lists(record, args, kwargs)
    if backend is None or function is record.orig_func:
        return function(*args, **kwargs)
    backend = "default" if backend == "networkx" else backend
    if backend not in system.backends:
        raise ImportError(f"'{backend}' backend is not installed")
    return function.invoke(backend=backend)(*args, **kwargs)


def _with_lists(record: Any, args: Any, kwargs: Any) -> Any:
    (name,) = record.list_graphs
    if args:
        return (list(args[0]), *args[1:]), kwargs
    return args, {**kwargs, name: list(kwargs[name])}


_dispatchable.__call__ = _call
