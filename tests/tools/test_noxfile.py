"""The sessions of nox are the steps of the checks; one that fails makes the whole fail."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import check

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
    assert len(listed) == 6
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


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, sessions: list[str]) -> list[list[str]]:
    """The commands that `check.py` runs, with a stand-in for its environment."""

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        listed = json.dumps([{"session": name} for name in sessions])
        return subprocess.CompletedProcess(command, 7, stdout=listed)

    ran: list[list[str]] = []
    monkeypatch.setattr(check, "make_environment", lambda folder: Path(sys.executable))
    monkeypatch.setattr(check, "install", lambda python, *arguments, **options: None)
    monkeypatch.setattr("subprocess.run", run)
    return ran


@pytest.mark.parametrize(
    ("arguments", "selected"),
    [([], ["--tags", "quick"]), (["--all"], []), (["-s", "docs"], ["-s", "docs"])],
    ids=["quick", "all", "options of nox"],
)
def test_the_quick_steps_run_unless_others_are_named(
    monkeypatch: pytest.MonkeyPatch,
    commands: list[list[str]],
    arguments: list[str],
    selected: list[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["check.py", *arguments])
    assert check.main() == 7
    place = commands[-1].index("--noxfile")
    assert commands[-1][place + 2 :] == selected


def test_a_name_stands_for_those_that_begin_with_it(
    monkeypatch: pytest.MonkeyPatch, commands: list[list[str]], sessions: list[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["check.py", "--only", "lint", "core", "--", "-x"])
    check.main()
    begin = commands[-1].index("--sessions")
    cores = [name for name in sessions if name.startswith("core-")]
    assert commands[-1][begin:] == ["--sessions", "lint", *cores, "--", "-x"]


def test_an_unknown_step_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    commands: list[list[str]],
) -> None:
    monkeypatch.setattr(sys, "argv", ["check.py", "--only", "tpyes"])
    with pytest.raises(SystemExit, match="2"):
        check.main()
    assert "types" in capsys.readouterr().err
