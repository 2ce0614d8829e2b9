"""The picture of a priority order."""

from __future__ import annotations

from itertools import combinations

from spatch_core.report.order_picture import MOST, draw
from tests.report.conftest import edge

NAMES = [f"oil{number}" for number in range(8)]


def test_boxes_are_in_the_order() -> None:
    picture = draw(NAMES, [])
    assert [each.name for each in picture.boxes] == NAMES
    assert sorted(each.y for each in picture.boxes) == [each.y for each in picture.boxes]
    assert picture.boxes[-1].y + picture.box_height < picture.height
    assert draw([], []).arrows == ()


def test_no_two_numbers_touch() -> None:
    """No two arrows share a line, with all edges among eight backends."""
    picture = draw(NAMES, [edge(a, b) for a, b in combinations(NAMES, 2)])
    assert len(picture.arrows) == 28
    for one, other in combinations(picture.arrows, 2):
        assert abs(one.x - other.x) >= 20 or abs(one.y - other.y) >= 20
    assert all(each.x + 10 < picture.width for each in picture.arrows)


def test_ends_have_places_of_their_own() -> None:
    """They are spread over the side of a box."""
    picture = draw(NAMES, [edge(a, b) for a, b in combinations(NAMES, 2)])
    ends = [int(each.path.split()[1].split("H")[0]) for each in picture.arrows]
    ends += [int(each.tip.split()[0].split(",")[1]) for each in picture.arrows]
    assert len(ends) == len({*ends})
    boxes = {each.name: each.y for each in picture.boxes}
    for arrow, end in zip(picture.arrows * 2, ends, strict=True):
        tops = boxes[arrow.edge["before"]], boxes[arrow.edge["after"]]
        assert any(top < end < top + picture.box_height for top in tops)


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
