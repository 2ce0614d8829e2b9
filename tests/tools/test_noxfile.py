"""The sessions of nox are the steps of the checks; one that fails makes the whole fail."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nox", reason="the checks run in an environment with nox")

ROOT = Path(__file__).parents[2]
NOXFILE = ROOT / "noxfile.py"

pytestmark = pytest.mark.skipif(not NOXFILE.exists(), reason="only a checkout has the noxfile")

STEPS = """
import sys
sys.path.insert(0, {root!r})
import noxfile

@noxfile.step("fails, and goes on", name="fails", version={version!r})
def fails(step):
    step.run("python", "-c", "print('why'); exit(3)")
    step.run("python", "-c", "print('went on')")

@noxfile.step("does not say what it should", name="silent", version={version!r})
def silent(step):
    step.run("python", "-c", "print('no')", says="yes")

@noxfile.step("passes", name="passes", version={version!r})
def passes(step):
    step.run("python", "-c", "print('all well')", says="well")
    step.run("python", "-c", "exit(2)", code=2)
    step.run("python", "-c", "import os; print({{*os.environ}})", says="OTHER")
    kept = "import os; exit(any(name.startswith('SPATCH_CORE_') for name in os.environ))"
    step.run("python", "-c", kept)
"""


def nox(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nox", *map(str, arguments)],
        env={**os.environ, **variables, "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def sessions() -> list[str]:
    done = nox("--noxfile", NOXFILE, "--list", "--json")
    assert done.returncode == 0, done.stderr
    return [session["session"] for session in json.loads(done.stdout)]


def test_the_steps_are_sessions(sessions: list[str]) -> None:
    assert len(set(sessions)) == len(sessions)
    assert {"lint", "imports", "types", "examples", "backends", "docs", "wheels"} < set(sessions)
    assert any(re.fullmatch(r"core-3\.\d+", name) for name in sessions)


def test_tests_that_are_left_out_exist() -> None:
    """Some Pythons run fewer tests; a path that is misspelled would leave out nothing, or all."""
    text = NOXFILE.read_text(encoding="utf-8")
    listed = re.findall(r"^\w+_TESTS = \((.*?)\)$", text, re.MULTILINE | re.DOTALL)
    assert len(listed) == 7
    for name in re.findall(r'"(.*?)"', " ".join(listed)):
        assert (ROOT / "tests" / name).exists(), name


def test_a_step_that_fails_makes_the_whole_fail(tmp_path: Path) -> None:
    """All of the steps run, and the summary names those that failed."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    file = tmp_path / "noxfile.py"
    file.write_text(STEPS.format(root=str(ROOT), version=version), encoding="utf-8")
    names = ["--sessions", "fails", "silent", "passes"]
    variables = {"CI": "true", "OTHER": "x"}
    done = nox("--noxfile", file, "--envdir", tmp_path / "environments", *names, **variables)

    assert done.returncode == 1
    assert "why\n" in done.stdout
    assert "went on\n" in done.stdout
    assert "did not print 'yes'" in done.stderr
    lines = done.stdout.splitlines()
    assert "to repeat: python3 tools/check.py --only fails silent" in lines
    assert lines[-2] == "steps: 1 passed, 2 failed"
    assert lines[-1] == "tests: 0 passed, 0 failed, 0 skipped"
