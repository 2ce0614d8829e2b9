"""The timeline of a record: a bar for each choice, from its first call to its last call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .order_picture import cut

if TYPE_CHECKING:
    from ..examination.replay import Recorded

MOST = 60
"""The largest number of bars; later choices have none."""
COLORS = 6
_ROW, _LETTERS, _NARROWEST = 36, 44, 0.4


@dataclass(frozen=True, slots=True)
class Bar:
    """The calls of one choice."""

    start: str  # in percent of the width
    width: str
    y: int
    label: str
    text: str  # the complete label
    color: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """Bars below each other, over an axis of seconds."""

    bars: tuple[Bar, ...]
    ticks: tuple[tuple[str, str], ...]  # positions in percent, and their times
    height: int
    seconds: float
    left_out: int
    row: int = _ROW


def lay_out(recorded: Sequence[Recorded], most: int = MOST) -> Timeline | None:
    """Lay out a record; None for one without times."""
    known = [
        (each.first, each.last, each)
        for each in recorded
        if each.first is not None and each.last is not None
    ]
    if not known:
        return None
    known.sort(key=lambda each: each[:2])
    begin = known[0][0]
    whole = max(last for _, last, _ in known) - begin or 1e-9
    backends = list(dict.fromkeys(each.backend for _, _, each in known))
    bars = []
    for position, (first, last, each) in enumerate(known[:most]):
        start = min(100 * (first - begin) / whole, 100 - _NARROWEST)
        width = min(max(100 * (last - first) / whole, _NARROWEST), 100 - start)
        times = f"{each.count} call{'s' * (each.count != 1)}"
        short = f"{each.function.rpartition(':')[2]} → {each.backend}, {times}"
        whole_text = f"{each.function}({', '.join(each.types)}) → {each.backend}, {times}"
        color = backends.index(each.backend) % COLORS
        bars.append(
            Bar(
                *(f"{start:.2f}%", f"{width:.2f}%", position * _ROW),
                *(cut(short, _LETTERS), f"{whole_text}, {span(first, last)}", color),
            )
        )
    ticks = [(f"{25 * each}%", seconds(begin + whole * each / 4)) for each in range(5)]
    return Timeline(tuple(bars), tuple(ticks), len(bars) * _ROW, whole, len(known) - len(bars))


def seconds(value: float) -> str:
    """Return a duration with a suitable unit.

    >>> seconds(2.5), seconds(0.0123), seconds(0.0000004)
    ('2.5 s', '12.3 ms', '0.4 µs')
    """
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if value * factor >= 1 or not value:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def span(first: float, last: float) -> str:
    """Return a period of time.

    >>> span(0.5, 2)
    '500 ms to 2 s'
    """
    return f"{seconds(first)} to {seconds(last)}"
