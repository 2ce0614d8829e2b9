"""Runs NetworkX's functions for NetworkX's graphs by way of loopback graphs.

Every call converts its graphs and its result, in both directions. The functions that NetworkX's
own tests call run with conversion in this way.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import networkx as nx
from networkx.utils.backends import _loaded_backends

from networkx_dispatch import Steps, backend_opts, functions, records
from networkx_dispatch_loopback import (
    LoopbackGraph,
    copy_graph,
    fill,
    from_networkx,
    to_networkx,
)


def _convert_from_nx(
    graph: Any,
    *,
    edge_attrs: dict[str, Any] | None,
    node_attrs: dict[str, Any] | None,
    preserve_edge_attrs: bool,
    preserve_node_attrs: bool,
    **_: Any,
) -> LoopbackGraph:
    """Convert a graph, with the attributes that the function may read and no others."""
    edge = dict if preserve_edge_attrs else _selection(edge_attrs or {})
    node = dict if preserve_node_attrs else _selection(node_attrs or {})
    return LoopbackGraph(copy_graph(graph, edge, node))


def _selection(wanted: dict[str, Any]) -> Callable[[Any], dict[str, Any]]:
    def select(attributes: Any) -> dict[str, Any]:
        return {
            name: attributes.get(name, default)
            for name, default in wanted.items()
            if default is not None or name in attributes
        }

    return select


# NetworkX's own `_convert_arguments` finds the conversion of a backend here.
_loaded_backends["loopback"] = SimpleNamespace(convert_from_nx=_convert_from_nx)


DESCRIPTION = {
    "name": "roundtrip",
    "primary_types": ["~networkx:Graph"],
    "requires_opt_in": True,
    "functions": {
        identifier: {
            "function": "networkx_dispatch_loopback.roundtrip:run",
            "uses_context": True,
        }
        for identifier in records
    },
}


NESTED: dict[str, Any] = {"disable": "roundtrip", "fallback": "convert"}
"""Options for the calls that a function of NetworkX makes itself: they are converted no more."""


def run(context: Any, *args: Any, **kwargs: Any) -> Any:
    """Run any function of NetworkX; the implementation of all of them."""
    with backend_opts(**NESTED):
        return _run(context, args, kwargs)


def _run(context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    record = records[context.function]
    function = functions[record.name]
    if record._will_call_mutate_input(args, kwargs):
        # A function that writes into a graph leaves all else as it is.
        bound = record.__signature__.bind(*args, **kwargs)
        pairs = []
        for name in record.graphs:
            original = bound.arguments[name]
            if original is not None:
                bound.arguments[name] = from_networkx(original)
                pairs.append((original, bound.arguments[name]))
        result = function(*bound.args, **bound.kwargs)
        for original, converted in pairs:
            fill(original, to_networkx(converted))
        return _back(result, {id(converted): original for original, converted in pairs})
    args, kwargs = record._convert_arguments(
        "loopback",
        args,
        kwargs,
        use_cache=nx.config.cache_converted_graphs,
        mutations=None,
    )
    return _back(function(*args, **kwargs), {})


def _back(result: Any, originals: dict[int, Any]) -> Any:
    """Convert a result, or the graphs in a container or from a generator."""
    if type(result) is LoopbackGraph:
        original = originals.get(id(result))
        return to_networkx(result) if original is None else original
    if type(result) in (list, tuple):
        return type(result)(_back(each, originals) for each in result)
    if type(result) is dict:
        return {key: _back(each, originals) for key, each in result.items()}
    if type(result) is Steps:
        return Steps(_back_one_by_one(result.generator, originals))
    return result


def _back_one_by_one(results: Any, originals: dict[int, Any]) -> Any:
    """Run the steps of a generator function, which make calls of their own."""
    while True:
        with backend_opts(**NESTED):
            try:
                each = next(results)
            except StopIteration:
                return
        yield _back(each, originals)
