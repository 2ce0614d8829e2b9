"""The totals are those of the reports that nox and pytest write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from _summary import summary

if TYPE_CHECKING:
    from pathlib import Path

SUITE = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'


def write(folder: Path, **codes: int) -> None:
    """Write a report of nox: 1 is a success, 0 a failure, -1 an abort, 2 a skip."""
    sessions = [
        {"name": name.replace("_", "-"), "result_code": code, "duration": 1.25}
        for name, code in codes.items()
    ]
    (folder / "nox.json").write_text(json.dumps({"sessions": sessions}), encoding="utf-8")


def test_counts_are_summed_over_the_reports(tmp_path: Path) -> None:
    write(tmp_path, core=1, docs=1)
    for name, counts in {"core/core": (9, 2, 1, 3), "docs/docs": (4, 0, 0, 0)}.items():
        path = tmp_path / f"{name}.xml"
        path.parent.mkdir()
        path.write_text(SUITE.format(*counts), encoding="utf-8")
    lines = summary(tmp_path, []).splitlines()
    assert lines[-2:] == ["steps: 2 passed, 0 failed", "tests: 7 passed, 3 failed, 3 skipped"]


def test_steps_that_failed_can_be_run_again(tmp_path: Path) -> None:
    write(tmp_path, lint=1, types=0, docs=-1)
    text = summary(tmp_path, [])
    assert "python3 tools/check.py --only types docs\n" in text
    assert "steps: 1 passed, 2 failed" in text


def test_interpreters_that_were_not_found_are_named(tmp_path: Path) -> None:
    write(tmp_path, core_3_12=1)
    assert "Python 3.11, 3.14" in summary(tmp_path, ["3.11", "3.14"])
    write(tmp_path, lint=1)
    assert "3.11" not in summary(tmp_path, ["3.11"])


def test_tests_that_failed_are_named_with_their_reasons(tmp_path: Path) -> None:
    write(tmp_path, core=0)
    (tmp_path / "core.xml").write_text(
        """<testsuites><testsuite tests="3" failures="1" errors="1" skipped="0">
        <testcase classname="tests.test_a" name="test_one"/>
        <testcase classname="tests.test_a" name="test_two">
          <failure message="AssertionError: 1 is not 2&#10;and more">long text</failure></testcase>
        <testcase classname="tests.test_a" name="test_three">
          <error>TimeoutError: no worker</error></testcase>
        </testsuite></testsuites>""",
        encoding="utf-8",
    )
    lines = summary(tmp_path, []).splitlines()
    assert "failure: tests.test_a::test_two: AssertionError: 1 is not 2" in lines
    assert "error: tests.test_a::test_three: TimeoutError: no worker" in lines
