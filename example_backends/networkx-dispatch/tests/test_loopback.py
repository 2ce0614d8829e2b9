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
    """The class, all attributes and all orders come back; values are the very objects."""
    graph = sample(kind)
    loopback = from_networkx(graph)
    assert type(loopback) is LoopbackGraph
    result = to_networkx(loopback)
    assert orders(result) == orders(graph)
    assert result is not graph


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_independent(kind: type) -> None:
    """Attributes that are set on a copy do not reach the original."""
    graph = sample(kind)
    before = orders(sample(kind))
    copy = copy_graph(graph)
    nx.set_node_attributes(copy, 7, "new")
    nx.set_edge_attributes(copy, 7, "new")
    copy.remove_node(3)
    copy.graph["new"] = 7
    assert orders(graph) == before


@pytest.mark.parametrize("kind", KINDS)
def test_both_views_of_an_edge_share_its_attributes(kind: type) -> None:
    """An algorithm may write at one end of an edge and read at the other."""
    copy = copy_graph(sample(kind))
    other = copy._pred if copy.is_directed() else copy._adj
    for start, row in copy._adj.items():
        for end in row:
            assert copy._adj[start][end] is other[end][start]


def test_a_view_becomes_a_graph() -> None:
    """A subgraph view has dictionaries that are made anew whenever they are read."""
    for kind in KINDS:
        view = sample(kind).subgraph([3, 2])
        assert orders(copy_graph(view)) == orders(view.copy())


def test_a_subclass_stays_what_it_is() -> None:
    embedding: Any = nx.check_planarity(nx.wheel_graph(5))[1]
    back: Any = to_networkx(from_networkx(embedding))
    assert type(back) is nx.PlanarEmbedding
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
