"""Backends that are written for NetworkX, and know nothing of spatch_core.

Such a distribution, as nx-parallel and graphblas-algorithms, has two entry points. That in
``networkx.backend_info`` names a function that says which of NetworkX's functions the backend has;
NetworkX calls it when it is imported. That in ``networkx.backends`` names an object which has them
as methods, and converts graphs; NetworkX imports it when it is first needed. `describe` makes a
description of the first, and `run` calls the second.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import networkx as nx
from networkx.utils.backends import _load_backend

from spatch_core import IF_NEEDED, DispatchContext

__all__ = ["describe"]


class GraphsOf(type):
    """The class of an abstract class of all graphs that name a backend of NetworkX."""

    def __subclasscheck__(cls, other: type) -> bool:
        return getattr(other, "__networkx_backend__", None) == cls.__name__


def __getattr__(name: str) -> type:
    """Make the class for the type pattern ``@networkx_dispatch.installed:parallel``."""
    if name not in nx.utils.backends.backends:
        raise AttributeError(f"NetworkX has no backend {name!r}")
    made = globals()[name] = GraphsOf(name, (), {"__module__": __name__})
    return made


def describe(name: str, info: Mapping[str, Any], records: Mapping[str, Any]) -> dict[str, Any]:
    """Make a description of a backend; only what NetworkX has imported already is read.

    Parameters
    ----------
    name : str
        The name of its entry points.
    info : mapping
        What the function of its entry point in ``networkx.backend_info`` returns.
    records : mapping
        What NetworkX has recorded about its functions, by identifier.
    """
    table = info.get("functions", {})
    calls = Calls(name, records)
    return {
        "name": name,
        "primary_types": [f"@{__name__}:{name}", "~networkx:Graph"],
        "to_default": calls.to_networkx,
        "from_default": calls.from_networkx,
        "functions": {
            identifier: {
                "function": calls.run,
                "should_run": calls.should_run,
                "uses_context": True,
                "additional_docs": table[record.name].get("additional_docs", ""),
            }
            for identifier, record in records.items()
            if record.name in table
        },
    }


class Calls:
    """Calls the object that a backend's entry point names.

    Parameters
    ----------
    name : str
        The backend's name.
    records : mapping
        What NetworkX has recorded about its functions, by identifier.
    """

    def __init__(self, name: str, records: Mapping[str, Any]) -> None:
        self.name = name
        self.records = records

    def load(self) -> Any:
        """Return what the entry point names."""
        try:
            return _load_backend(self.name)
        except Exception as error:
            message = (
                f"NetworkX's backend {self.name!r} cannot be imported: {error}. To do without, "
            )
            message += f"set NETWORKX_DISPATCH_BLOCK={self.name}"
            raise ImportError(message) from error

    def is_own(self, context: DispatchContext) -> list[bool]:
        """Say for each type of graphs whether it is the backend's."""
        return [issubclass(each, __getattr__(self.name)) for each in context.types]

    def should_run(self, context: DispatchContext, /, *args: Any, **kwargs: Any) -> Any:
        """Ask the backend as NetworkX does: whether it can run, and whether to convert for it."""
        record, backend = self.records[context.function], self.load()
        # By position, because `should_run` of nx-parallel 0.4 takes no names.
        bound = record.__signature__.bind(*args, **kwargs)
        answer = backend.can_run(record.name, bound.args, bound.kwargs)
        is_own = self.is_own(context)
        if answer is not True or all(is_own):
            return answer
        if record._will_call_mutate_input(args, kwargs):
            return "it would change converted graphs"
        answer = backend.should_run(record.name, bound.args, bound.kwargs)
        # Only a backend takes its own graphs; else NetworkX's functions do as well.
        return IF_NEEDED if answer is not True and any(is_own) else answer

    def run(self, context: DispatchContext, /, *args: Any, **kwargs: Any) -> Any:
        """Convert graphs of NetworkX, and the result if there were no others; call the backend."""
        record, backend = self.records[context.function], self.load()
        method, is_own = getattr(backend, record.name), self.is_own(context)
        if all(is_own):
            return method(*args, **kwargs)
        keep = nx.config.cache_converted_graphs
        args, kwargs = record._convert_arguments(
            self.name, args, kwargs, use_cache=keep, mutations=None
        )
        result = method(*args, **kwargs)
        return result if any(is_own) else backend.convert_to_nx(result, name=record.name)

    def to_networkx(self, graph: Any) -> Any:
        """Convert one of the backend's graphs; a graph of NetworkX stays as it is."""
        if not issubclass(type(graph), __getattr__(self.name)):
            return graph
        return self.load().convert_to_nx(graph)

    def from_networkx(self, graph: nx.Graph) -> Any:
        """Convert a graph of NetworkX with all attributes; None if the backend cannot."""
        with suppress(NotImplementedError):
            return self.load().convert_from_nx(
                graph,
                preserve_edge_attrs=True,
                preserve_node_attrs=True,
                preserve_graph_attrs=True,
            )
