"""The page about reliability has a figure for every attack of the suite."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from reliability import PAGE, SUITE, attack, counts, tables

REPORT = """<testsuites><testsuite tests="3">
<testcase classname="tests.attacks.test_one" name="test_links_to_files[x]"><properties>
  <property name="python" value="3.13.0, C"/>
  <property name="tried" value="1200"/><property name="held" value="1199"/>
</properties></testcase>
<testcase classname="tests.attacks.test_one" name="test_links_to_files[y]"><properties>
  <property name="python" value="3.13.0, C"/>
  <property name="tried" value="3"/><property name="held" value="3"/>
</properties></testcase>
<testcase classname="tests.attacks.test_one" name="test_other"/>
</testsuite></testsuites>"""


def test_counts_of_one_attack_are_summed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT, encoding="utf-8")
    assert [row[3:] for row in counts(report)] == [(1200, 1199), (3, 3)]
    monkeypatch.setattr("reliability.SUITE", tmp_path)
    (tmp_path / "test_one.py").write_text('"""Files that lie.\n\nMore."""\n', encoding="utf-8")
    text = tables([report])
    assert "**Files that lie** (`test_one`)" in text
    assert "| links to files | 1,202 of 1,203 |" in text
    assert "| all | 1,202 of 1,203 |" in text


def test_every_attack_of_the_suite_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = [
        f"{file.stem}: {node.name}"
        for file in SUITE.glob("test_*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if "tally" in {each.arg for each in node.args.args}
        if f"| {attack(node.name)} |" not in page
    ]
    assert not missing, f"record them as {PAGE.name} says: {missing}"


def test_the_suite_writes_what_the_tool_reads(tmp_path: Path) -> None:
    """The counts of a real run, with the suite's own fixtures."""
    folder = tmp_path / "attacks"
    folder.mkdir()
    (folder / "conftest.py").write_text((SUITE / "conftest.py").read_text(encoding="utf-8"))
    (folder / "test_two.py").write_text(
        '"""Two."""\n\n\ndef test_it(tally, scale):\n    """Once each."""\n'
        "    for _ in range(2 * scale):\n        tally.add(held=True)\n"
    )
    report = tmp_path / "report.xml"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", str(folder)],
        check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "ATTACK_SCALE": "3", "PATH": ""},
        capture_output=True,
    )
    assert [row[1:2] + row[3:] for row in counts(report)] == [("it", 6, 6)]
