"""Conversions in calls: what they keep, what is converted back, and what is kept for later."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
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
        pytest.param(nx.triangles, {}, id="no attribute"),
        pytest.param(nx.pagerank, {"weight": 3}, id="default of edge_attrs"),
        pytest.param(lambda g: nx.pagerank(g, weight="length"), {"length": 5}, id="edge_attrs"),
        pytest.param(lambda g: nx.pagerank(g, weight=None), {}, id="edge_attrs is None"),
        pytest.param(
            lambda g: nx.shortest_path(g, 0, 2, weight=lambda u, v, data: data["length"]),
            {"weight": 3, "length": 5},
            id="a function reads all of them",
        ),
        pytest.param(nx.minimum_spanning_tree, {"weight": 3, "length": 5}, id="preserve_all"),
    ],
)
def test_edges_keep_the_attributes_that_the_function_may_read(
    call: Any, kept: Any, graph: nx.Graph, conversions: list[nx.Graph]
) -> None:
    """NetworkX's own record says which; the core knows nothing of them."""
    with backend_opts(prioritize="roundtrip"):
        result = call(graph)
    assert conversions[0].edges[0, 1] == kept
    if type(result) is dict:
        assert result == pytest.approx(call(graph))


def test_a_missing_attribute_gets_the_default_of_the_function(
    graph: nx.Graph, conversions: list[nx.Graph]
) -> None:
    """A backend with arrays of weights needs a number for every edge."""
    with backend_opts(prioritize="roundtrip"):
        nx.pagerank(graph)
    assert conversions[0].edges[1, 2] == {"weight": 1}


def test_nodes_keep_the_attributes_that_the_function_may_read(
    graph: nx.Graph, conversions: list[nx.Graph]
) -> None:
    nx.set_node_attributes(graph, "red", "colour")
    with backend_opts(prioritize="roundtrip"):
        nx.attribute_mixing_dict(graph, "colour")
    assert conversions[0].nodes[0] == {"colour": "red"}


def test_a_graph_in_the_result_is_a_graph_of_networkx(graph: nx.Graph) -> None:
    with backend_opts(prioritize="roundtrip"):
        tree: Any = nx.minimum_spanning_tree(graph)
        planar, embedding = nx.check_planarity(graph)
        triads: Any = nx.all_triads(nx.complete_graph(4, nx.DiGraph))
        assert {type(each) for each in triads} == {nx.DiGraph}
    assert nx.utils.graphs_equal(tree, nx.minimum_spanning_tree(graph))
    assert planar
    assert type(embedding) is nx.PlanarEmbedding


def test_what_a_function_writes_reaches_the_graph(graph: nx.Graph) -> None:
    """Attributes that the function does not read stay."""
    with backend_opts(prioritize="roundtrip"):
        assert nx.set_node_attributes(graph, {0: 2}, "size") is None
        assert nx.relabel_nodes(graph, {2: 9}, copy=False) is graph
    assert graph.nodes[0] == {"size": 2, "colour": "red"}
    assert graph.edges[1, 9] == {"length": 7}


def test_a_copy_leaves_the_graph_as_it_is(graph: nx.Graph) -> None:
    """Whether `relabel_nodes` writes into its graph depends on `copy`."""
    with backend_opts(prioritize="roundtrip"):
        relabelled = nx.relabel_nodes(graph, {2: 9})
    assert relabelled is not graph
    assert 9 not in graph
    assert 9 in relabelled


def test_a_generator_function_runs_step_by_step() -> None:
    """The graph is converted when the function is called; its code runs step by step."""
    loopback: Any = from_networkx(nx.path_graph(4))
    with backend_opts(fallback="convert"):
        edges: Iterator[Any] = nx.bfs_edges(loopback, "absent")
    with pytest.raises(nx.NetworkXError):
        next(edges)
    with backend_opts(fallback="convert"):
        edges = nx.bfs_edges(loopback, 0)
    assert inspect.isgenerator(edges)
    assert list(edges) == [(0, 1), (1, 2), (2, 3)]


def test_a_graph_is_converted_once_while_unchanged(
    graph: nx.Graph, conversions: list[nx.Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keeping converted graphs is the conversion's own business: here it uses NetworkX's cache.

    NetworkX empties the cache of a graph in every method that changes it.
    """
    monkeypatch.setattr(nx.config, "cache_converted_graphs", True)
    monkeypatch.setattr(nx.config, "warnings_to_ignore", {"cache"})
    with backend_opts(prioritize="roundtrip"):
        first = nx.pagerank(graph)
        assert nx.pagerank(graph) == first
        assert nx.triangles(graph)[0] == 0  # needs less than what is kept
        assert len(conversions) == 1
        graph.add_edge(0, 2)
        assert nx.pagerank(graph) != first
        assert len(conversions) == 2
        assert nx.triangles(graph)[0] == 1
        assert len(conversions) == 2


def test_graphs_of_the_backend_come_back_as_such() -> None:
    """A backend of a type, two conversions and nothing else: all functions work with its type."""
    loopback = from_networkx(nx.karate_club_graph())
    with backend_opts(fallback="convert"):
        ranks = nx.pagerank(loopback)
        tree: Any = nx.minimum_spanning_tree(loopback)
    assert ranks == nx.pagerank(nx.karate_club_graph())
    assert type(tree) is LoopbackGraph
    expected = nx.minimum_spanning_tree(nx.karate_club_graph())
    assert nx.utils.graphs_equal(to_networkx(tree), expected)


def test_a_graph_of_the_backend_is_changed_in_place() -> None:
    loopback: Any = from_networkx(nx.path_graph(3))
    with backend_opts(fallback="convert"):
        assert nx.set_node_attributes(loopback, 5, "size") is None
        assert nx.relabel_nodes(loopback, {2: 9}, copy=False) is loopback
    assert dict(to_networkx(loopback).nodes(data="size")) == {0: 5, 1: 5, 9: 5}
