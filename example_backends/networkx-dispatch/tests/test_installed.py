"""Backends that are written for NetworkX's own dispatching, and know nothing of spatch_core."""

from __future__ import annotations

from pathlib import Path

from spatch_core.testing import run_python, write_distribution

FILES = {
    "sample_info.py": """
def get_info():
    functions = {each: {} for each in ("triangles", "complement", "relabel_nodes", "of_tomorrow")}
    functions["triangles"] = {"additional_docs": "Counts."}
    return {"functions": functions}
""",
    "sample_backend.py": """
import networkx as nx

class SampleGraph:
    __networkx_backend__ = "sample"

    def __init__(self, content):
        self.content = content

    def is_directed(self):
        return self.content.is_directed()

    def is_multigraph(self):
        return self.content.is_multigraph()

class Interface:
    @staticmethod
    def convert_from_nx(graph, *, edge_attrs=None, preserve_edge_attrs=False, **_):
        if preserve_edge_attrs and any(data for *_, data in graph.edges(data=True)):
            raise NotImplementedError
        return SampleGraph(graph.copy())

    @staticmethod
    def convert_to_nx(result, *, name=None):
        return result.content if isinstance(result, SampleGraph) else result

    @staticmethod
    def can_run(name, args, kwargs):
        return name != "triangles" or args[1] is None or "it counts all"

    @staticmethod
    def should_run(name, args, kwargs):
        return len(args[0]) > 2 if isinstance(args[0], nx.Graph) else False

    @staticmethod
    def triangles(graph, nodes=None, unit=None):
        return "sample", unit

    @staticmethod
    def complement(graph):
        return SampleGraph(nx.complement(graph.content, backend="networkx"))

    @staticmethod
    def relabel_nodes(graph, mapping, copy=True):
        return SampleGraph(nx.relabel_nodes(graph.content, mapping, backend="networkx"))
""",
}

PROGRAM = """
import sys
import networkx as nx, pytest
import networkx_dispatch
from networkx_dispatch import backend_opts, functions, system

graph = nx.path_graph(3)
assert [*functions["triangles"].backends][-1] == "sample"
assert "Counts." in functions["triangles"].__doc__
assert len(system.backends["sample"].functions) == 3
assert nx.triangles(graph) == {0: 0, 1: 0, 2: 0}  # merely installed
assert "sample_backend" not in sys.modules

with backend_opts(prioritize="sample"):
    assert nx.triangles(graph) == ("sample", None)
    assert type(nx.complement(graph)) is nx.Graph
    assert nx.triangles(nx.path_graph(2)) == {0: 0, 1: 0}  # should_run
    assert nx.triangles(graph, 0) == 0  # can_run
    assert "it counts all" in str(functions["triangles"].explain(graph, nodes=0))
    assert nx.relabel_nodes(graph, {0: 5}, copy=False) is graph and 5 in graph
assert nx.triangles(graph, backend="sample", unit=1) == ("sample", 1)

from sample_backend import SampleGraph
own = SampleGraph(graph)
assert nx.triangles(own) == ("sample", None)
assert type(nx.complement(own)) is SampleGraph
with pytest.raises(TypeError, match="sample +has no implementation"):
    nx.center(own)
with backend_opts(fallback="convert"):
    assert nx.center(own) == [1]
    assert type(nx.line_graph(own)) is SampleGraph
    assert type(nx.ego_graph(own, 1)) is SampleGraph
"""


def run(tmp_path: Path, program: str, files: dict[str, str]) -> None:
    points = {
        "networkx.backends": {"sample": "sample_backend:Interface"},
        "networkx.backend_info": {"sample": "sample_info:get_info"},
    }
    write_distribution(tmp_path, "nx-sample", files=files, entry_points=points)
    variables = {"NETWORKX_CACHE_CONVERTED_GRAPHS": ""}
    run_python(program, path=[tmp_path], environment=variables, options=["-W", "error"])


def test_both_entry_points_are_read_as_networkx_reads_them(tmp_path: Path) -> None:
    """A description is made of the first; the second is imported when a call needs it."""
    run(tmp_path, PROGRAM, FILES)


def test_a_backend_that_cannot_be_imported_is_described(tmp_path: Path) -> None:
    """As nx-cugraph without a GPU: the error of a call that asks for it names it."""
    program = """
import networkx as nx, pytest
from networkx_dispatch import backend_opts

graph = nx.path_graph(3)
assert nx.triangles(graph) == {0: 0, 1: 0, 2: 0}
with backend_opts(prioritize="sample"), pytest.raises(ImportError, match="BLOCK=sample"):
    nx.triangles(graph)
"""
    run(tmp_path, program, {**FILES, "sample_backend.py": "import no_gpu_here"})
