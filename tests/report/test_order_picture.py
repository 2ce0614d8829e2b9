"""The picture of a priority order."""

from __future__ import annotations

from itertools import combinations

from spatch_core.report.order_picture import MOST, draw
from tests.report.conftest import edge

NAMES = [f"oil{number}" for number in range(8)]


def test_the_strongest_and_shortest_are_drawn() -> None:
    """Edges are sorted by strength, then by length."""
    weak = [edge(a, b, "type specificity") for a, b in combinations(NAMES, 2)]
    strong = edge("oil0", "oil7", "environment")
    picture = draw(NAMES, [strong, *weak], 8)
    assert picture.arrows[0].edge is strong
    assert {
        NAMES.index(e.edge["after"]) - NAMES.index(e.edge["before"]) for e in picture.arrows[1:]
    } == {1}
    assert picture.left_out == 21
    assert len(draw(NAMES, weak * 4).arrows) == MOST


def test_an_edge_of_a_cycle_may_point_up() -> None:
    picture = draw(NAMES, [edge("oil3", "oil1")])
    (arrow,) = picture.arrows
    boxes = [each.y for each in picture.boxes]
    assert boxes[1] < int(arrow.tip.split(",")[1].split()[0]) < boxes[2]


def test_long_names_are_cut_in_boxes_alone() -> None:
    (box,) = draw(["x" * 500], []).boxes
    assert len(box.label) == 26
    assert box.name == "x" * 500
