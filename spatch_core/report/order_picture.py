"""The layout of the picture of a priority order: boxes, and numbered arrows beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

MOST = 60
"""The largest number of edges in a picture: the strongest, and of equal strength the shortest."""

_ROW, _BOX, _WIDTH, _MARGIN = 44, 30, 210, 8
_LANE, _FIRST_LANE, _BEND = 24, 26, 6
_LETTERS = 26
"""The largest number of characters in a box."""


@dataclass(frozen=True, slots=True)
class Box:
    """A backend."""

    x: int
    y: int
    name: str
    label: str  # position and name, cut to the width of the box


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge, from the box of one backend to that of another."""

    number: int
    path: str
    tip: str  # the points of its head
    x: int  # of the center of the number
    y: int
    edge: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes below each other, the first backend on top, and edges beside them."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    left_out: int  # the number of edges that are not drawn
    box_width: int = _WIDTH
    box_height: int = _BOX


def cut(text: str, most: int) -> str:
    """Return a text, cut to at most `most` characters.

    >>> cut("threads", 7), cut("threads", 5)
    ('threads', 'thre…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def draw(
    names: Sequence[str],
    edges: Sequence[dict[str, Any]],
    most: int = MOST,
    shown: Callable[[str], str] = str,
) -> Picture:
    """Lay out a priority order, with edges as ``order --json`` prints them, the strongest first.

    `shown` returns the name of a backend as people see it.
    """
    place = {name: position for position, name in enumerate(names)}
    # An edge on a cycle may point up.
    spans = [sorted((place[each["before"]], place[each["after"]])) for each in edges]
    origins = list(dict.fromkeys(each["origin"] for each in edges))
    order = sorted(
        range(len(edges)),
        key=lambda i: (origins.index(edges[i]["origin"]), spans[i][1] - spans[i][0], i),
    )[:most]
    lanes = _lanes([spans[each] for each in order])
    ports = _ports([(place[edges[i]["before"]], place[edges[i]["after"]]) for i in order])
    arrows = []
    for number, (index, lane) in enumerate(zip(order, lanes, strict=True), 1):
        start, end = ports[number - 1]
        x = _MARGIN + _WIDTH + _FIRST_LANE + lane * _LANE
        side = _MARGIN + _WIDTH
        tip = f"{side},{end} {side + 8},{end - 4} {side + 8},{end + 4}"
        middle = (start + end) // 2
        arrows.append(Arrow(number, _path(x, start, end), tip, x, middle, edges[index]))
    boxes = [
        Box(
            _MARGIN,
            _MARGIN + (position - 1) * _ROW,
            name,
            cut(f"{position}. {shown(name)}", _LETTERS),
        )
        for position, name in enumerate(names, 1)
    ]
    room = _FIRST_LANE + (max(lanes) + 1) * _LANE if lanes else 0
    return Picture(
        _MARGIN + _WIDTH + room + _MARGIN,
        2 * _MARGIN + (len(names) - 1) * _ROW + _BOX,
        tuple(boxes),
        tuple(arrows),
        len(edges) - len(arrows),
    )


def _lanes(spans: Sequence[Sequence[int]]) -> list[int]:
    """Return the lane of each edge: no two overlap in a lane, and short ones are innermost."""
    taken: list[list[Sequence[int]]] = []
    lanes = [0] * len(spans)
    for index in sorted(range(len(spans)), key=lambda i: (spans[i][1] - spans[i][0], spans[i])):
        low, high = spans[index]
        lane = 0
        while lane < len(taken) and any(a <= high and low <= b for a, b in taken[lane]):
            lane += 1
        if lane == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        lanes[index] = lane
    return lanes


def _ports(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the heights at which each edge leaves and enters a box, spread over its side."""
    ends: dict[int, list[tuple[int, int, int]]] = {}
    for index, (before, after) in enumerate(pairs):
        ends.setdefault(before, []).append((after, index, 0))
        ends.setdefault(after, []).append((before, index, 1))
    found = [[0, 0] for _ in pairs]
    for box, others in ends.items():
        # Edges to boxes above are at the top of the side, and do not cross each other.
        others.sort(key=lambda each: (each[0] > box, -abs(each[0] - box) * (each[0] > box)))
        for position, (_, index, side) in enumerate(others, 1):
            offset = position * _BOX // (len(others) + 1)
            found[index][side] = _MARGIN + box * _ROW + offset
    return [(start, end) for start, end in found]


def _path(x: int, start: int, end: int) -> str:
    side = _MARGIN + _WIDTH
    turn = _BEND if end >= start else -_BEND
    return (
        f"M{side} {start}H{x - _BEND}Q{x} {start} {x} {start + turn}"
        f"V{end - turn}Q{x} {end} {x - _BEND} {end}H{side + 6}"
    )
