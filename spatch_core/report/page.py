"""The page: one HTML file with styles, script and data, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__
from .._patterns import shown
from ..examination.backends import BASE_ORDER

if TYPE_CHECKING:
    from ..examination.replay import Recorded

Json = dict[str, Any]
EDGES = 300
"""The largest number of edges of an order in the table; ``spatch-core show LIBRARY`` has all."""
CALLS = 1000
"""The largest number of choices of a record in the table."""
DRAWN = 60
"""The largest number of arrows, and of bars, in a picture."""
_SEVERITIES = ("error", "warning", "note", "problem")


def render(libraries: Sequence[ReportedLibrary], runs: Sequence[ReportedRun], made: str) -> str:
    """Return the page, with the time at which it was made.

    Text from descriptions is escaped, and a content security policy forbids all scripts but the
    page's own.
    """
    from jinja2 import Environment, StrictUndefined

    folder = files(__name__.rpartition(".")[0]) / "templates"
    template, style, script = (
        (folder / name).read_text("utf-8") for name in ("page.html", "report.css", "report.js")
    )
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(seconds=seconds)
    return environment.from_string(template).render(
        libraries=libraries,
        runs=runs,
        made=made,
        version=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        base_order=BASE_ORDER,
        most_edges=EDGES,
        most_calls=CALLS,
        margin=_MARGIN,
        box_width=_WIDTH,
        box_height=_BOX,
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _hash(text: str) -> str:
    """Return the hash of a text for a content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@dataclass(frozen=True)
class ReportedLibrary:
    """The JSON objects that commands print about a library; without a system, only the first."""

    listed: Json
    default_name: str  # the name of the library itself as people see it
    order: Json | None = None  # and the functions
    examined: Json | None = None  # by doctor
    what_runs: Json | None = None  # the fields of `WhatRuns`

    def shown(self, backend: str) -> str:
        """Return the name of a backend as people see it."""
        return shown(backend, self.default_name)

    @cached_property
    def picture(self) -> Picture | None:
        """The picture of the priority order."""
        if self.order is None:
            return None
        # An arrow without effect would mislead.
        edges = [each for each in self.order["edges"] if not each["void"]]
        return draw(self.order["order"], edges, shown=self.shown)

    @cached_property
    def findings(self) -> list[Json]:
        """The findings of ``doctor``, or the problems of ``list``."""
        if self.examined is not None:
            found: list[Json] = self.examined["findings"]
            return found
        return [
            {**each, "severity": "problem", "keys": [each["key"]] if each["key"] else []}
            for each in self.listed["problems"]
        ]

    @cached_property
    def severities(self) -> dict[str, int]:
        """The number of findings of each severity."""
        found = Counter(each["severity"] for each in self.findings)
        return {each: found[each] for each in _SEVERITIES if found[each]}

    @cached_property
    def states(self) -> dict[str, int]:
        """The number of backends in each state."""
        return Counter(each["state"] for each in self.listed["backends"])

    @property
    def data(self) -> Json:
        """The data of the page's script: the matrix, and the answers about what would run."""
        return {
            "library": self.listed["name"],
            "default": self.default_name,
            "matrix": self.order and _matrix(self.order),
            "what": self.what_runs,
        }


def _matrix(library: Json) -> Json:
    """Return a letter for each function and backend: implements it, asks first, or neither."""
    backends = library["order"]
    rows = []
    for each in library["functions"]:
        letters = dict.fromkeys(each["backends"], "y") | dict.fromkeys(each["asks"], "a")
        row = "".join(letters.get(name, "-") for name in backends)
        rows.append([each["function"], row, each["is_dispatchable"]])
    return {"backends": backends, "rows": rows}


class ReportedRun:
    """A record of a program, with the choices sorted by their first calls."""

    def __init__(self, name: str, recorded: Sequence[Recorded]) -> None:
        self.name = name
        self.calls = sorted(recorded, key=lambda each: each.first or 0.0)
        self.timeline = lay_out(self.calls)


# The picture of a priority order: boxes below each other, and arrows beside them

_ROW, _BOX, _WIDTH, _MARGIN = 44, 30, 210, 8
_SIDE = _MARGIN + _WIDTH  # the right side of the boxes
_LANE, _FIRST_LANE, _BEND = 24, 26, 6
_LETTERS = 26
"""The largest number of characters in a box."""


class Box(NamedTuple):
    """A backend."""

    y: int
    name: str
    label: str  # position and name, cut to the width of the box


class Arrow(NamedTuple):
    """An edge, from the box of one backend to that of another."""

    path: str
    tip: str  # the points of its head
    x: int  # of the center of its number
    y: int
    edge: Json


class Picture(NamedTuple):
    """A priority order, the first backend on top."""

    width: int
    height: int
    boxes: list[Box]
    arrows: list[Arrow]
    edges: list[Json]  # also those without an arrow: the strongest first, then the shortest


def draw(
    names: Sequence[str],
    edges: Sequence[Json],
    most: int = DRAWN,
    shown: Callable[[str], str] = str,
) -> Picture:
    """Lay out a priority order, with edges as ``show --json`` prints them, the strongest first."""
    place = {name: position for position, name in enumerate(names)}
    strength = list(dict.fromkeys(each["origin"] for each in edges))

    def ends(edge: Json) -> tuple[int, int]:
        return place[edge["before"]], place[edge["after"]]

    def length(edge: Json) -> int:
        start, end = ends(edge)
        return abs(end - start)  # an edge on a cycle may point up

    ordered = sorted(edges, key=lambda each: (strength.index(each["origin"]), length(each)))
    drawn = [ends(each) for each in ordered[:most]]
    lanes = _lanes(drawn)
    count = max(lanes, default=-1) + 1
    arrows = []
    for edge, (start, end), lane in zip(ordered, drawn, lanes, strict=False):
        x = _SIDE + _FIRST_LANE + lane * _LANE
        top, bottom = _port(start, end, lane, count), _port(end, start, lane, count)
        turn = _BEND if bottom >= top else -_BEND
        path = (
            f"M{_SIDE} {top}H{x - _BEND}Q{x} {top} {x} {top + turn}"
            f"V{bottom - turn}Q{x} {bottom} {x - _BEND} {bottom}H{_SIDE + 6}"
        )
        tip = f"{_SIDE},{bottom} {_SIDE + 8},{bottom - 4} {_SIDE + 8},{bottom + 4}"
        arrows.append(Arrow(path, tip, x, (top + bottom) // 2, edge))
    boxes = [
        Box(_MARGIN + row * _ROW, name, _cut(f"{row + 1}. {shown(name)}", _LETTERS))
        for name, row in place.items()
    ]
    width = _SIDE + _MARGIN + (_FIRST_LANE + count * _LANE if arrows else 0)
    return Picture(width, 2 * _MARGIN + len(names) * _ROW - _ROW + _BOX, boxes, arrows, ordered)


def _lanes(edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the lane of each edge: no two meet in a lane, and short ones are innermost."""
    spans = [sorted(each) for each in edges]
    taken: list[list[list[int]]] = []
    lanes = [0] * len(spans)
    for index in sorted(range(len(spans)), key=lambda i: (spans[i][1] - spans[i][0], spans[i])):
        low, high = spans[index]
        lane = 0
        while lane < len(taken) and any(a <= high and low <= b for a, b in taken[lane]):
            lane += 1
        if lane == len(taken):
            taken.append([])
        taken[lane].append([low, high])
        lanes[index] = lane
    return lanes


def _port(row: int, other: int, lane: int, lanes: int) -> int:
    """Return the height at which an edge meets the side of its box.

    Edges to boxes above meet its upper half, those to boxes below the lower one, and outer lanes
    lie nearer to the middle, so that the edges of a box do not cross each other.
    """
    offset = round(_BOX / 2 * (lane + 1) / (lanes + 1))
    return _MARGIN + row * _ROW + (offset if other < row else _BOX - offset)


def _cut(text: str, most: int) -> str:
    """Return a text, cut to at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


# The timeline of a record: a bar for each choice, from its first call to its last call

_COLORS = 6
_BAR_ROW, _BAR_LETTERS, _NARROWEST = 36, 44, 0.4


class Bar(NamedTuple):
    """The calls of one choice; positions are in percent of the width."""

    start: float
    width: float
    y: int
    label: str
    text: str  # the complete label
    color: int


class Timeline(NamedTuple):
    """Bars below each other, over an axis of seconds."""

    bars: list[Bar]
    ticks: list[tuple[int, float]]  # positions in percent, and their times
    height: int
    seconds: float
    left_out: int


def lay_out(recorded: Sequence[Recorded]) -> Timeline | None:
    """Lay out choices that are sorted by their first calls; None for a record without times."""
    known = [
        (each.first, each.last, each)
        for each in recorded
        if each.first is not None and each.last is not None
    ]
    if not known:
        return None
    begin = known[0][0]
    whole = max(last for _, last, _ in known) - begin or 1e-9
    backends = list(dict.fromkeys(each.backend for _, _, each in known))
    bars = []
    for row, (first, last, each) in enumerate(known[:DRAWN]):
        start = min(100 * (first - begin) / whole, 100 - _NARROWEST)
        width = min(max(100 * (last - first) / whole, _NARROWEST), 100 - start)
        times = f"→ {each.backend}, {each.count} call{'s' * (each.count != 1)}"
        label = _cut(f"{each.function.rpartition(':')[2]} {times}", _BAR_LETTERS)
        when = f"{seconds(first)} to {seconds(last)}"
        text = f"{each.function}({', '.join(each.types)}) {times}, {when}"
        color = backends.index(each.backend) % _COLORS
        bars.append(Bar(start, width, row * _BAR_ROW, label, text, color))
    ticks = [(percent, begin + whole * percent / 100) for percent in range(0, 101, 25)]
    return Timeline(bars, ticks, len(bars) * _BAR_ROW, whole, len(known) - len(bars))


def seconds(value: float) -> str:
    """Return a duration with a suitable unit.

    >>> seconds(2.5), seconds(0.0123), seconds(0.0000004)
    ('2.5 s', '12.3 ms', '0.4 µs')
    """
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if value * factor >= 1 or not value:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"
