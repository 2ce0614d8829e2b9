"""Conversions in calls: what they keep, what is converted back, and what is kept for later."""

from __future__ import annotations

import inspect
from typing import Any

import networkx as nx
import pytest

import networkx_dispatch_loopback
from networkx_dispatch import backend_opts
from networkx_dispatch_loopback import LoopbackGraph, from_networkx, to_networkx


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> list[nx.Graph]:
    """Give what every conversion from a graph of NetworkX makes."""
    made: list[nx.Graph] = []
    convert = networkx_dispatch_loopback.LoopbackGraph.__init__

    def note(self: LoopbackGraph, content: nx.Graph) -> None:
        made.append(content)
        convert(self, content)

    monkeypatch.setattr(networkx_dispatch_loopback.LoopbackGraph, "__init__", note)
    return made


@pytest.fixture
def graph() -> nx.Graph:
    """Give a graph with attributes of several kinds."""
    made = nx.Graph(name="sample")
    made.add_node(0, size=1, colour="red")
    made.add_edge(0, 1, weight=3, length=5)
    made.add_edge(1, 2, length=7)
    return made


@pytest.mark.parametrize(
    ("call", "kept"),
    [
        pytest.param(nx.triangles, [{}, {}], id="no attribute"),
        pytest.param(nx.pagerank, [{"weight": 3}, {"weight": 1}], id="default of edge_attrs"),
        pytest.param(
            lambda g: nx.pagerank(g, weight="length"),
            [{"length": 5}, {"length": 7}],
            id="edge_attrs",
        ),
        pytest.param(lambda g: nx.pagerank(g, weight=None), [{}, {}], id="edge_attrs is None"),
        pytest.param(
            lambda g: nx.shortest_path(g, 0, 2, weight=lambda u, v, data: data["length"]),
            [{"weight": 3, "length": 5}, {"length": 7}],
            id="a function reads all of them",
        ),
    ],
)
def test_edges_keep_the_attributes_that_the_function_may_read(
    call: Any, kept: Any, graph: nx.Graph, conversions: list[nx.Graph]
) -> None:
    """NetworkX's own record says which, and the default of one that is missing."""
    with backend_opts(prioritize="roundtrip"):
        result = call(graph)
    assert [conversions[0].edges[edge] for edge in ((0, 1), (1, 2))] == kept
    assert result == (pytest.approx(call(graph)) if type(result) is dict else call(graph))


def test_nodes_keep_the_attributes_that_the_function_may_read(
    graph: nx.Graph, conversions: list[nx.Graph]
) -> None:
    nx.set_node_attributes(graph, "red", "colour")
    with backend_opts(prioritize="roundtrip"):
        nx.attribute_mixing_dict(graph, "colour")
    assert conversions[0].nodes[0] == {"colour": "red"}


def test_what_a_function_writes_reaches_the_graph(graph: nx.Graph) -> None:
    """Attributes that the function does not read stay."""
    with backend_opts(prioritize="roundtrip"):
        assert nx.set_node_attributes(graph, {0: 2}, "size") is None
        assert nx.relabel_nodes(graph, {2: 9}, copy=False) is graph
        relabelled = nx.relabel_nodes(graph, {9: 8})
    assert graph.nodes[0] == {"size": 2, "colour": "red"}
    assert graph.edges[1, 9] == {"length": 7}
    assert relabelled.edges[1, 8] == {"length": 7}


def test_a_generator_function_runs_step_by_step() -> None:
    """The graph is converted when the function is called; its code runs step by step."""
    loopback: Any = from_networkx(nx.path_graph(4))
    with backend_opts(fallback="convert"):
        absent = nx.bfs_edges(loopback, "absent")
        edges = nx.bfs_edges(loopback, 0)
    with pytest.raises(nx.NetworkXError):
        next(absent)
    assert inspect.isgenerator(edges)
    assert list(edges) == [(0, 1), (1, 2), (2, 3)]


def test_the_calls_of_a_generator_function_are_not_converted_again(
    graph: nx.Graph, conversions: list[nx.Graph]
) -> None:
    """Neither when it starts, nor in its steps: `girvan_newman` looks for components in each."""
    with backend_opts(prioritize="roundtrip"):
        found = list(nx.community.girvan_newman(graph))
    assert found == [({0}, {1, 2}), ({0}, {1}, {2})]
    assert len(conversions) == 1


def test_a_graph_is_converted_once_while_unchanged(
    graph: nx.Graph, conversions: list[nx.Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The conversion uses NetworkX's cache, which every method that changes a graph empties."""
    monkeypatch.setattr(nx.config, "cache_converted_graphs", True)
    monkeypatch.setattr(nx.config, "warnings_to_ignore", {"cache"})
    with backend_opts(prioritize="roundtrip"):
        first = nx.pagerank(graph)
        assert nx.pagerank(graph) == first
        assert nx.triangles(graph)[0] == 0  # needs less than what is kept
        assert len(conversions) == 1
        graph.add_edge(0, 2)
        assert nx.pagerank(graph) != first
        assert nx.triangles(graph)[0] == 1
        assert len(conversions) == 2


def test_graphs_of_the_backend_come_back_as_such() -> None:
    """Two conversions and nothing else: all functions work with its type, and write into it."""
    loopback: Any = from_networkx(nx.karate_club_graph())
    with backend_opts(fallback="convert"):
        tree: Any = nx.minimum_spanning_tree(loopback)
        assert type(tree) is LoopbackGraph
        expected = nx.minimum_spanning_tree(nx.karate_club_graph())
        assert nx.utils.graphs_equal(to_networkx(tree), expected)
        assert nx.set_node_attributes(loopback, 5, "size") is None
        assert nx.relabel_nodes(loopback, {2: 99}, copy=False) is loopback
    assert to_networkx(loopback).nodes[99]["size"] == 5
