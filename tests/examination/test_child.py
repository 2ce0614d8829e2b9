"""Tasks of child processes: whatever an import does, the parent learns what happened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spatch_core.examination.child import TaskResult, run

TASK = """
def task(request, journal):
    for module in request["modules"]:
        if journal.begins("importing " + module, "key " + module, module):
            __import__(module)
            journal.add("imported", module)
"""


def imported(folder: Path, modules: dict[str, str], limit: float = 60) -> TaskResult:
    """Import modules with this code in a child."""
    (folder / "tasks.py").write_text(TASK)
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code)
    request = {"modules": [*modules]}
    return run("tasks:task", request, "importing", folders=[str(folder)], limit=limit)


def test_results_are_those_of_the_task(tmp_path: Path) -> None:
    """What modules print is none of them, whatever way they take."""
    code = (
        "import os, sys; print('[1, 2]'); os.write(1, b'[\"imported\", 1]\\n'); sys.stdout.flush()"
    )
    result = imported(tmp_path, {"loud": code, "quiet": ""})
    assert result.is_complete
    assert result.values["imported"] == ["loud", "quiet"]
    assert result.endings == []


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("import os; os._exit(3)", "ended the interpreter with exit code 3"),
        ("import os; os.abort()", "crashed the interpreter (SIGABRT)"),
        ("import time; time.sleep(600)", "took longer than 5 s and was ended"),
    ],
    ids=["exits", "crashes", "hangs"],
)
def test_a_module_that_ends_the_child_is_named_and_skipped(
    tmp_path: Path, code: str, how: str
) -> None:
    """The other modules are imported by another child."""
    result = imported(tmp_path, {"first": "", "bad": code, "last": ""}, limit=5)
    assert result.values["imported"] == ["first", "last"]
    (ending,) = result.endings
    assert (str(ending), ending.keys) == (f"importing bad {how}", ["key bad"])
    assert result.is_complete


def test_too_many_endings_are_given_up(tmp_path: Path) -> None:
    """Then the result is incomplete."""
    result = imported(tmp_path, {f"bad{n}": "import os; os._exit(7)" for n in range(7)})
    assert (len(result.endings), result.is_complete) == (6, False)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no process groups")
@pytest.mark.parametrize("end", ["", "os._exit(1)", "time.sleep(600)"], ids=["", "exits", "hangs"])
def test_processes_that_an_import_has_started_end_with_the_child(tmp_path: Path, end: str) -> None:
    """A pipe that one of them holds open reaches its end."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    code = f"""
import os, subprocess, sys, time
with open({str(path)!r}, "w") as pipe:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=pipe)
{end}
"""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
        imported(tmp_path, {"starts": code}, limit=5)
        os.set_blocking(stream.fileno(), True)
        assert stream.read() == b""


def test_what_lasts_after_the_task_is_ended(tmp_path: Path) -> None:
    """Threads and exit handlers of modules are not waited for."""
    code = "import atexit, threading, time; atexit.register(time.sleep, 600)\n"
    code += "threading.Thread(target=time.sleep, args=[600]).start()"
    result = imported(tmp_path, {"thread": code}, limit=300)
    assert result.is_complete
    assert result.values["imported"] == ["thread"]
