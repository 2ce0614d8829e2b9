"""Graphs of a class that NetworkX cannot read, and their conversions: a backend of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx

from spatch_core import BackendImplementation

__all__ = ["LoopbackGraph", "copy_into", "from_networkx", "number_of_isolates", "to_networkx"]

loopback = BackendImplementation("loopback")

Keep = Callable[[Any], Any]
"""Gives what is kept of the attributes of an edge or of a node."""


class LoopbackGraph:
    """A graph that none of NetworkX's functions can read, as if it were on another device.

    Parameters
    ----------
    content : nx.Graph
        Its content, which belongs to it alone.
    """

    __networkx_backend__ = "loopback"

    def __init__(self, content: nx.Graph) -> None:
        self.content = content

    # NetworkX asks these two of every graph before it dispatches (`not_implemented_for`).
    def is_directed(self) -> bool:
        """Whether its edges have a direction."""
        return isinstance(self.content, nx.DiGraph)

    def is_multigraph(self) -> bool:
        """Whether two nodes may have several edges between them."""
        return isinstance(self.content, nx.MultiGraph)


def from_networkx(graph: nx.Graph) -> LoopbackGraph:
    """Convert a graph of NetworkX, with all that it holds."""
    return LoopbackGraph(copy_graph(graph))


def to_networkx(graph: LoopbackGraph) -> nx.Graph:
    """Convert back to the class that the graph of NetworkX had."""
    return copy_graph(graph.content)


def copy_into(graph: LoopbackGraph, converted: nx.Graph) -> None:
    """Write what a function has made of a converted graph into the graph itself."""
    fill(graph.content, converted)


@loopback.implements("networkx.algorithms.isolate:number_of_isolates")
def number_of_isolates(G: LoopbackGraph) -> int:  # noqa: N803  # as NetworkX names it
    """Count the nodes without neighbours: the one function that reads loopback graphs itself."""
    return sum(degree == 0 for _, degree in G.content.degree)


def copy_graph(graph: nx.Graph, edge: Keep = dict, node: Keep = dict) -> nx.Graph:
    """Return an independent copy of a graph, or of a view of one.

    ``graph.copy()`` would lose the order of the predecessors of a node, on which results depend.
    """
    result = type(graph)()
    fill(result, graph, edge, node)
    return result


def fill(target: nx.Graph, graph: nx.Graph, edge: Keep = dict, node: Keep = dict) -> None:
    """Give `target` the content of another graph of its class, in the same order."""

    def new_edge(attributes: Any) -> Any:
        new = target.edge_attr_dict_factory()
        new.update(edge(attributes))
        return new

    def new_edges(attributes: Any) -> Any:
        new = target.edge_key_dict_factory()
        new.update((key, new_edge(each)) for key, each in attributes.items())
        return new

    # `PlanarEmbedding.is_directed()` says False.
    is_directed = isinstance(graph, nx.DiGraph)
    new_cell = new_edges if graph.is_multigraph() else new_edge
    nodes = {each: target.node_attr_dict_factory() for each in graph._node}
    for each, attributes in nodes.items():
        attributes.update(node(graph._node[each]))
    rows: dict[Any, Any] = {each: target.adjlist_inner_dict_factory() for each in graph._adj}
    for start, row in rows.items():
        for end, attributes in graph._adj[start].items():
            # Both directions of an undirected edge share their attributes.
            known = not is_directed and start in rows[end]
            row[end] = rows[end][start] if known else new_cell(attributes)
    parts = [(target.graph, dict(graph.graph)), (target._node, nodes), (target._adj, rows)]
    if is_directed:
        columns = {each: target.adjlist_inner_dict_factory() for each in graph._pred}
        for end, column in columns.items():
            column.update((start, rows[start][end]) for start in graph._pred[end])
        parts.append((target._pred, columns))
    for old, new in parts:
        old.clear()
        old.update(new)
    nx._clear_cache(target)
