"""A part of the parametrized tests runs, and all others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest

def test_alone(): pass

@pytest.mark.parametrize("number", range(300))
def test_each(number): pass
"""


def counts(folder: Path, *options: str) -> tuple[int, int]:
    """Return how many tests passed and how many were left out."""
    (folder / "test_these.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    tools = Path(__file__).parents[2] / "tools"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "part_of_tests", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(tools)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    left_out = re.search(r"(\d+) deselected", done.stdout)
    return int(passed[1]) if passed else 0, int(left_out[1]) if left_out else 0


def test_all_run_unless_a_part_is_wanted(tmp_path: Path) -> None:
    assert counts(tmp_path) == (301, 0)


def test_workers_agree_on_the_part(tmp_path: Path) -> None:
    passed, left_out = counts(tmp_path, "--every=3", "-n0")
    assert passed + left_out == 301
    assert 70 <= passed <= 130
    assert counts(tmp_path, "--every=3", "-n2")[0] == passed
