"""The benchmark measures what it says, and shows what was measured."""

from __future__ import annotations

import os
import subprocess
import sys
import timeit
from pathlib import Path

import pytest

pytest.importorskip("pyperf", reason="the benchmark measures with pyperf")
pytest.importorskip("rich", reason="the benchmark shows its tables with rich")

import pyperf

import spatch_core
from bench._cases import cases
from bench._record import BEGIN, END, update
from bench.overhead import CASES, FIGURES, RAW, Figure, compared, measure, samples, tables

PACKAGE = Path(spatch_core.__file__).parents[1]
SAMPLES = {
    "raw/two": [[1e-8, 2e-8], [1e-8]],
    "spatch/two": [[2e-8, 4e-8], [5e-8]],
    "decorate": [[2e-5]],
}


def test_figures_are_of_the_samples() -> None:
    """As ratios to the reference in the same turn, or as times."""
    assert Figure("", RAW, "spatch/two", "raw/two").values(SAMPLES) == pytest.approx([2, 2, 5])
    assert Figure("", "ns", "spatch/two").values(SAMPLES) == pytest.approx([20, 40, 50])
    assert Figure("", RAW, "spatch/two", "raw/three").values(SAMPLES) == []
    assert compared(SAMPLES, "spatch", "two") == pytest.approx(2)
    assert compared(SAMPLES, "numpy", "two") is None


def test_tables_tell_what_is_over_the_aim(tmp_path: Path) -> None:
    """They replace what is between the marks of a page."""
    text = "\n".join(tables({"pure": SAMPLES}))
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    found = {cells[0]: cells[1:] for cells in lines if cells}
    assert found["decorate a function"] == ["µs", "20.0", "15.0", "**over**"]
    assert found["**spatch-core, pure Python**"][1] == "2.00"
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    for _ in range(2):
        update(page, text)
        assert page.read_text(encoding="utf-8") == f"before\n{BEGIN}\n\n{text}\n{END}\nafter\n"
    page.write_text("no marks\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the marks"):
        update(page, "")


def test_each_figure_has_a_case_that_runs() -> None:
    """Once each, in this process."""
    found = {case.name: case for case in cases(own=True)}
    wanted = {name for each in FIGURES.values() for one in each for name in (one.name, one.against)}
    assert wanted - {""} <= found.keys()
    # Backends with many functions take seconds; they differ from the others by a number.
    for name in found.keys() - {"order/100", "first call"}:
        case = found[name]
        if isinstance(case.timed, str):
            seconds = timeit.timeit(case.timed, globals={**case.values}, number=1)
        else:
            seconds = case.timed(1)
        assert seconds > 0, name


def test_rounds_are_kept_together(tmp_path: Path) -> None:
    """They come from processes of pyperf, in the mode that is asked for."""
    file = tmp_path / "samples.json"
    measure({str(file): (PACKAGE, "pure")}, 2, own=True, only="spatch/tw")
    suite = pyperf.BenchmarkSuite.load(str(file))
    assert suite.get_metadata()["accelerated"] == "False"
    assert [(name, len(each)) for name, each in samples(str(file)).items()] == [("spatch/two", 2)]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--against", f"no{os.sep}folder"], "neither a checkout of spatch_core"),
        (["--against", "HEAD", "--update-docs"], "the docs show one version, completely"),
    ],
)
def test_wrong_options_are_told(arguments: list[str], text: str) -> None:
    command = [sys.executable, str(CASES.with_name("overhead.py")), *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert text in " ".join(done.stderr.split())
