"""The page: one HTML file with styles, script and data, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from .. import __version__
from .._patterns import shown

Json = dict[str, Any]
BASE_ORDER = (
    "the library itself is first, then concrete backends, then abstract ones; among these, "
    "backends in the library's code keep their order, then installed ones are sorted by name"
)
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
        most_bars=DRAWN,
        margin=_MARGIN,
        row=_ROW,
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
    what_runs: Json | None = None  # the calls that ``explain`` shows, by function

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
        return draw(self.order["order"], edges)

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

    def __init__(self, name: str, recorded: Sequence[Json]) -> None:
        self.name = name
        self.calls = sorted(recorded, key=lambda each: each["first"] or 0.0)
        self.timed = [each for each in self.calls if None not in (each["first"], each["last"])]


# The picture of a priority order: boxes below each other, and arrows beside them

_ROW, _BOX, _WIDTH, _MARGIN = 44, 30, 210, 8
_SIDE = _MARGIN + _WIDTH  # the right side of the boxes
_NEAREST, _STEP = 20, 26  # how far arrows to the next box reach, and each longer arrow further


class Arrow(NamedTuple):
    """An edge, from the box of one backend to that of another."""

    path: str
    tip: str  # the points of its head
    x: int  # of the center of its number
    y: int
    edge: Json


class Picture(NamedTuple):
    """The arrows of a priority order, beside boxes of which the first backend's is on top."""

    width: int
    height: int
    arrows: list[Arrow]
    edges: list[Json]  # also those without an arrow: the strongest first, then the shortest


def draw(names: Sequence[str], edges: Sequence[Json], most: int = DRAWN) -> Picture:
    """Lay out a priority order, with edges as ``show --json`` prints them, the strongest first.

    Arrows of one length reach equally far to the right, so that no two numbers meet.
    """
    place = {name: position for position, name in enumerate(names)}
    strength = list(dict.fromkeys(each["origin"] for each in edges))

    def length(edge: Json) -> int:
        return place[edge["after"]] - place[edge["before"]]  # negative on a cycle

    ordered = sorted(edges, key=lambda each: (strength.index(each["origin"]), abs(length(each))))
    lengths = sorted({abs(length(each)) for each in ordered[:most]})
    arrows = []
    for edge in ordered[:most]:
        reach = _NEAREST + _STEP * lengths.index(abs(length(edge)))
        # An arrow that points down leaves the lower half of its box, and enters the upper half.
        out, into = (22, 8) if length(edge) > 0 else (8, 22)
        top = _MARGIN + place[edge["before"]] * _ROW + out
        bottom = _MARGIN + place[edge["after"]] * _ROW + into
        bend = _SIDE + reach * 4 // 3  # a curve reaches three quarters of the way to such points
        path = f"M{_SIDE} {top}C{bend} {top} {bend} {bottom} {_SIDE + 6} {bottom}"
        tip = f"{_SIDE},{bottom} {_SIDE + 8},{bottom - 4} {_SIDE + 8},{bottom + 4}"
        arrows.append(Arrow(path, tip, _SIDE + reach, (top + bottom) // 2, edge))
    width = max([_SIDE, *(each.x + _STEP for each in arrows)]) + _MARGIN
    height = 2 * _MARGIN + len(names) * _ROW - _ROW + _BOX
    return Picture(width, height, arrows, ordered)


def seconds(value: float) -> str:
    """Return a duration with a suitable unit.

    >>> seconds(2.5), seconds(0.0123), seconds(0.0000004)
    ('2.5 s', '12.3 ms', '0.4 µs')
    """
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if value * factor >= 1 or not value:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"
