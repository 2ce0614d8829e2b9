"""The page holds what the commands print, and nothing in it is markup but its own."""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import combinations

from spatch_core.report.page import BASE_ORDER, DRAWN, ReportedLibrary, ReportedRun, draw, render
from tests.report.conftest import MARKUP, Elements, edge, library, recorded

NAMES = [f"oil{number}" for number in range(8)]


def test_texts_of_descriptions_are_texts(hostile: str) -> None:
    """The elements and attributes are the same as with harmless texts."""
    plain = render([library("x")], [ReportedRun("runx", [recorded("x")])], "today")
    one, other = Elements(hostile), Elements(plain)
    assert [(tag, [*each]) for tag, each in one.found] == [
        (tag, [*each]) for tag, each in other.found
    ]
    assert "img" not in {tag for tag, _ in one.found}
    assert "onerror" not in {name for _, each in one.found for name in each}
    for part in ("paintlib", "wrong", "mend", "the order", "because", "key", "lib:f"):
        assert any(part + MARKUP in text for each in one.texts.values() for text in each)


def test_the_data_of_the_script_survive(hostile: str) -> None:
    """They are JSON that cannot end its element."""
    (text,) = (
        each
        for each in re.findall(
            r'<script type="application/json" id="[\w-]+">(.*?)</script>', hostile
        )
    )
    assert json.loads(text) == library(MARKUP).data
    assert "<" not in text


def test_identifiers_are_unique() -> None:
    """It holds with several libraries and runs; labels and links refer to them."""
    runs = [ReportedRun("run.json", [recorded()])] * 2
    elements = Elements(render([library(), library()], runs, "today"))
    assert elements.texts["a"].count("paintlib") == 2 * 2  # among the contents, and in a table
    identifiers = [each["id"] for _, each in elements.found if "id" in each]
    assert len(identifiers) == len({*identifiers})
    named = {each["aria-labelledby"] for _, each in elements.found if "aria-labelledby" in each}
    named |= {each["href"].removeprefix("#") for each in elements.named("a")}
    assert named <= {*identifiers}


def test_the_library_itself_has_its_name_everywhere() -> None:
    """It is in the picture, the tables, and the text around them."""
    text = " ".join(render([library()], [], "today").split())
    assert ">1. own</text>" in text
    assert "more specific types. Before all: oil0, by the environment." in text
    assert "default</" not in text


def test_the_order_says_what_holds_without_arrows() -> None:
    """Arrows are explained only if there are any; an edge without effect has none."""
    void = edge("oil", "default", void="it takes part in no call")
    order = {"order": ["default", "oil"], "edges": [void], "prioritized": [], "cycles": []}
    order["functions"] = []
    text = unescape(render([ReportedLibrary(library().listed, "default", order)], [], "today"))
    assert f"Where no arrow says otherwise, {BASE_ORDER}." in text
    assert "An arrow puts" not in text
    assert "An arrow puts" in render([library()], [], "today")


def test_a_library_that_cannot_be_used() -> None:
    """The page shows its problem, and omits the parts that need a system."""
    problem = {"backend": None, "key": None, "message": "it is broken", "remedy": "Mend it"}
    nowhere = dict.fromkeys(("entry_point", "file", "distribution", "version"))
    listed = {"name": "broken", "group": None, "environ_prefix": None, "backend": None, **nowhere}
    listed["functions"] = None
    found = ReportedLibrary(
        {**listed, "backends": [], "problems": [{**problem, **nowhere}]}, "default"
    )
    text = render([found], [], "today")
    assert "it is broken. Mend it." in text
    assert "The library cannot be used" in text
    assert "<svg" not in text
    assert found.severities == {"problem": 1}
    assert "No library is registered" in render([], [], "today")


def test_the_strongest_and_shortest_are_drawn() -> None:
    """Edges are sorted by strength, then by length."""
    weak = [edge(a, b, "type specificity") for a, b in combinations(NAMES, 2)]
    strong = edge("oil0", "oil7", "environment")
    picture = draw(NAMES, [strong, *weak], 8)
    assert picture.arrows[0].edge is strong
    assert {
        NAMES.index(e.edge["after"]) - NAMES.index(e.edge["before"]) for e in picture.arrows[1:]
    } == {1}
    assert len(draw(NAMES, weak * 4).arrows) == DRAWN


def test_an_edge_of_a_cycle_may_point_up() -> None:
    (arrow,) = draw(NAMES, [edge("oil3", "oil1")]).arrows
    start, end = (
        int(each) for each in (arrow.path.split()[1].partition("C")[0], arrow.path.split()[-1])
    )
    assert end < start


def test_long_names_are_cut_in_boxes_alone() -> None:
    made = library(size=1)
    assert made.order is not None
    order = {**made.order, "order": ["x" * 500], "edges": [], "cycles": [], "prioritized": []}
    text = render([ReportedLibrary(made.listed, "default", order)], [], "today")
    assert f">1. {'x' * 22}…</text>" in text
    assert f"<title>{'x' * 500}</title>" in text
