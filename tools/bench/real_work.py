"""Measure real work on pictures: SciPy, and every installed alternative.

    python tools/bench/real_work.py                     # completely, on 64 megapixels
    python tools/bench/real_work.py --size 4            # roughly, in a minute
    python tools/bench/real_work.py --only median       # the cases with this in their names
    python tools/bench/real_work.py --routes threads    # only this route beside SciPy
    python tools/bench/real_work.py --update-docs       # completely, into the docs

Needs the dependency groups `bench` and `demo`, and SciPy; measures scipy_dispatch and those of
its backends that are installed. All routes take turns, and a figure is the median over the
rounds of SciPy's time by the route's in the same round, with half the distance of the
quartiles. A result that is not SciPy's, within what is stated, is a failure and is not timed.
Nothing else is asserted; a failure makes the exit code 1.
"""

from __future__ import annotations

import argparse
import gc
import logging
import random
import resource
import sys
import time
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
for _module in ("matplotlib", "pyperf", "rich", "skimage", "scipy_dispatch"):
    if find_spec(_module) is None:
        sys.exit(f"This needs {_module}; docs/examples/real-work.md says what to install.")

# ruff: noqa: E402 - the path comes first
import numpy as np

from bench._record import (
    DASH,
    ROOT,
    Record,
    describe_machine,
    markdown,
    number,
    show,
    table,
    update,
    with_spread,
)
from bench._routes import ROUTES, NotOfferedError, Route
from bench._work import AIM, CASES, data_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench._routes import Runner
    from bench._work import Array, Case

PAGE = ROOT / "docs" / "examples" / "real-work.md"
CHART = PAGE.with_suffix(".svg")
ROUNDS = 5
"""The number of rounds, and the minimum for the docs."""
MEGAPIXELS = 64
"""The size of the photograph, and the minimum for the docs."""
ENOUGH = 60.0
"""In seconds: a case that took a route this long in two rounds is not measured again."""
BASE = "scipy"
NOTES = ("cases", "routes", "aims", "left_out", "absent")
"""Titles of cases and routes; the targets of threads; by case and route, the reason for leaving it
out; the reasons why routes could not be used."""
PACKAGES = ("scipy", "numpy", "dask", "distributed", "jax", "cupy-cuda12x", "scikit-image")


class Benchmark:
    """Measures, case by case; SciPy is the first route."""

    def __init__(self, record: Record, routes: list[Route], repeats: int) -> None:
        for each in NOTES:
            record.notes.setdefault(each, {})
        self.record = record
        self.routes = routes
        self.repeats = repeats

    def measure(self, cases: list[Case], megapixels: float) -> None:
        for data, make in data_of(megapixels).items():
            wanted = [case for case in cases if case.data == data]
            if not wanted:
                continue
            report(f"{data}: making it")
            array = make()
            self.record.machine[data] = f"{' x '.join(map(str, array.shape))} {array.dtype}"
            given = {}
            for route in self.routes:
                with self._noting(f"{data}, {route.title}"):
                    given[route] = route.given(array)
            for case in wanted:
                report(f"{case.title}: comparing the results")
                self._rounds(case, self._runners(case, given))
            del array, given

    @contextmanager
    def _noting(self, what: str) -> Iterator[None]:
        """Note an error in the block; everything else is still measured."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a route may raise anything
            self.record.failures.append(f"{what}: {type(error).__name__}: {error}")

    def _runners(self, case: Case, given: dict[Route, Any]) -> dict[Route, Runner]:
        """Return the routes that give SciPy's result."""
        base, *others = given
        expected: list[Array] = []
        runners: dict[Route, Runner] = {}
        for route in (base, *others):
            with self._noting(f"{case.title}, {route.title}"):
                try:
                    runner = route.runner(case, given[route])
                except NotOfferedError as reason:
                    left_out = self.record.notes["left_out"].setdefault(case.name, {})
                    left_out[route.name] = str(reason)
                    continue
                actual = route.fetched(runner())
                if route is base:
                    expected = actual
                allowed = case.tolerances.get(route.kind, 0.0)
                found = difference(actual, expected)
                if found > allowed:
                    text = f"the result is off by {found:.1e}, where {allowed:.0e} may be"
                    raise AssertionError(text)
                runners[route] = runner
        return runners

    def _rounds(self, case: Case, runners: dict[Route, Runner]) -> None:
        passed: dict[Route, list[float]] = {route: [] for route in runners}
        order = list(runners)
        shuffle = random.Random(0).shuffle
        for done in range(self.repeats):
            report(f"{case.title}: round {done + 1} of {self.repeats}")
            shuffle(order)
            for route in list(order):
                if route.name != BASE and done > 1 and sum(passed[route]) > ENOUGH:
                    continue
                gc.collect()
                order.remove(route)  # until it succeeds
                with self._noting(f"{case.title}, {route.title}"):
                    start = time.perf_counter()
                    result = runners[route]()
                    passed[route].append(time.perf_counter() - start)
                    del result  # freeing its memory is not timed
                    order.append(route)
        for route in order:
            self.record.samples[f"{case.name}/{route.name}"] = passed[route]


def report(text: str) -> None:
    """Print what is done now beside the results."""
    print(text, file=sys.stderr, flush=True)


def difference(actual: list[Array], expected: list[Array]) -> float:
    """Return the difference relative to the largest value; inf if shapes or types differ.

    Zeros of either sign are equal, and so are two NaNs.
    """
    worst = 0.0
    if len(actual) != len(expected):
        return float("inf")
    for one, other in zip(actual, expected, strict=True):
        if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
            return float("inf")
        if not np.array_equal(one, other, equal_nan=True):
            apart = np.abs(one.astype(np.float64) - other)
            gap = float(apart[~(np.isnan(one) & np.isnan(other))].max())
            largest = float(np.nanmax(np.abs(other)))
            worst = max(worst, gap / largest if np.isfinite(gap) and largest else float("inf"))
    return worst


def measure(options: argparse.Namespace) -> Record:
    """Measure the wanted cases by all routes that are available."""
    record = Record(describe_machine(PACKAGES))
    cases = [case for case in CASES if _is_wanted(case, options.only)]
    titles: dict[str, str] = {}
    absent: dict[str, str] = {}
    routes: list[Route] = []
    with ExitStack() as stack:
        for cls in ROUTES:
            route = cls()
            if options.routes and route.name not in (BASE, *options.routes):
                continue
            titles[route.name] = route.title
            if reason := route.why_not():
                absent[route.title] = reason
                report(f"{route.title} is left out: {reason}")
                continue
            try:
                route.open()
            except Exception as error:  # noqa: BLE001 - the other routes are still measured
                record.failures.append(f"{route.title}: {type(error).__name__}: {error}")
                continue
            stack.callback(route.close)
            routes.append(route)
        record.notes = {
            "cases": {case.name: case.title for case in cases},
            "routes": titles,
            "aims": {case.name: AIM for case in cases if case.is_aimed},
            "absent": absent,
        }
        try:
            Benchmark(record, routes, options.repeats).measure(cases, options.size)
        except KeyboardInterrupt:
            record.failures.append("what came after it was interrupted")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scale = 1 if sys.platform == "darwin" else 1024
    record.machine |= {
        "megapixels": f"{options.size:g}",
        "rounds": str(options.repeats),
        "peak memory": f"{peak * scale / 1e9:.1f} GB",
    }
    return record


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
        seconds = record.samples.get(f"{case}/{BASE}", [])
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
        seconds = [_seconds(median(record.samples[f"{case}/{BASE}"])) for case in cases]
        labels = [
            f"{record.notes['cases'][case]}\nSciPy: {each} s"
            for case, each in zip(cases, seconds, strict=True)
        ]
        axis.set_yticks([top + (len(routes) - 1) / 2 for top in tops.values()], labels)
        axis.tick_params(left=False)
        axis.set_ylim(len(cases) * step - 1, -1)
        told = [record.machine.get(key, "") for key in ("machine", "interpreter", "versions")]
        axis.set_xlabel("\n".join(["times as fast as SciPy (dashed line)", "", *told]).rstrip())
        axis.tick_params(colors=FAINT, length=0, labelcolor=FAINT)
        axis.spines[["left", "right", "top"]].set_visible(False)
        figure.suptitle("Real work, beside SciPy", fontsize=16, weight="bold")
        figure.legend(loc="outside lower center", ncols=len(routes) + 1, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def _is_wanted(case: Case, parts: list[str]) -> bool:
    return not parts or any(part in case.name for part in parts)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--size", type=float, default=MEGAPIXELS, metavar="MEGAPIXELS", help=f"{MEGAPIXELS}")
    add("--only", type=_names, default=[], metavar="PARTS", help="cases: a,b")
    add("--routes", type=_names, default=[], help="besides SciPy: a,b")
    add("--repeats", type=int, default=ROUNDS, metavar="ROUNDS", help=f"{ROUNDS}")
    add("--update-docs", action="store_true", help=f"put the run into {PAGE.name} and {CHART.name}")
    options = parser.parse_args()
    if options.size <= 0 or options.repeats < 1:
        parser.error("--size must be more than 0, and --repeats at least 1")
    is_whole = options.size >= MEGAPIXELS and options.repeats >= ROUNDS
    if options.update_docs and (options.only or options.routes or not is_whole):
        parser.error("the docs show a whole run: only --update-docs")
    if not any(_is_wanted(case, options.only) for case in CASES):
        parser.error(f"no case has {' or '.join(options.only)} in its name")
    known = {route.name for route in ROUTES}
    if not known.issuperset(options.routes):
        parser.error(f"routes are {', '.join(sorted(known))}")

    record = measure(options)
    text = markdown(record, work_tables(record))
    show(text)
    if options.update_docs and not record.failures:
        update(PAGE, text)
        draw_chart(record, CHART)
        report(f"{PAGE.relative_to(ROOT)} and {CHART.name} have it now")
    return 1 if record.failures else 0


if __name__ == "__main__":
    sys.exit(main())
