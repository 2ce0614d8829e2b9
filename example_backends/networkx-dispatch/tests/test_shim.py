"""NetworkX's functions stay what they are, and dispatch through spatch_core."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from typing import Any

import networkx as nx
import pytest
from networkx.algorithms.flow import edmonds_karp

from networkx_dispatch import backend_opts, functions, system
from networkx_dispatch_loopback import LoopbackGraph, from_networkx, to_networkx
from spatch_core import NoImplementationError

SAME = """
import inspect, sys
import networkx as nx
from networkx import pagerank
from networkx.utils.backends import _registered_algorithms

def looks():
    return {
        name: (id(each), each.__qualname__, each.__module__, each.__doc__,
               str(inspect.signature(each)), type(each).__name__)
        for name, each in _registered_algorithms.items()
    }

before = looks()
import networkx_dispatch
assert looks() == before
assert nx.pagerank is pagerank
G = nx.path_graph(3)
with networkx_dispatch.backend_opts(trace=True) as trace:
    pagerank(G)
assert trace[0].function == "networkx.algorithms.link_analysis.pagerank_alg:pagerank"
"""


def test_names_that_are_bound_already_dispatch_and_look_the_same() -> None:
    """Importing the shim late changes no function's identity, signature or docstring."""
    subprocess.run([sys.executable, "-c", SAME], check=True)


def test_every_function_but_constructors_is_dispatchable() -> None:
    """A constructor cannot be dispatchable: a class decides by itself what it makes."""
    names = nx.utils.backends._registered_algorithms.keys()
    assert all(name in functions or name.endswith("graph__new__") for name in names)
    assert len(system.functions) == len(functions) > 700
    assert type(nx.DiGraph(backend="networkx")) is nx.DiGraph


@pytest.mark.parametrize("name", ["pagerank", "tournament_is_strongly_connected", "union_all"])
def test_a_dispatchable_has_the_identity_of_its_function(name: str) -> None:
    """The identifier is where the function is defined, so that it can be imported."""
    record = nx.utils.backends._registered_algorithms[name].__wrapped__
    function = functions[name]
    assert f"{record.__module__}:{record.__qualname__}" in system.functions
    assert inspect.signature(function) == inspect.signature(record.orig_func)
    assert function.__doc__.startswith(record.orig_func.__doc__.rstrip())


def test_functions_are_pickled_by_reference() -> None:
    assert pickle.loads(pickle.dumps(nx.pagerank)) is nx.pagerank


def test_results_without_options_are_those_of_networkx() -> None:
    """Both backends are installed, and neither runs for NetworkX's graphs unasked."""
    graph = nx.karate_club_graph()
    with backend_opts(trace=True) as trace:
        assert nx.pagerank(graph) == functions["pagerank"].__wrapped__(graph)
    assert {event.backend for event in trace} == {"default"}


@pytest.mark.parametrize("how", ["position", "name"])
def test_graphs_are_found_by_position_and_by_name(how: str) -> None:
    """The dispatch arguments are those that NetworkX records."""
    first, second = from_networkx(nx.path_graph(3)), from_networkx(nx.path_graph(3))
    for one, two in ((first, second), (first, nx.path_graph(3)), (nx.path_graph(3), second)):
        with backend_opts(trace=True, fallback="convert") as trace:
            if how == "position":
                assert nx.is_isomorphic(one, two)
            else:
                assert nx.is_isomorphic(G2=two, G1=one)
        assert "loopback" in [event.backend for event in trace]


def test_an_optional_graph_counts_if_it_is_given() -> None:
    """`auxiliary?` is the fifth parameter, and may be None."""
    graph = nx.icosahedral_graph()
    auxiliary = nx.algorithms.connectivity.build_auxiliary_node_connectivity(graph)
    find = functions["local_node_connectivity"]
    assert len(find.explain(graph, 0, 6).types) == 1
    explanation = find.explain(graph, 0, 6, None, from_networkx(auxiliary))
    assert len(explanation.types) == 2


@pytest.mark.parametrize("make", [list, tuple, iter])
def test_a_list_of_graphs_dispatches_on_its_elements(make: Any) -> None:
    """An iterator is not exhausted by the search."""
    graphs = [nx.path_graph(2), nx.cycle_graph(3)]
    assert len(nx.disjoint_union_all(make(graphs))) == 5
    with backend_opts(fallback="convert"):
        result: Any = nx.disjoint_union_all(make([from_networkx(each) for each in graphs]))
    assert type(result) is LoopbackGraph
    assert nx.utils.graphs_equal(to_networkx(result), nx.disjoint_union_all(graphs))


def test_a_backend_for_one_call() -> None:
    """`backend=` is NetworkX's own keyword; `"networkx"` is the default implementation."""
    graph = nx.path_graph(3)
    with backend_opts(trace=True) as trace:
        assert nx.pagerank(graph, backend="roundtrip") == nx.pagerank(graph, backend="networkx")
    assert trace[0].backend == "roundtrip"
    assert trace[-1].backend == "default"
    with pytest.raises(ImportError, match="'absent' backend is not installed"):
        nx.pagerank(graph, backend="absent")


def test_the_backend_of_one_call_must_have_the_function() -> None:
    """NetworkX says so with the same class of exception."""
    with pytest.raises(NotImplementedError, match="loopback"):
        nx.pagerank(nx.path_graph(3), backend="loopback")


def test_priority() -> None:
    """Options in force choose the backend, for a block of code."""
    with backend_opts(prioritize="roundtrip", trace=True) as trace:
        nx.maximum_flow_value(_network(), 0, 2, flow_func=edmonds_karp)
    assert trace[0].backend == "roundtrip"


def test_a_priority_for_one_function() -> None:
    """A hook prioritizes in the calls of this function, and in those that it makes itself."""

    def first(call: Any) -> Any:
        if call.function != "networkx.algorithms.cluster:triangles":
            return call.next(*call.args, **call.kwargs)
        with backend_opts(prioritize="roundtrip"):
            return call.callable(*call.args, **call.kwargs)

    graph = nx.complete_graph(4)
    with backend_opts(hook=first, trace=True) as trace:
        assert nx.clustering(graph) == dict.fromkeys(graph, 1.0)
        assert {each.backend for each in trace} == {"default"}
        assert nx.triangles(graph) == dict.fromkeys(graph, 3)
    assert "roundtrip" in {each.backend for each in trace}


def _network() -> nx.DiGraph:
    graph = nx.DiGraph()
    nx.add_path(graph, [0, 1, 2], capacity=3)
    return graph


def test_graphs_of_a_backend_are_never_read_by_accident() -> None:
    """The library's policy is "raise": it names every backend and what would help."""
    with pytest.raises(NoImplementationError, match="loopback"):
        nx.pagerank(from_networkx(nx.path_graph(3)))


def test_a_backend_runs_what_it_implements() -> None:
    graph = nx.empty_graph(3)
    loopback: Any = from_networkx(graph)
    with backend_opts(trace=True) as trace:
        assert nx.number_of_isolates(loopback) == nx.number_of_isolates(graph) == 3
    assert trace[0].backend == "loopback"
    assert nx.number_of_isolates(loopback, backend="loopback") == 3


def test_nodes_alone_do_for_some_functions() -> None:
    """The library names further types that its functions accept; they are not foreign."""
    assert nx.community.is_partition(nx.path_graph(3).nodes, [{0, 1}, {2}])
