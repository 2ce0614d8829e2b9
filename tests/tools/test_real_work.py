"""The benchmark of real work compares before it times, and shows what it measured."""

from __future__ import annotations

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
from bench._work_report import shown
from bench.real_work import Benchmark, difference

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
    Benchmark(run, routes, 2).measure([case], MEGAPIXELS, lambda title: None)
    measured = {f"{case.name}/{each}" for each in ("scipy", "default")}
    assert run.samples.keys() == measured
    assert all(len(each) == 2 for (each,) in run.samples.values())
    memory, off, late = run.failures
    assert memory == "photograph, Broken: MemoryError: too much"
    assert off.startswith("sobel, Wrong: AssertionError: the result is off by")
    assert late.startswith("sobel, Late: StopIteration")
    assert run.notes["left_out"][case.name].keys() == {"other"}


def test_workers_keep_blocks_and_results() -> None:
    """Two processes with blocks of their own; the result has SciPy's bits."""
    pytest.importorskip("distributed")
    pytest.importorskip("scipy_dispatch_dask")
    case = case_of("median_filter-volume")
    routes: list[Route] = [route_of("scipy"), route_of("processes")]
    run = record_of(case, routes)
    assert routes[1].why_not() is None
    routes[1].open()
    try:
        Benchmark(run, routes, 1).measure([case], MEGAPIXELS, lambda title: None)
    finally:
        routes[1].close()
    assert run.failures == []
    assert run.samples.keys() == {f"{case.name}/{each}" for each in ("scipy", "processes")}


def test_the_program_measures_shows_and_shows_again(tmp_path: Path) -> None:
    """Every route that is installed but processes, of work that is enough for threads."""
    file, chart = tmp_path / "run.json", tmp_path / "chart.svg"
    options = ["--size", "0.8", "--repeats", "2", "--only", "gaussian_filter-p,fftconvolve"]
    done = program(*options, "--routes", "threads,dask", "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    run = Record.load(file)
    for route in ("scipy", *shown(run)):
        assert f"gaussian_filter-photograph/{route}" in run.samples
    again = program("--replay", str(file), "--chart", str(chart))
    assert again.returncode == 0, again.stderr
    (row,) = (
        line
        for line in again.stdout.splitlines()
        if line.startswith("| gaussian_filter") and " 1.70 " in line
    )
    # The name, SciPy's seconds, the routes; of threads the aim and the verdict, too.
    assert row.count("|") == 3 + len(shown(run)) + 2 * ("threads" in shown(run))
    assert chart.read_text(encoding="utf-8").rstrip().endswith("</svg>")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--only", "medain"], "no case has medain in its name"),
        (["--routes", "thread"], "routes are cupy, dask,"),
        (["--size", "0"], "--size must be more than 0"),
        (["--replay", "run.json", "--json", "other.json"], "--replay measures nothing"),
    ],
)
def test_wrong_options_are_told(arguments: list[str], text: str) -> None:
    done = program(*arguments)
    assert done.returncode == 2
    assert text in " ".join(done.stderr.split())
