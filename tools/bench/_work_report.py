"""Shows a run of the benchmark of real work: as tables, and as a bar chart."""

from __future__ import annotations

import logging
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from bench._tables import DASH, number, table, with_spread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench._record import Record

BASE = "scipy"
NOTES = ("cases", "routes", "aims", "left_out", "absent")
"""Titles of cases and routes; the targets of threads; by case and route, the reason for leaving it
out; the reasons why routes could not be used."""


def speeds(record: Record, case: str, route: str) -> list[float]:
    """Return the speed relative to SciPy's in each round."""
    return record.ratios(f"{case}/{BASE}", f"{case}/{route}")


def shown(record: Record) -> list[str]:
    """Return the measured routes, without SciPy's."""
    measured = {name.split("/")[1] for name in record.samples}
    return [route for route in record.notes["routes"] if route in measured - {BASE}]


def work_tables(record: Record) -> Iterator[str]:
    """Yield the lines of a run's tables, and of the list of omissions."""
    cases, titles, routes = record.notes["cases"], record.notes["routes"], shown(record)
    columns = ["", "SciPy, s"]
    for route in routes:
        columns += [titles[route], *(["at least", ""] if route == "threads" else [])]
    rows = []
    for case, title in cases.items():
        seconds = record.seconds(f"{case}/{BASE}")
        row = [title, _seconds(median(seconds)) if seconds else DASH]
        for route in routes:
            found = speeds(record, case, route)
            row.append(with_spread(found))
            if route == "threads":
                aim = record.notes["aims"].get(case) if found else None
                row += [number(aim), "ok" if median(found) >= aim else "under"] if aim else ["", ""]
        rows.append(row)
    yield from table("Times as fast as SciPy", columns, rows)
    yield from _slower(record)
    yield from _remarks(record)


def _slower(record: Record) -> Iterator[str]:
    """Yield a list of the backends' cases that are not faster than SciPy."""
    lines = []
    for route in shown(record):
        found = {
            title: median(speeds(record, case, route))
            for case, title in record.notes["cases"].items()
            if speeds(record, case, route)
        }
        slow = [f"{title} ({number(speed)})" for title, speed in found.items() if speed < 1]
        if slow:
            lines.append(f"- {record.notes['routes'][route]}: {'; '.join(slow)}")
    if lines:
        yield from ["", "**Not faster than SciPy**", "", *lines]


def _seconds(value: float) -> str:
    return number(value) if value >= 0.1 else f"{value:.2g}"


def _remarks(record: Record) -> Iterator[str]:
    notes = record.notes
    remarks = [f"- {route}: not measured, {reason}" for route, reason in notes["absent"].items()]
    same: dict[tuple[str, str], list[str]] = {}
    for case, by_route in notes["left_out"].items():
        for route, reason in by_route.items():
            same.setdefault((notes["routes"][route], reason), []).append(notes["cases"][case])
    remarks += [
        f"- {route}: {reason} ({'; '.join(cases)})" for (route, reason), cases in same.items()
    ]
    if remarks:
        yield from ["", "**What was left out, and why**", "", *sorted(remarks)]


COLORS = {
    "threads": "#b5472f",
    "dask": "#3f6f8f",
    "processes": "#8fb1c6",
    "jax": "#6a9a57",
    "cupy": "#8460a5",
}
PAPER, INK, FAINT = "#fbf9f6", "#2b211c", "#6f645c"
FAR = 12.0
"""The speed relative to SciPy's above which (for a GPU) the chart has a logarithmic scale."""
# The text stays text, for search and screen readers; the same run draws the same file.
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "real work",
    "font.family": ["Helvetica Neue", "Arial", "DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": FAINT,
    "axes.facecolor": PAPER,
    "figure.facecolor": PAPER,
}


def draw_chart(record: Record, path: Path) -> None:
    """Draw the speed of each route relative to SciPy's, as SVG.

    Bars are medians, and the lines across their ends go from quartile to quartile.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    titles = record.notes["routes"]
    cases = [case for case in record.notes["cases"] if f"{case}/{BASE}" in record.samples]
    routes = shown(record)
    step = len(routes) + 1.2  # the bars of a case, and a gap
    tops = {case: place * step for place, case in enumerate(cases)}
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 2 + 0.17 * step * len(cases)), layout="constrained")
        axis = figure.subplots()
        for index, route in enumerate(routes):
            found = {tops[case] + index: speeds(record, case, route) for case in cases}
            found = {place: values for place, values in found.items() if values}
            quartiles = [np.percentile(values, (25, 50, 75)) for values in found.values()]
            low, middle, high = np.transpose(quartiles)
            bars = axis.barh(
                [*found],
                middle,
                0.86,
                xerr=[middle - low, high - middle],
                error_kw={"elinewidth": 0.9, "ecolor": INK},
                color=COLORS.get(route, INK),
                label=titles[route],
            )
            values = axis.bar_label(bars, [*map(number, middle)], padding=3, fontsize=7.5)
            for value in values:  # above the lines that cross it
                value.set(color=FAINT, zorder=5, bbox={"color": PAPER, "pad": 0.5})
        axis.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
        if axis.get_xlim()[1] > FAR:
            axis.set_xscale("log")
            axis.xaxis.set_major_formatter("{x:g}")
        axis.set_yticks([])
        for case, top in tops.items():
            seconds = _seconds(median(record.seconds(f"{case}/{BASE}")))
            # Two texts, because a viewer with other fonts would not align two lines of one text.
            lines = {record.notes["cases"][case]: (INK, 5), f"SciPy: {seconds} s": (FAINT, -6)}
            for line, (color, height) in lines.items():
                axis.annotate(
                    line,
                    (0, top + (len(routes) - 1) / 2),
                    (-6, height),
                    axis.get_yaxis_transform(),
                    "offset points",
                    ha="right",
                    va="center",
                    color=color,
                )
        axis.set_ylim(len(cases) * step - 1, -1)
        told = [record.machine.get(key, "") for key in ("machine", "interpreter", "versions")]
        axis.set_xlabel("\n".join(["times as fast as SciPy (dashed line)", "", *told]).rstrip())
        axis.tick_params(colors=FAINT, length=0, labelcolor=FAINT)
        axis.spines[["left", "right", "top"]].set_visible(False)
        figure.suptitle("Real work, beside SciPy", fontsize=16, weight="bold")
        figure.legend(loc="outside lower center", ncols=len(routes) + 1, frameon=False)
        figure.savefig(path, metadata={"Date": None})
