"""What conversions of graphs preserve: all that a function of NetworkX can read."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

from networkx_dispatch_loopback import (
    LoopbackGraph,
    copy_graph,
    copy_into,
    from_networkx,
    to_networkx,
)

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def sample(kind: type) -> Any:
    """Return a graph whose orders all differ from those that building it again would give."""
    graph: Any = kind(name="sample")
    graph.add_edge(3, 1, weight=2.0)
    graph.add_edge(1, 2, weight=[])
    graph.add_edge(3, 3)
    graph.add_edge(2, 3, colour="red")
    graph.add_node("alone", size=1)
    graph.remove_node(1)
    graph.add_edges_from([(1, 3), (2, 1)])
    return graph


def orders(graph: Any) -> Any:
    """Return all that can be read of a graph, in the orders in which it is read."""
    rows = [
        [[node, list(row.items())] for node, row in part.items()]
        for part in (graph._adj, getattr(graph, "_pred", graph._adj))
    ]
    return type(graph), graph.graph, list(graph._node.items()), rows


@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(kind: type) -> None:
    """The class, all attributes and all orders come back, in a graph that is independent."""
    graph = sample(kind)
    loopback = from_networkx(graph)
    assert type(loopback) is LoopbackGraph
    result: Any = to_networkx(loopback)
    assert orders(result) == orders(graph)
    # An algorithm may write at one end of an edge and read at the other.
    other = result._pred if result.is_directed() else result._adj
    for start, row in result._adj.items():
        assert all(edge is other[end][start] for end, edge in row.items())
    before = orders(sample(kind))
    nx.set_node_attributes(result, 7, "new")
    nx.set_edge_attributes(result, 7, "new")
    result.remove_node(3)
    result.graph["new"] = 7
    assert orders(graph) == before


def test_views_and_subclasses() -> None:
    """A subgraph view has dictionaries that are made anew whenever they are read."""
    for kind in KINDS:
        view = sample(kind).subgraph([3, 2])
        assert orders(copy_graph(view)) == orders(view.copy())
    embedding: Any = nx.check_planarity(nx.wheel_graph(5))[1]
    back: Any = to_networkx(from_networkx(embedding))
    back.check_structure()
    assert orders(back) == orders(embedding)


def test_copy_into_writes_into_the_graph_itself() -> None:
    loopback = from_networkx(nx.path_graph(3))
    changed = to_networkx(loopback)
    changed.remove_node(0)
    loopback.content.__networkx_cache__["backends"] = {"other": {}}
    copy_into(loopback, changed)
    assert loopback.content.__networkx_cache__ == {}
    assert list(to_networkx(loopback)) == [1, 2]
