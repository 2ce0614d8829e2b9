"""The benchmark of real work compares before it times, and shows what it measured."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("matplotlib", reason="the benchmark draws its chart with Matplotlib")
pytest.importorskip("pyperf", reason="the benchmark keeps its samples with pyperf")
pytest.importorskip("rich", reason="the benchmark shows its progress with rich")
pytest.importorskip("scipy_dispatch", reason="the benchmark measures scipy-dispatch")
pytest.importorskip("skimage", reason="the benchmark's photograph is scikit-image's")

import numpy as np

from bench._record import Record
from bench._routes import ROUTES, Dispatched
from bench._work import CASES
from bench.real_work import Benchmark, difference, draw_chart, work_tables

if TYPE_CHECKING:
    from bench._routes import Route
    from bench._work import Case

PROGRAM = Path(__file__).parents[2] / "tools" / "bench" / "real_work.py"
MEGAPIXELS = 0.02


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(PROGRAM), *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def route_of(name: str) -> Route:
    (cls,) = (each for each in ROUTES if each.name == name)
    return cls()


def case_of(name: str) -> Case:
    (case,) = (each for each in CASES if each.name == name)
    return case


def record_of(case: Case, routes: list[Route]) -> Record:
    titles = {each.name: each.title for each in routes}
    return Record({}, notes={"cases": {case.name: case.title}, "routes": titles})


def test_differences_are_relative_to_the_largest_value() -> None:
    expected = np.array([[-8.0, np.nan], [0.0, 2.0]])
    assert difference([expected.copy()], [expected]) == 0
    assert difference(
        [expected + np.array([[0.0, 0.0], [0.0, 0.04]])], [expected]
    ) == pytest.approx(0.005)
    for other in (expected[:1], expected.astype(complex), np.array([[-8.0, 1.0], [0.0, np.inf]])):
        assert difference([other], [expected]) == float("inf")
    assert difference([expected, expected], [expected]) == float("inf")
    assert difference([np.array(3)], [np.array(2)]) == pytest.approx(0.5)
    assert difference([np.array([], bool)], [np.array([], bool)]) == 0


def test_a_result_that_is_not_scipys_is_not_timed() -> None:
    """The others are; what is off is told."""

    class Wrong(Dispatched):
        name = "wrong"
        title = "Wrong"

        def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Any:
            return lambda: function(array, **arguments) + np.float32(1e-6)

    class Broken(Dispatched):
        name = "broken"
        title = "Broken"

        def given(self, array: Any) -> Any:
            raise MemoryError("too much")

    class Late(Dispatched):
        name = "late"
        title = "Late"

        def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Any:
            calls = iter([array])
            return lambda: function(next(calls), **arguments)

    class Other(Dispatched):
        name = "other"
        title = "Other"
        backend = "other"

    case = case_of("sobel-photograph")
    routes: list[Route] = [route_of("scipy"), Wrong(), Broken(), Late(), Other(), Dispatched()]
    run = record_of(case, routes)
    Benchmark(run, routes, 2).measure([case], MEGAPIXELS)
    measured = {f"{case.name}/{each}" for each in ("scipy", "default")}
    assert run.samples.keys() == measured
    assert all(len(each) == 2 for each in run.samples.values())
    memory, off, late = run.failures
    assert memory == "photograph, Broken: MemoryError: too much"
    assert off.startswith("sobel, Wrong: AssertionError: the result is off by")
    assert late.startswith("sobel, Late: StopIteration")
    assert run.notes["left_out"][case.name].keys() == {"other"}


def test_a_run_is_shown_as_tables_and_as_a_chart(tmp_path: Path) -> None:
    """The name, SciPy's seconds, the routes; of threads the aim and the verdict, too."""
    case = case_of("gaussian_filter-photograph")
    routes: list[Route] = [route_of("scipy"), route_of("threads"), route_of("dask")]
    run = record_of(case, routes)
    run.notes |= {"aims": {case.name: 1.7}, "left_out": {}, "absent": {}}
    run.samples = {f"{case.name}/{each.name}": [2.0, 3.0, 4.0] for each in routes}
    run.samples[f"{case.name}/threads"] = [1.0, 1.5, 2.0]
    lines = [*work_tables(run)]
    (row,) = [line for line in lines if line.startswith("| gaussian_filter")]
    cells = [each.strip() for each in row.split("|")[2:-1]]
    assert cells == ["3.00", "2.00 ± 0.00", "1.70", "ok", "1.00 ± 0.00"]
    draw_chart(run, tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text(encoding="utf-8").rstrip().endswith("</svg>")


def test_the_program_measures_and_shows() -> None:
    """By the routes that are wanted."""
    options = ["--size", "0.02", "--repeats", "2", "--only", "sobel"]
    done = program(*options, "--routes", "threads,dask")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\| sobel +\|", done.stdout, re.MULTILINE)
