"""The benchmark measures what it says, and shows what was measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rich", reason="the benchmark shows its tables with rich")

from bench._figures import FIGURES, Figure, compared
from bench._report import Run, markdown
from bench._tables import BEGIN, END, update

TOOLS = Path(__file__).parents[2] / "tools"

SAMPLES = {
    "raw/two": [1e-8, 2e-8, 1e-8],
    "bare/two": [3e-8, 6e-8, 3e-8],
    "spatch/two": [2e-8, 4e-8, 5e-8],
    "spatch/alone": [1e-8, 2e-8, 1e-8],
    "decorate": [2e-5],
}


def run(*arguments: str, pure: bool = False) -> Any:
    """Run a module of the benchmark and return what it prints as JSON."""
    variables = {**os.environ, "SPATCH_CORE_PURE": "1" if pure else "0"}
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=TOOLS,
        env={**variables, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_ratios_are_taken_round_by_round() -> None:
    """What disturbs one round disturbs both of what it compares."""
    assert Figure("", "", "spatch/two", "raw/two").rounds(SAMPLES) == pytest.approx([2, 2, 5])
    assert compared(SAMPLES, "spatch", "two") == pytest.approx(2)
    assert compared(SAMPLES, "spatch", "alone") == pytest.approx(1)
    assert compared(SAMPLES, "numpy", "two") is None


@pytest.mark.parametrize("pure", [True, False])
def test_calls_are_timed(pure: bool) -> None:
    """Every case that a figure needs is there, with as many samples as there were rounds."""
    import spatch_core

    arguments = ["bench._calls", "--rounds", "2", "--burst", "0.00002", "--seed", "1"]
    accelerated, samples = run(*arguments, pure=pure)
    if pure or not spatch_core.accelerated:
        assert accelerated is False
    wanted = {name for each in FIGURES["Calls"] for name in (each.samples, each.against)}
    assert wanted <= samples.keys()
    assert all(len(values) == 2 and min(values) > 0 for values in samples.values())


def test_what_happens_around_calls_is_timed() -> None:
    samples = run("bench._setup", "--rounds", "1", "--burst", "0.00002")
    wanted = {name for each in FIGURES["Around calls"] for name in (each.samples, each.against)}
    assert wanted - {""} <= samples.keys()


def test_several_runs_are_shown_under_their_interpreters(tmp_path: Path) -> None:
    """As text, with what is over the aim in bold, and as part of a page."""
    runs = [
        Run({"interpreter": name}, {"pure": SAMPLES, "accelerated": SAMPLES})
        for name in ("CPython 3.12.1", "CPython 3.13.0")
    ]
    text = markdown(runs)
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("###")] == [
        "### CPython 3.12.1",
        "### CPython 3.13.0",
    ]
    (row,) = {line for line in lines if line.startswith("| decorate a function |")}
    assert row.startswith("| decorate a function | µs | 20.0 | 15.0 | **over** |")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    for _ in range(2):
        update(page, text)
        assert page.read_text(encoding="utf-8") == f"before\n{BEGIN}\n\n{text}\n{END}\nafter\n"
    page.write_text("no marks\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the marks"):
        update(page, text)


def test_a_run_is_shown_again(tmp_path: Path) -> None:
    """From the raw samples, with what could not be measured, and the exit code for that."""
    fields = {
        "machine": {"interpreter": "CPython 3.12.1"},
        "samples": {"pure": SAMPLES},
        "failures": ["importing: OSError: no room"],
    }
    file = tmp_path / "run.json"
    file.write_text(json.dumps(fields), encoding="utf-8")
    command = [sys.executable, str(TOOLS / "bench" / "overhead.py"), "--replay", str(file)]
    for options, expected in (([], "decorate a function"), (["--markdown"], "### CPython 3.12.1")):
        done = subprocess.run(
            [*command, *options], capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 1, done.stderr
        assert expected in done.stdout
        assert "no room" in done.stdout
