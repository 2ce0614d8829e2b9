"""``spatch-core order``: the order with its reasons, as text, as JSON and as a graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Site

FRACTIONS = 'primary_types = ["fractions:Fraction"]\n'


@pytest.fixture
def studio(paint: Site) -> Site:
    """Backends with an edge of each kind."""
    paint.install_backend("acrylic", FRACTIONS + 'lower_priority_than = ["water"]\n')
    paint.install_backend("water", FRACTIONS + 'higher_priority_than = ["absent"]\n')
    return paint


@pytest.fixture
def circles(paint: Site) -> Site:
    """Two pairs of backends, each of which wants to be first."""
    for one, other in (("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")):
        paint.install_backend(one, FRACTIONS + f'higher_priority_than = ["{other}"]\n')
    return paint


def edges_of(answer: Any) -> list[tuple[str, str, str, str | None]]:
    return [(e["before"], e["after"], e["origin"], e["declared_by"]) for e in answer["edges"]]


def test_every_edge_has_its_reason(studio: Site) -> None:
    """P3: the reason says where the edge comes from; the strongest edges are first."""
    answer = studio.run("order", "paintlib", "--edges", PAINTLIB_SET_ORDER="water>oil")
    text = answer.output
    assert text.startswith(
        "paintlib: first goes first\n#  BACKEND  TYPES               REASON\n1  "
    )
    assert (
        "Edges:\n"
        "  water before oil: PAINTLIB_SET_ORDER says water>oil\n"
        "  water before acrylic: acrylic declares lower_priority_than = water\n"
        "  default before oil: the primary types of default (builtins:int) are more specific"
    ) in text
    assert "Where no edge says otherwise:\n  the library itself is first" in text
    assert (answer.code, answer.errors) == (0, "")


def test_each_backend_has_one_short_reason(studio: Site) -> None:
    """P3: it is that of its strongest edge; an option shows all edges."""
    studio.install_backend("wax", 'primary_types = ["builtins:str"]\n')
    answer = studio.run("order", "paintlib", PAINTLIB_SET_ORDER="water>oil")
    assert [row[1::2] for row in answer.rows[2:7]] == [
        ["default", "before oil: narrower types"],
        ["water", "before oil: PAINTLIB_SET_ORDER says water>oil"],
        ["acrylic", "after water: acrylic declares it"],
        ["oil", "after water: PAINTLIB_SET_ORDER says water>oil"],
        ["wax", "by name"],
    ]
    assert answer.output.endswith("by name\n\n5 backends, 4 edges; no problems\n")
    assert "Edges:" not in answer.output
    mended = studio.run("order", "paintlib").rows
    assert ["4", "oil", "fractions:Fraction", "after acrylic: wider types"] in mended


def test_edges_that_take_part_in_no_call_are_told_apart(paint: Site) -> None:
    """P1: an edge counts only if both backends are candidates."""
    blur = '[functions."paintlib:blur"]\nfunction = "m:f"\n'
    higher = 'higher_priority_than = ["oil"]\n'
    paint.install_backend("water", FRACTIONS + higher)
    paint.install_backend("wax", FRACTIONS + "requires_opt_in = true\n" + higher + blur)
    paint.install_backend("ink", FRACTIONS + 'higher_priority_than = ["default"]\n' + blur)
    paint.install_backend("chalk", FRACTIONS + 'higher_priority_than = ["ink"]\n' + blur)
    edges = paint.run("order", "paintlib", "--json").json["edges"]
    void = {(each["before"], each["after"]): each["void"] for each in edges}
    assert void["water", "oil"] == "they implement no function in common"
    assert void["wax", "oil"] == "wax is inactive, or prioritized and goes first"
    assert void["ink", "default"] == (
        "the library's own go before backends that are merely installed"
    )
    assert void["chalk", "ink"] == ""
    text = paint.run("order", "paintlib", "--edges").output
    _, text = text.split("Edges that take part in no call:\n")
    assert "  water before oil: they implement no function in common\n" in text
    assert "chalk before ink" not in text.partition("Where no edge says otherwise")[0]
    placed = paint.run("order", "paintlib", "--json", PAINTLIB_SET_ORDER="ink>default").json
    (edge,) = [each for each in placed["edges"] if each["after"] == "default"]
    assert edge["void"] == ""


def test_the_order_is_the_one_in_force(studio: Site) -> None:
    """Backends that the environment prioritizes go first, under a title of their own."""
    answer = studio.run("order", "paintlib", "--json", PAINTLIB_PRIORITIZE="oil")
    assert answer.json["order"] == ["default", "water", "acrylic", "oil"]
    assert answer.json["prioritized"] == ["oil"]
    text = studio.run("order", "paintlib", PAINTLIB_PRIORITIZE="oil").output
    assert "Before all:\n  oil: PAINTLIB_PRIORITIZE puts them first\n" in text


def test_backends_that_are_not_used_are_not_in_the_order(studio: Site) -> None:
    """They are listed below; a broken one is a problem."""
    studio.install_backend("wax", "primary_types = 1\n")
    answer = studio.run("order", "paintlib", PAINTLIB_BLOCK="water")
    assert "Not in the order:\n  water (blocked)\n  wax (broken)\n" in answer.output
    place = f"paint-wax 1.0, {studio.folder}/paint_wax/backend.toml"
    assert f"\n\nProblems\nwax ({place}):\n  primary_types: 1 is not a list" in answer.output
    assert answer.code == 1


def test_cycles_are_shown_with_what_mends_them(circles: Site) -> None:
    """Each has a value of SET_ORDER, and one value breaks all of them."""
    answer = circles.run("order", "paintlib")
    _, cycles = answer.output.split("Cycles:\n")
    assert cycles.startswith(
        "  a before b before a. Set PAINTLIB_SET_ORDER='a>b'\n"
        "  c before d before c. Set PAINTLIB_SET_ORDER='c>d'\n"
        "  All at once: PAINTLIB_SET_ORDER='a>b,c>d'\n"
        "\n"
        "6 backends, 5 edges; 2 problems\n"
    )
    assert "skipped" not in answer.output
    assert answer.code == 1
    assert "Not in the order" not in answer.output
    record = circles.run("order", "paintlib", "--json").json
    assert record["order"] == ["default", "a", "b", "c", "d", "oil"]
    assert record["cycles"][0] == {
        "path": ["a", "b", "a"], "members": ["a", "b"], "set_order": "a>b",
    }  # fmt: skip
    mended = circles.run("order", "paintlib", "--json", PAINTLIB_SET_ORDER=record["set_order"])
    assert mended.json["order"] == ["default", "a", "b", "c", "d", "oil"]
    assert (mended.json["cycles"], mended.json["set_order"], mended.code) == ([], None, 0)


@pytest.mark.parametrize("form", ["--dot", "--mermaid"])
def test_the_graph_has_the_order_and_every_edge(studio: Site, form: str) -> None:
    """Nodes and edges are those of the JSON."""
    record = studio.run("order", "paintlib", "--json").json
    answer = studio.run("order", "paintlib", form)
    parse = parse_dot if form == "--dot" else parse_mermaid
    names, edges = parse(answer.output)
    assert names == [f"{number}. {name}" for number, name in enumerate(record["order"], 1)]
    assert edges == [
        (
            f"{record['order'].index(e['before']) + 1}. {e['before']}",
            f"{record['order'].index(e['after']) + 1}. {e['after']}",
            e["reason"],
        )
        for e in record["edges"]
    ]
    assert (answer.code, answer.errors) == (0, "")


def test_with_a_graph_problems_go_to_stderr(circles: Site) -> None:
    """The graph itself stays valid."""
    answer = circles.run("order", "paintlib", "--dot")
    names = ["default", "a", "b", "c", "d", "oil"]
    assert parse_dot(answer.output)[0] == [f"{n}. {name}" for n, name in enumerate(names, 1)]
    assert "the declared priorities form a cycle: a before b before a" in answer.errors
    assert answer.code == 1


def test_a_library_that_cannot_be_used_is_told(paint: Site) -> None:
    """There is no order, and the problem is reported."""
    (paint.folder / "paintlib" / "_dispatch.py").write_text("1 / 0", encoding="utf-8")
    answer = paint.run("order", "paintlib")
    assert "library 'paintlib' cannot be used" in answer.errors
    assert (answer.code, answer.output) == (1, "")


def parse_dot(text: str) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Read nodes and edges by the grammar of quoted strings in Graphviz, all of the text."""
    quoted = r'"((?:[^"\\]|\\.)*)"'

    def unquoted(each: str) -> str:
        return re.sub(r"\\(.)", r"\1", each)

    first, *lines, last = text.splitlines()
    assert re.fullmatch(f"digraph {quoted} {{", first)
    assert (lines.pop(0), last) == ("    node [shape=box];", "}")
    labels: dict[str, str] = {}
    edges = []
    for line in lines:
        found = re.fullmatch(rf"    {quoted}(?: -> {quoted})? \[label={quoted}\];", line)
        assert found, line
        if found[2] is None:
            labels[found[1]] = unquoted(found[3])
        else:
            edges.append((labels[found[1]], labels[found[2]], unquoted(found[3])))
    return list(labels.values()), edges


def parse_mermaid(text: str) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Read nodes and edges by the grammar of quoted labels in Mermaid, all of the text."""

    def decoded(each: str) -> str:
        return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), each)

    first, comment, *lines = text.splitlines()
    assert first == "flowchart TD"
    assert comment.startswith("    %% ")
    labels: dict[str, str] = {}
    edges = []
    for line in lines:
        node = re.fullmatch(r'    (n\d+)\["([^"]*)"\]', line)
        edge = re.fullmatch(r'    (n\d+) -->\|"([^"]*)"\| (n\d+)', line)
        if node:
            labels[node[1]] = decoded(node[2])
        else:
            assert edge, line
            edges.append((labels[edge[1]], labels[edge[3]], decoded(edge[2])))
    return list(labels.values()), edges
