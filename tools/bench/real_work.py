"""Measure real work on large pictures: SciPy, and every way around it that is installed.

    python tools/bench/real_work.py                     # all of it, on 64 megapixels
    python tools/bench/real_work.py --size 4            # roughly, in a minute
    python tools/bench/real_work.py --only median       # the cases whose name has that in it
    python tools/bench/real_work.py --routes threads    # beside SciPy only this
    python tools/bench/real_work.py --json run.json     # keep the samples …
    python tools/bench/real_work.py --replay run.json --update-docs   # … and show them again

Needs NumPy, SciPy, scikit-image (for the photograph), rich and matplotlib (for the chart);
measures scipy_dispatch and those of its backends that are installed. All routes take turns,
and a figure is the median over the rounds of SciPy's time by the route's in the same round,
with half the distance of the quartiles. A result that is not SciPy's, within what is stated,
is a failure and is not timed. Nothing else is asserted; a failure makes the exit code 1.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import resource
import signal
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = ROOT / "tools"
PAGE = ROOT / "docs" / "explanation" / "real-work.md"
CHART = PAGE.with_suffix(".svg")

sys.path.insert(0, str(TOOLS))
for _module, _distribution in (
    ("rich", "rich"),
    ("skimage", "scikit-image"),
    ("scipy_dispatch", "scipy-dispatch"),
):
    if find_spec(_module) is None:
        sys.exit(f"This needs {_distribution}: python -m pip install {_distribution}")

# ruff: noqa: E402 - the path comes first
import numpy as np
from rich.console import Console

from bench._halves import checksums, two_processes
from bench._machine import describe_load, describe_machine, load
from bench._progress import progress
from bench._routes import ROUTES, NotOfferedError, Route
from bench._tables import show_sheets, update
from bench._work import AIM, CASES, data_of
from bench._work_report import (
    BASE,
    CEILING,
    WorkRun,
    draw_chart,
    load_work_run,
    sheets,
    work_markdown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from bench._halves import Halves
    from bench._work import Array, Case

    # Makes a call; seconds that passed, and those of the processor if they are known.
    Timed: TypeAlias = Callable[[], tuple[float, float | None]]

ROUNDS = 5
"""How many there are, and the fewest that the docs take."""
MEGAPIXELS = 64
"""Of the photograph, likewise."""

PACKAGES = (
    "scipy",
    "numpy",
    "dask",
    "distributed",
    "jax",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "scikit-image",
)


ENOUGH = 60.0
"""Seconds: what took a route so long in two rounds or more is not measured again."""


class Benchmark:
    """Measures, case by case.

    Parameters
    ----------
    run : WorkRun
        Where the samples go.
    routes : list of Route
        The ways to make the calls; SciPy is the first.
    halves : Halves or None
        Two processes that show what the hardware allows.
    repeats : int
        How many rounds.
    """

    def __init__(
        self, run: WorkRun, routes: list[Route], halves: Halves | None, repeats: int
    ) -> None:
        self.run = run
        self.routes = routes
        self.halves = halves
        self.repeats = repeats

    def measure(self, cases: list[Case], megapixels: float, report: Callable[[str], None]) -> None:
        for data, make in data_of(megapixels).items():
            wanted = [case for case in cases if case.data == data]
            if not wanted:
                continue
            report(f"{data}: making it")
            array = make()
            shape = " x ".join(map(str, array.shape))
            self.run.machine[data] = f"{shape} {array.dtype}"
            given = {}
            for route in self.routes:
                with self._noting(f"{data}, {route.title}"):
                    given[route.name] = route.given(array)
            halves = None
            if self.halves is not None and any(case.is_local for case in wanted):
                with self._noting(f"{data}, the halves"):
                    self.halves.give(array)
                    halves = self.halves
            for case in wanted:
                self._case(case, given, halves, report)
            del array, given

    def _case(
        self,
        case: Case,
        given: dict[str, Any],
        halves: Halves | None,
        report: Callable[[str], None],
    ) -> None:
        report(f"{case.title}: comparing the results")
        base, *others = (route for route in self.routes if route.name in given)
        run = base.runner(case, given[base.name])
        expected = base.fetched(run())
        runners = {base.name: _timed(run, base.in_this_process)}
        for route in others:
            with self._noting(f"{case.title}, {route.title}"):
                try:
                    runner = route.runner(case, given[route.name])
                except NotOfferedError as reason:
                    self.run.left_out.setdefault(case.name, {})[route.name] = str(reason)
                else:
                    self._check(case, route, runner, expected)
                    runners[route.name] = _timed(runner, route.in_this_process)
        if halves is not None and case.is_local:
            runners[CEILING] = _halved(case, halves, expected[0])
        del expected
        self._rounds(case, runners, report)

    @contextmanager
    def _noting(self, what: str) -> Iterator[None]:
        """Note what goes wrong in the block; everything else is still measured."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever a route raises
            self.run.failures.append(f"{what}: {type(error).__name__}: {error}")

    def _check(
        self, case: Case, route: Route, runner: Callable[[], Any], expected: list[Array]
    ) -> None:
        allowed = case.tolerance(route.kind)
        actual = route.fetched(runner())
        found = difference(actual, expected)
        if found > allowed:
            raise AssertionError(f"the result is off by {found:.1e}, where {allowed:.0e} may be")
        self.run.differences.setdefault(case.name, {})[route.name] = [found, allowed]

    def _rounds(self, case: Case, runners: dict[str, Timed], report: Callable[[str], None]) -> None:
        seconds = self.run.seconds.setdefault(case.name, {})
        processor = self.run.processor.setdefault(case.name, {})
        order = list(runners)
        shuffle = random.Random(0).shuffle
        for number in range(self.repeats):
            report(f"{case.title}: round {number + 1} of {self.repeats}")
            shuffle(order)
            for name in list(order):
                if name != BASE and number > 1 and sum(seconds[name]) > ENOUGH:
                    continue
                gc.collect()
                order.remove(name)  # unless all goes well
                with self._noting(f"{case.title}, {self.run.routes[name]}"):
                    passed, spent = runners[name]()
                    seconds.setdefault(name, []).append(passed)
                    if spent is not None:
                        processor.setdefault(name, []).append(spent)
                    order.append(name)
        for name in runners.keys() - set(order):
            seconds.pop(name, None)
            processor.pop(name, None)


def _halved(case: Case, halves: Halves, expected: Array) -> Timed:
    wanted = checksums(expected)

    def run() -> tuple[float, None]:
        seconds, found = halves.seconds(case)
        if found != wanted:
            raise AssertionError("the halves are not those of the whole")
        return seconds, None

    return run


def _timed(runner: Callable[[], Any], in_this_process: bool) -> Timed:
    def run() -> tuple[float, float | None]:
        processor, start = time.process_time(), time.perf_counter()
        result = runner()
        seconds, spent = time.perf_counter() - start, time.process_time() - processor
        del result  # what it takes to give the memory back is not timed
        return seconds, spent if in_this_process else None

    return run


def difference(actual: list[Array], expected: list[Array]) -> float:
    """Return how far arrays are off, relative to the largest value; inf if they cannot be alike.

    Zeros of either sign, and a NaN and a NaN, are alike.
    """
    worst = 0.0
    if len(actual) != len(expected):
        return float("inf")
    for one, other in zip(actual, expected, strict=True):
        if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
            return float("inf")
        largest = farthest = 0.0
        rows = zip(one, other, strict=True) if other.ndim else [(one, other)]
        for row, wanted in rows:  # row by row, so that no copies are made of the whole
            if np.array_equal(row, wanted, equal_nan=True):
                continue
            gap = np.abs(row.astype(np.float64) - wanted)
            if not np.isfinite(gap).all():
                return float("inf")
            farthest = max(farthest, float(gap.max(initial=0)))
        if farthest:
            largest = max(float(np.nanmax(other)), -float(np.nanmin(other)))
            worst = max(worst, farthest / largest if largest else float("inf"))
    return worst


def measure(options: argparse.Namespace, console: Console) -> WorkRun:
    """Take all the routes that can be taken for all the cases that are wanted."""
    run = WorkRun(describe_machine(PACKAGES))
    run.machine["versions"] = run.machine.pop("compared with")
    cases = [case for case in CASES if not options.only or _has_any(case.name, options.only)]
    run.cases = {case.name: case.title for case in cases}
    run.aims = {case.name: AIM for case in cases if case.is_aimed}
    routes: list[Route] = []
    busy = load()
    with ExitStack() as stack:
        for cls in ROUTES:
            route = cls()
            if options.routes and route.name not in (BASE, *options.routes):
                continue
            run.routes[route.name] = route.title
            reason = route.why_not()
            if reason:
                run.absent[route.title] = reason
                console.print(f"{route.title} is left out: {reason}", highlight=False)
                continue
            try:
                route.open()
            except Exception as error:  # noqa: BLE001 - the other routes are to be measured
                run.failures.append(f"{route.title}: {type(error).__name__}: {error}")
                continue
            stack.callback(route.close)
            routes.append(route)
        halves = None
        if not options.routes or CEILING in options.routes:
            run.routes[CEILING] = "SciPy twice, a half each"
            halves = stack.enter_context(two_processes())
        total = len({case.data for case in cases}) + len(cases) * (1 + options.repeats)
        with progress(console, total) as report:
            benchmark = Benchmark(run, routes, halves, options.repeats)
            try:
                with _interruptible(report) as each_step:
                    benchmark.measure(cases, options.size, each_step)
            except KeyboardInterrupt:
                run.failures.append("what came after it was interrupted")
    run.machine["megapixels"] = f"{options.size:g}"
    run.machine["rounds"] = str(options.repeats)
    # At the end it is the benchmark's own.
    run.machine["load average before"] = describe_load(busy)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scale = 1 if sys.platform == "darwin" else 1024
    run.machine["peak memory"] = f"{peak * scale / 1e9:.1f} GB"
    return run


def why_not_recorded(run: WorkRun) -> str | None:
    """Say why the docs do not take a run; None if they do."""
    if run.failures:
        return "the run is not complete"
    rounds = int(run.machine.get("rounds", 0))
    if rounds < ROUNDS:
        return f"its figures are of {rounds} rounds, and it shows those of {ROUNDS} or more"
    if "busy" in run.machine.get("load average before", "busy"):
        return "other programs were at work when the run began"
    if float(run.machine.get("megapixels", 0)) < MEGAPIXELS:
        return f"its photograph is smaller than {MEGAPIXELS} megapixels"
    wanted = [*(case.name for case in CASES), *(route.name for route in ROUTES), CEILING]
    missing = [name for name in wanted if name not in run.cases and name not in run.routes]
    return f"it leaves out {', '.join(missing)}" if missing else None


@contextmanager
def _interruptible(report: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Have Ctrl-C end the block at the next step at the latest.

    What distributed does when garbage is collected swallows the exception.
    """
    pressed: list[int] = []

    def handle(number: int, frame: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    def each_step(title: str) -> None:
        if pressed:
            raise KeyboardInterrupt
        report(title)

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield each_step
    finally:
        signal.signal(signal.SIGINT, before)


def _has_any(name: str, parts: list[str]) -> bool:
    return any(part in name for part in parts)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--size",
        type=float,
        default=MEGAPIXELS,
        metavar="MEGAPIXELS",
        help=f"of the photograph; {MEGAPIXELS}",
    )
    parser.add_argument("--only", type=_names, default=[], metavar="PARTS", help="cases: a,b")
    parser.add_argument("--routes", type=_names, default=[], help="besides SciPy: a,b")
    parser.add_argument("--repeats", type=int, default=ROUNDS, metavar="ROUNDS", help=f"{ROUNDS}")
    parser.add_argument("--list", action="store_true", help="name the cases and the routes")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw the bar chart as SVG")
    parser.add_argument(
        "--update-docs", action="store_true", help=f"put it into {PAGE.name} and {CHART.name}"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the samples")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="show what --json wrote")
    options = parser.parse_args()
    if options.list:
        print(*(f"{case.name:28} {case.title}" for case in CASES), sep="\n")
        print(*(f"{route.name:28} {route.title}" for route in ROUTES), sep="\n")
        print(f"{CEILING:28} SciPy twice, a half each")
        return 0
    if options.replay and options.json:
        parser.error("--json writes what is measured, and --replay measures nothing")
    if options.size <= 0 or options.repeats < 1:
        parser.error("--size must be more than 0, and --repeats at least 1")
    if options.only and not any(_has_any(case.name, options.only) for case in CASES):
        parser.error(f"no case has {' or '.join(options.only)} in its name; --list shows them")
    known = {*(route.name for route in ROUTES), CEILING}
    if not known.issuperset(options.routes):
        parser.error(f"routes are {', '.join(sorted(known))}")

    console = Console(stderr=True)
    if options.replay:
        run = load_work_run(json.loads(options.replay.read_text(encoding="utf-8")))
    else:
        run = measure(options, console)
    if options.json:
        options.json.write_text(json.dumps(asdict(run)), encoding="utf-8")
    if options.markdown:
        print(work_markdown(run), end="")
    else:
        width = None if sys.stdout.isatty() else 180
        show_sheets(run.machine, sheets(run), run.failures, Console(width=width))
    if options.chart:
        draw_chart(run, options.chart)
    if options.update_docs and (reason := why_not_recorded(run)):
        console.print(f"{PAGE.relative_to(ROOT)} is left as it was: {reason}")
        return 1
    if options.update_docs:
        update(PAGE, work_markdown(run))
        draw_chart(run, CHART)
        console.print(f"{PAGE.relative_to(ROOT)} and {CHART.name} have it now")
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
