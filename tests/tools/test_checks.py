"""The checks: their sessions and summary, wheels, and parts of parametrized tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from _environments import ROOT, build_wheel
from _summary import summary

pytest.importorskip("nox", reason="the checks run in an environment with nox")

NOXFILE = ROOT / "noxfile.py"

pytestmark = pytest.mark.skipif(
    not (ROOT / "example_backends").is_dir(), reason="only a checkout has the sources of wheels"
)

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


SUITE = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'


def write(folder: Path, **codes: int) -> None:
    """Write a report of nox: 1 is a success, 0 a failure, -1 an abort, 2 a skip."""
    sessions = [
        {"name": name.replace("_", "-"), "result_code": code, "duration": 1.25}
        for name, code in codes.items()
    ]
    (folder / "nox.json").write_text(json.dumps({"sessions": sessions}), encoding="utf-8")


def test_the_summary_has_counts_reasons_and_what_to_repeat(tmp_path: Path) -> None:
    """Of all reports; interpreters that were not found count only where the core was tested."""
    write(tmp_path, core_3_12=0, types=1, docs=-1)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "docs.xml").write_text(SUITE.format(9, 2, 1, 3), encoding="utf-8")
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
    lines = summary(tmp_path, ["3.11", "3.14"]).splitlines()
    assert "failure: tests.test_a::test_two: AssertionError: 1 is not 2" in lines
    assert "error: tests.test_a::test_three: TimeoutError: no worker" in lines
    assert "to repeat: python3 tools/check.py --only core-3-12 docs" in lines
    assert "left out, because not found: Python 3.11, 3.14" in lines
    assert lines[-2:] == ["steps: 1 passed, 2 failed", "tests: 4 passed, 5 failed, 3 skipped"]
    write(tmp_path, lint=1)
    assert "3.11" not in summary(tmp_path, ["3.11"])


@pytest.fixture
def distribution(tmp_path: Path) -> Path:
    folder = tmp_path / "example"
    (folder / "src/example").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "example"\n', encoding="utf-8")
    (folder / "src/example/__init__.py").write_text("x = 1\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("path", "is_new"),
    [
        ("src/example/__init__.py", True),
        ("pyproject.toml", True),
        ("tests/test_x.py", False),
        ("src/example/__pycache__/x.pyc", False),
        ("src/example.egg-info/PKG-INFO", False),
        ("src/example/_fast.cpython-312-x86_64-linux-gnu.so", False),
        ("build/lib/example/old.py", False),
    ],
)
def test_a_wheel_is_built_again_if_what_it_holds_has_changed(
    distribution: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, is_new: bool
) -> None:
    """And is not built twice otherwise; the old one goes."""

    def build(command: list[str], check: bool) -> None:
        """Write an empty wheel where pip or uv would, which test environments may lack."""
        (home,) = (Path(each) for each in command if Path(each).name == "built")
        home.mkdir(parents=True)
        (home / "example-0-py3-none-any.whl").touch()

    monkeypatch.setattr("subprocess.run", build)
    first, second = (build_wheel(sys.executable, distribution, tmp_path / "w") for _ in range(2))
    assert first == second
    file = distribution / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x = 2\n", encoding="utf-8")
    found = build_wheel(sys.executable, distribution, tmp_path / "w")
    assert (found != first) is is_new
    assert first.exists() is not is_new


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


def test_workers_agree_on_the_part(tmp_path: Path) -> None:
    passed, left_out = counts(tmp_path, "--every=3", "-n0")
    assert passed + left_out == 301
    assert 70 <= passed <= 130
    assert counts(tmp_path, "--every=3", "-n2")[0] == passed
