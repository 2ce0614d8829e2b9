"""NetworkX's dispatchable functions, dispatched by spatch_core.

Importing this package is all: from then on, NetworkX's own functions (`networkx.pagerank`) look
for backends here. Every name that is bound to one of them, anywhere, follows: these are plain
functions that call an object of NetworkX's class `_dispatchable`, and that class gets another
`__call__`, as NetworkX itself gives it one for its tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from types import GeneratorType
from typing import Any

from networkx.utils.backends import (
    _dispatchable,
    _registered_algorithms,
    backend_info,
    backends,
)

from spatch_core import BackendSystem

from . import installed

__all__ = ["backend_opts", "functions", "records", "system"]

system = BackendSystem(
    "networkx_dispatch.backends",
    "NETWORKX_DISPATCH",
    default_primary_types=["~networkx:Graph"],
    # `is_partition(G.nodes, communities)` is fine with the nodes alone.
    default_secondary_types=["~networkx.classes.reportviews:NodeView"],
    fallback="raise",
    defer_on=[NotImplementedError],
)
backend_opts = system.backend_opts


def _make_dispatchable(record: Any) -> Callable[..., Any]:
    """Make what spatch_core dispatches of what NetworkX has recorded about a function."""
    decorate = system.dispatchable(
        list(record.graphs),
        inside=list(record.list_graphs),
        # Some write only where `copy` is false; then nothing has changed otherwise.
        mutates=list(record.graphs) if record.mutates_input else (),
    )
    return decorate(_lazily(record.orig_func))


class Steps:
    """An iterator in place of a generator, for which conversions refuse to run."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator

    def __iter__(self) -> Iterator[Any]:
        return iter(self.generator)


def _lazily(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function dispatch when it is called, as NetworkX does, also if it is a generator."""

    @wraps(function)
    def default(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return Steps(result) if type(result) is GeneratorType else result

    return default


functions = {
    name: _make_dispatchable(function.__wrapped__)
    for name, function in _registered_algorithms.items()
    if not name.endswith("__new__")
}
"""The dispatchable functions by the names under which NetworkX dispatches."""
records = {
    f"{record.__module__}:{record.__qualname__}": record
    for record in (_registered_algorithms[name].__wrapped__ for name in functions)
}
"""What NetworkX has recorded about its functions, by identifier."""

for _name in backends:
    system.register(installed.describe(_name, backend_info[_name], records))


def _call(record: Any, /, *args: Any, backend: str | None = None, **kwargs: Any) -> Any:
    """Call the function that NetworkX has recorded; the new `__call__` of `_dispatchable`."""
    function: Any = functions.get(record.name)
    if function is None:
        return record._call_if_no_backends_installed(*args, backend=backend, **kwargs)
    if record.list_graphs:
        # Finding the dispatch arguments must not exhaust an iterator.
        args, kwargs = _with_lists(record, args, kwargs)
    if backend is not None:
        backend = "default" if backend == "networkx" else backend
        if backend not in system.backends:
            raise ImportError(f"'{backend}' backend is not installed")
        function = function.invoke(backend=backend, force=True)  # as NetworkX does
    result = function(*args, **kwargs)
    return result.generator if type(result) is Steps else result


def _with_lists(record: Any, args: Any, kwargs: Any) -> Any:
    (name,) = record.list_graphs
    if args:
        return (list(args[0]), *args[1:]), kwargs
    return args, {**kwargs, name: list(kwargs[name])}


_dispatchable.__call__ = _call
