"""The benchmark measures what it says, and shows what was measured."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyperf", reason="the benchmark keeps its samples with pyperf")
pytest.importorskip("rich", reason="the benchmark shows its progress with rich")

import spatch_core
from bench._figures import FIGURES, Figure, compared, tables
from bench._record import Record
from bench._tables import BEGIN, END, update
from bench._versions import ACCELERATED, PURE, Contestant, Version, Worker
from bench.overhead import Benchmark

CHECKOUT = Path(__file__).parents[2]
INSTALLED = Version("this one", Path(spatch_core.__file__).parents[1])
MODES = [
    PURE,
    pytest.param(
        ACCELERATED,
        marks=pytest.mark.skipif(not INSTALLED.is_built, reason="there is no C extension"),
    ),
]
TWO = [1e-8, 2e-8, 1e-8]
SAMPLES = {
    "pure/raw/two": [TWO],
    "pure/bare/two": [[3e-8, 6e-8, 3e-8]],
    "pure/spatch/two": [[2e-8, 4e-8, 5e-8]],
    "pure/spatch/alone": [TWO],
    "pure/decorate": [[2e-5]],
}


def overhead(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(CHECKOUT / "tools" / "bench" / "overhead.py"), *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def rows(lines: list[str]) -> dict[str, list[str]]:
    """Return the rows of tables by their first cells."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    return {row[0]: row[1:] for row in cells}


def test_ratios_are_taken_round_by_round() -> None:
    """What disturbs one round disturbs both of what it compares."""
    record = Record({}, SAMPLES)
    figure = Figure("", "", "spatch/two", "raw/two")
    assert figure.rounds(record, "pure") == pytest.approx([2, 2, 5])
    assert compared(record, "pure", "spatch", "two") == pytest.approx(2)
    assert compared(record, "pure", "spatch", "alone") == pytest.approx(1)
    assert compared(record, "pure", "numpy", "two") is None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("group", "title"),
    [("calls", "Calls"), ("around", "Around calls"), ("around", "Protocols")],
)
def test_calls_and_what_happens_around_them_are_timed(mode: str, group: str, title: str) -> None:
    """Every case that a figure needs is there, in every round that the worker is asked for."""
    worker = Worker(Contestant(INSTALLED, mode), group, 1, "--burst=0.00002")
    try:
        rounds = [worker.times() for _ in range(2)]
    finally:
        worker.close()
    wanted = {name for each in FIGURES[title] for name in (each.samples, each.against)} - {""}
    for samples in rounds:
        assert wanted <= samples.keys()
        assert min(samples.values()) > 0


def test_versions_are_measured_in_turn(tmp_path: Path) -> None:
    """Two versions of the package, in processes that take turns round by round."""
    record = Record({})
    contestants = {name: Contestant(INSTALLED, PURE) for name in ("pure", "old pure")}
    steps = dict(Benchmark(record, contestants, tmp_path, quick=True).steps())
    steps["calls, process 1 of 3"]()
    steps["importing"]()
    for name in ("raw/two", "spatch/two", "spatch/deferring", "import", "library"):
        (new, *_), (old, *_) = (record.samples[f"{each}/{name}"] for each in contestants)
        assert len(new) == len(old) > 0


def test_a_comparison_judges_by_pairs_of_processes() -> None:
    """Ten of ten are no accident, seven of ten may be one; rounds of one process count once."""
    pairs = {"two": [1.2] * 10, "one": [1.2] * 7 + [0.9] * 3, "three": [0.8] * 10}
    samples = {}
    for name, ratios in pairs.items():
        samples[f"old pure/spatch/{name}"] = [[1e-7, 1e-7, 1e-7] for _ in ratios]
        samples[f"pure/spatch/{name}"] = [[each * 1e-7, 5e-7, each * 1e-7] for each in ratios]
    found = rows([*tables(Record({}, samples, notes={"against": "commit 1"}))])
    assert found["2, positional"] == ["120 ns", "1.20 ± 0.00", "10 of 10", "**slower**"]
    assert found["1 dispatch argument"][2:] == ["7 of 10", ""]
    assert found["3, positional"][1:] == ["0.80 ± 0.00", "0 of 10", "faster"]


def test_several_runs_are_shown_under_their_interpreters(tmp_path: Path) -> None:
    """As text, with what is over the aim in bold, and as part of a page."""
    files = []
    for version in ("3.12.1", "3.13.0"):
        files.append(tmp_path / version)
        Record({"interpreter": f"CPython {version}"}, SAMPLES).save(files[-1])
    done = overhead("--replay", *map(str, files))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("###")] == [
        "### CPython 3.12.1",
        "### CPython 3.13.0",
    ]
    assert rows(lines)["decorate a function"] == ["µs", "20.0", "15.0", "**over**"]
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    for _ in range(2):
        update(page, done.stdout)
        text = page.read_text(encoding="utf-8")
        assert text == f"before\n{BEGIN}\n\n{done.stdout}\n{END}\nafter\n"
    page.write_text("no marks\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the marks"):
        update(page, "")


def test_a_run_is_shown_again(tmp_path: Path) -> None:
    """From the samples, with what could not be measured, and the exit code for that.

    They are in pyperf's format.
    """
    file = tmp_path / "run.json"
    record = Record({"interpreter": "CPython 3.12.1"}, SAMPLES, ["importing: OSError: no room"])
    record.save(file)
    assert Record.load(file) == record
    command = [sys.executable, "-m", "pyperf", "show", str(file)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "pure/spatch/two" in shown
    done = overhead("--replay", str(file))
    assert done.returncode == 1, done.stderr
    assert "decorate a function" in done.stdout
    assert "no room" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--against", f"no{os.sep}folder", "--quick"], "neither a checkout of spatch_core"),
        (["--against", "HEAD", "--update-docs"], "the docs show one version"),
        (["--replay", "run.json", "--json", "other.json"], "--replay measures nothing"),
    ],
)
def test_wrong_options_are_told(arguments: list[str], text: str) -> None:
    done = overhead(*arguments)
    assert done.returncode == 2
    assert text in " ".join(done.stderr.split())
