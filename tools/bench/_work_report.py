"""Shows a run of the benchmark of real work: as tables, and as a bar chart."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, TypeAlias

from bench._tables import DASH, OK, UNDER, Sheet, number, sheet_lines, with_spread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Samples: TypeAlias = dict[str, dict[str, list[float]]]
"""Seconds, one for each round, by case and route; taken side by side."""

CEILING = "ceiling"
"""The route that is SciPy in two processes, a half of the work each."""

BASE = "scipy"


@dataclass
class WorkRun:
    """What was measured; all of it can be written as JSON.

    Parameters
    ----------
    machine : dict of str to str
        On what, and with which data.
    cases : dict of str to str
        Titles of the cases, by name, in order.
    routes : dict of str to str
        Titles of the routes, by name, in order.
    aims : dict of str to float
        How many times as fast as SciPy threads are to be, by case.
    seconds, processor : Samples
        Time that passed, and processor time where it is known.
    differences : dict
        By case and route, how far the result is off, relative to its largest value, and how
        far it may be.
    left_out : dict
        By case and route, why it was not measured, in the backend's words.
    absent : dict of str to str
        Routes that could not be taken here, with the reason.
    failures : list of str
        What went wrong.
    """

    machine: dict[str, str]
    cases: dict[str, str] = field(default_factory=dict)
    routes: dict[str, str] = field(default_factory=dict)
    aims: dict[str, float] = field(default_factory=dict)
    seconds: Samples = field(default_factory=dict)
    processor: Samples = field(default_factory=dict)
    differences: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    left_out: dict[str, dict[str, str]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def speeds(self, case: str, route: str) -> list[float]:
        """Return how many times as fast as SciPy it was in each round."""
        return _quotients(self.seconds, case, BASE, route)

    def shown(self) -> list[str]:
        """Return the routes that were measured, SciPy's left out."""
        measured = {route for by_route in self.seconds.values() for route in by_route}
        return [route for route in self.routes if route in measured and route != BASE]


def load_work_run(fields: dict[str, Any]) -> WorkRun:
    """Return the run that was written as JSON."""
    return WorkRun(**fields)


def _quotients(samples: Samples, case: str, first: str, second: str) -> list[float]:
    by_route = samples.get(case, {})
    pairs = zip(by_route.get(first, []), by_route.get(second, []), strict=False)
    return [one / max(other, 1e-9) for one, other in pairs]


def sheets(run: WorkRun) -> Iterator[Sheet]:
    """Yield the tables of a run."""
    yield _speeds(run)
    yield _processor(run)
    yield _differences(run)


def _speeds(run: WorkRun) -> Sheet:
    routes = run.shown()
    columns = ["", "SciPy, s"]
    for route in routes:
        columns += [run.routes[route], *(["at least", ""] if route == "threads" else [])]
    has_both = {"threads", CEILING} <= set(routes)
    columns += ["threads beside that"] if has_both else []
    rows = []
    for case, title in run.cases.items():
        seconds = run.seconds.get(case, {}).get(BASE, [])
        row = [title, number(median(seconds)) if seconds else DASH]
        for route in routes:
            speeds = run.speeds(case, route)
            row.append(with_spread(speeds) if speeds else DASH)
            if route == "threads":
                row += _verdict(run.aims.get(case), speeds)
        if has_both:
            beside = _quotients(run.seconds, case, CEILING, "threads")
            row.append(with_spread(beside) if beside else DASH)
        rows.append(row)
    return Sheet("Times as fast as SciPy", columns, rows)


def _verdict(aim: float | None, speeds: list[float]) -> list[str]:
    if aim is None or not speeds:
        return ["", ""]
    return [number(aim), OK if median(speeds) >= aim else UNDER]


def _processor(run: WorkRun) -> Sheet:
    routes = [
        route
        for route in run.shown()
        if any(route in by_route for by_route in run.processor.values())
    ]
    rows = []
    for case, title in run.cases.items():
        row = [title]
        for route in routes:
            costs = _quotients(run.processor, case, route, BASE)
            row.append(with_spread(costs) if costs else DASH)
        rows.append(row)
    title = "Processor time of all threads, in multiples of SciPy's"
    return Sheet(title, ["", *(run.routes[route] for route in routes)], rows)


def _differences(run: WorkRun) -> Sheet:
    routes = [route for route in run.shown() if route != CEILING]
    rows = []
    for case, title in run.cases.items():
        row = [title]
        for route in routes:
            found = run.differences.get(case, {}).get(route)
            row.append(_difference(*found) if found else DASH)
        rows.append(row)
    title = "Largest difference from SciPy's result, relative to its largest value"
    return Sheet(title, ["", *(run.routes[route] for route in routes)], rows)


def _difference(found: float, allowed: float) -> str:
    if not found:
        return "same bits" if not allowed else f"none (≤ {allowed:.0e})"
    return f"{found:.0e} (≤ {allowed:.0e})"


def work_markdown(run: WorkRun) -> str:
    """Return a run as the Markdown of the docs page."""
    lines = [f"- {key}: {value}" for key, value in run.machine.items()]
    for sheet in sheets(run):
        lines += sheet_lines(sheet)
    remarks = [f"- {route}: not measured, {reason}" for route, reason in run.absent.items()]
    same: dict[tuple[str, str], list[str]] = {}
    for case, by_route in run.left_out.items():
        for route, reason in by_route.items():
            same.setdefault((route, reason), []).append(run.cases.get(case, case))
    remarks += [
        f"- {run.routes.get(route, route)}: {reason} ({'; '.join(cases)})"
        for (route, reason), cases in sorted(same.items())
    ]
    if remarks:
        lines += ["", "**What was left out, and why**", "", *remarks]
    for failure in run.failures:
        lines += ["", f"Not measured: {failure.splitlines()[0]}"]
    return "\n".join(lines) + "\n"


_COLORS = {
    "default": "#b9afa6",
    "threads": "#b5472f",
    "dask": "#3f6f8f",
    "processes": "#8fb1c6",
    "jax": "#6a9a57",
    "cupy": "#8460a5",
}
FAR = 12.0
"""Times as fast as SciPy; if there is more (a GPU), the chart goes by factors."""

_PAPER, _INK, _FAINT = "#fbf9f6", "#2b211c", "#6f645c"


def draw_chart(run: WorkRun, path: Path) -> None:
    """Draw how many times as fast as SciPy each route is, as SVG.

    Bars are medians, the lines across their ends go from quartile to quartile, and a black
    mark shows what two processes with a half of the work each reach.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    cases = [case for case in run.cases if run.seconds.get(case)]
    routes = [route for route in run.shown() if route != CEILING]
    # The text stays text, to be searched and read aloud; no run of the program differs.
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "real work",
        "font.family": ["Helvetica Neue", "Arial", "DejaVu Sans", "sans-serif"],
        "text.color": _INK,
    }
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    with mpl.rc_context(style):
        group = len(routes) + 1.2
        height = 2.2 + 0.17 * group * len(cases)
        figure = Figure(figsize=(10, height), facecolor=_PAPER)
        axis = figure.add_axes((0.25, 0.75 / height, 0.7, 1 - 2.05 / height), facecolor=_PAPER)
        longest = 1.0
        for place, case in enumerate(cases):
            top = place * group
            middle = top + (len(routes) - 1) / 2
            seconds = median(run.seconds[case][BASE])
            axis.text(
                -0.015,
                middle,
                f"{run.cases[case]}\n",
                ha="right",
                va="center",
                fontsize=10,
                transform=axis.get_yaxis_transform(),
                linespacing=1.0,
            )
            axis.text(
                -0.015,
                middle + 0.75,
                f"SciPy: {number(seconds)} s",
                ha="right",
                va="center",
                fontsize=8,
                color=_FAINT,
                transform=axis.get_yaxis_transform(),
            )
            for index, route in enumerate(routes):
                longest = max(longest, _draw_bar(axis, run, case, route, top + index))
            ceiling = run.speeds(case, CEILING)
            if ceiling:
                axis.plot(
                    [median(ceiling)] * 2,
                    [top - 0.6, top + len(routes) - 0.4],
                    color=_INK,
                    linewidth=1.4,
                )
                longest = max(longest, median(ceiling))
        axis.axvline(1, color=_INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
        axis.set_ylim(len(cases) * group - 1.1, -1.1)
        if longest > FAR:
            axis.set_xscale("log")
            axis.xaxis.set_major_formatter("{x:g}")
            slowest = min(
                median(run.speeds(case, each))
                for case in cases
                for each in routes
                if run.speeds(case, each)
            )
            axis.set_xlim(min(slowest / 1.5, 0.5), longest * 1.6)
        else:
            axis.set_xlim(0, longest * 1.12)
        axis.set_xlabel("times as fast as SciPy (dashed line)", color=_FAINT)
        axis.tick_params(colors=_FAINT)
        axis.set_yticks([])
        axis.spines[["left", "right", "top"]].set_visible(False)
        axis.spines["bottom"].set_color(_FAINT)
        handles: list[Any] = [
            Patch(color=_COLORS.get(route, _INK), label=run.routes[route]) for route in routes
        ]
        if any(run.speeds(case, CEILING) for case in cases):
            handles.append(Line2D([], [], color=_INK, label=run.routes[CEILING]))
        figure.text(0.03, 1 - 0.38 / height, "Real work, beside SciPy", fontsize=16, weight="bold")
        for line, text in enumerate(_captions(run)):
            figure.text(0.03, 1 - (0.62 + 0.19 * line) / height, text, fontsize=8.5, color=_FAINT)
        figure.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0.022, 1 - 0.84 / height),
            ncols=len(handles),
            frameon=False,
            fontsize=9.5,
            handlelength=1,
            columnspacing=1.4,
        )
        figure.savefig(path, metadata={"Date": None})


def _captions(run: WorkRun) -> list[str]:
    told = run.machine
    first = [told[key] for key in ("machine", "interpreter", "date") if key in told]
    second = [told[key] for key in ("photograph", "volume", "versions") if key in told]
    return [" · ".join(first), " · ".join(second)]


def _draw_bar(axis: Any, run: WorkRun, case: str, route: str, place: float) -> float:
    speeds = run.speeds(case, route)
    if not speeds:
        axis.text(
            0.005,
            place,
            DASH,
            va="center",
            fontsize=7.5,
            color=_FAINT,
            transform=axis.get_yaxis_transform(),
        )
        return 0.0
    middle = median(speeds)
    axis.barh(place, middle, 0.86, color=_COLORS.get(route, _INK))
    end = middle
    if len(speeds) > 1:
        low, _, high = quantiles(speeds, n=4)
        axis.plot([low, high], [place, place], color=_INK, linewidth=0.9)
        end = max(middle, high)
    axis.annotate(
        number(middle),
        (end, place),
        (3, 0),
        textcoords="offset points",
        va="center",
        fontsize=7.5,
        color=_FAINT,
        bbox={"facecolor": _PAPER, "linewidth": 0, "pad": 0.4},
    )
    return end
