"""A failing command fails its step and the run, and the totals are those of the reports."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from _interpreters import Interpreter
from _progress import Progress
from _steps import Checks, Command, Step
from _workshop import SetupError, Workshop
from check import Runner, main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REPORT = """<testsuites><testsuite tests="9" failures="2" errors="1" skipped="3"/></testsuites>"""


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    found = [Interpreter((3, 12, 1), "python3.12", has_pip=True)]
    monkeypatch.setattr("_workshop.find_interpreters", lambda: found)
    return Runner(Workshop(tmp_path, Progress()))


def python(program: str, **options: Any) -> Command:
    return Command("a command", [sys.executable, "-c", program], **options)


def run(runner: Runner, *commands: Command) -> bool:
    runner.run(Step("step", "a step", lambda: iter(commands)))
    return runner.results[-1][1]


def test_a_step_passes_when_its_commands_do(runner: Runner) -> None:
    assert run(runner, python(""), python("print('all well')", says="well"))


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (python("print('why'); exit(3)"), "why"),
        (python("", code=2), "code 0, not 2"),
        (python("print('no')", says="yes"), "did not print 'yes'"),
    ],
    ids=["code", "other code", "output"],
)
def test_a_step_fails_with_one_command_and_goes_on(
    runner: Runner, capsys: pytest.CaptureFixture[str], command: Command, says: str
) -> None:
    assert not run(runner, command, python("exit(5)"))
    output = capsys.readouterr().out
    assert says in output
    assert "ended with code 5" in output
    assert "steps: 0 passed, 1 failed" in runner.summary()
    assert "--only step" in runner.summary()


def test_commands_side_by_side(runner: Runner, tmp_path: Path) -> None:
    """Each waits for the other to begin; one that fails fails the step."""

    def meet(mine: str, other: str, code: int) -> Command:
        return python(
            f"""
import pathlib, sys, time
pathlib.Path({str(tmp_path / mine)!r}).touch()
while not pathlib.Path({str(tmp_path / other)!r}).exists():
    time.sleep(0.01)
sys.exit({code})
"""
        )

    for code, title in ((0, "both pass"), (5, "one fails")):
        commands = [meet(f"{title} 1", f"{title} 2", 0), meet(f"{title} 2", f"{title} 1", code)]
        step = Step(title, title, partial(iter, commands), side_by_side=True)
        runner.run(step)
        assert runner.results[-1][1] == (code == 0)


def test_a_step_fails_when_its_environment_cannot_be_made(
    runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    def commands() -> Iterator[Command]:
        yield python("")
        raise SetupError("no network")

    runner.run(Step("step", "a step", commands))
    assert "no network" in capsys.readouterr().out
    assert not runner.results[-1][1]


def test_totals_are_those_of_the_reports(runner: Runner, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    write = f"import pathlib; pathlib.Path({str(report)!r}).write_text({REPORT!r}); exit(1)"
    run(runner, python(write, report=report))
    assert runner.summary().splitlines()[-1] == "tests: 3 passed, 3 failed, 3 skipped"


def test_steps_have_names_of_their_own(runner: Runner) -> None:
    names = [step.name for step in Checks(runner.workshop).steps()]
    assert len(set(names)) == len(names)
    assert {"lint", "types", "imports", "examples", "docs", "wheels"} < set(names)


def test_an_unknown_step_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["check.py", "--only", "tpyes"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "types" in capsys.readouterr().err
