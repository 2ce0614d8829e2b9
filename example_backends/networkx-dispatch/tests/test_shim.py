"""NetworkX's functions stay what they are, and dispatch through spatch_core."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from networkx.algorithms.flow import edmonds_karp

from networkx_dispatch import backend_opts, functions, records, system
from networkx_dispatch_loopback import LoopbackGraph, from_networkx, to_networkx
from spatch_core import NoImplementationError
from spatch_core.testing import run_python

SAME = """
import inspect, pickle
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
assert nx.pagerank is pagerank is pickle.loads(pickle.dumps(nx.pagerank))
graph = nx.path_graph(3)
with networkx_dispatch.backend_opts(trace=True) as trace:
    pagerank(graph)
assert trace[0].function == "networkx.algorithms.link_analysis.pagerank_alg:pagerank"
assert {event.backend for event in trace} == {"default"}
"""


def test_names_that_are_bound_already_dispatch_and_look_the_same() -> None:
    """Importing the shim late changes no function's identity, signature or docstring."""
    run_python(SAME)


def test_every_function_but_constructors_is_dispatchable() -> None:
    """With the identifier of where it is defined. A class decides by itself what it makes."""
    names = nx.utils.backends._registered_algorithms.keys()
    assert all(name in functions or name.endswith("graph__new__") for name in names)
    assert set(system.functions) == set(records)
    assert len(system.functions) == len(functions) > 700
    assert type(nx.DiGraph(backend="networkx")) is nx.DiGraph
    for record in records.values():
        function = functions[record.name]
        assert inspect.signature(function) == inspect.signature(record.orig_func)


def test_graphs_are_found_by_position_and_by_name() -> None:
    """The dispatch arguments are those that NetworkX records; an optional one counts if given."""
    loopback, graph = from_networkx(nx.path_graph(3)), nx.path_graph(3)
    for args, names in (
        ((loopback, graph), {}),
        ((graph, loopback), {}),
        ((), {"G2": loopback, "G1": graph}),
    ):
        with backend_opts(trace=True, fallback="convert") as trace:
            assert nx.is_isomorphic(*args, **names)
        assert "loopback" in [event.backend for event in trace]
    graph = nx.icosahedral_graph()
    auxiliary = nx.algorithms.connectivity.build_auxiliary_node_connectivity(graph)
    find = functions["local_node_connectivity"]  # `auxiliary?` is the fifth parameter
    assert len(find.explain(graph, 0, 6).types) == 1
    assert len(find.explain(graph, 0, 6, None, from_networkx(auxiliary)).types) == 2


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
    assert (trace[0].backend, trace[-1].backend) == ("roundtrip", "default")
    with pytest.raises(ImportError, match="'absent' backend is not installed"):
        nx.pagerank(graph, backend="absent")
    with pytest.raises(NotImplementedError, match="loopback"):
        nx.pagerank(graph, backend="loopback")  # it does not have the function


def test_priority() -> None:
    """Options in force choose the backend, for a block of code."""
    graph = nx.DiGraph()
    nx.add_path(graph, [0, 1, 2], capacity=3)
    with backend_opts(prioritize="roundtrip", trace=True) as trace:
        assert nx.maximum_flow_value(graph, 0, 2, flow_func=edmonds_karp) == 3
    assert trace[0].backend == "roundtrip"


def test_graphs_of_a_backend_are_never_read_by_accident() -> None:
    """The library's policy is "raise"; the backend runs what it implements."""
    loopback: Any = from_networkx(nx.empty_graph(3))
    with pytest.raises(NoImplementationError, match="loopback"):
        nx.pagerank(loopback)
    with backend_opts(trace=True) as trace:
        assert nx.number_of_isolates(loopback) == 3
    assert trace[0].backend == "loopback"
    # Some functions are fine with the nodes alone, which are not foreign.
    assert nx.community.is_partition(nx.path_graph(3).nodes, [{0, 1}, {2}])


def test_the_examples_of_the_readme_run() -> None:
    page = str(Path(__file__).parents[1] / "README.md")
    failures, tests = doctest.testfile(page, module_relative=False)
    assert tests
    assert not failures
