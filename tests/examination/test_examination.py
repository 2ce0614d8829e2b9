"""The examination as a library, the children that it starts, and why an import fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import spatch_core.examination
from spatch_core.examination.child import TaskResult, run
from spatch_core.examination.importing import Importer
from spatch_core.testing import run_python

if TYPE_CHECKING:
    from tests.cli.conftest import Site


def without_extra(folder: Path) -> Path:
    """A folder whose modules cannot be imported, in child processes either."""
    folder.mkdir()
    for name in ("click", "rich", "tomlkit"):
        (folder / f"{name}.py").write_text("raise ImportError(f'{__name__} must not be imported')")
    return folder


def test_it_needs_no_extra(paint: Site, tmp_path: Path) -> None:
    """Libraries and files are examined without it; only writing needs tomlkit."""
    file = paint.folder / "paint_oil" / "backend.toml"
    code = f"""
        from spatch_core.examination import examine_library, update_file, verify_file

        by_name = examine_library("paintlib")
        assert [each["name"] for each in by_name.backends] == ["default", "oil"]
        (finding,) = by_name.findings
        print(finding.severity.value, finding.backend, finding.key)

        report = verify_file({str(file)!r})
        print([(each.line, each.message) for each in report.faults])
        print([each.key for each in update_file({str(file)!r}, check=True).findings])
        """
    found = run_python(code, path=[without_extra(tmp_path / "blocked"), paint.folder])
    assert found.stdout.splitlines() == [
        'error oil functions."paintlib.filters:blur".function',
        """[(6, "'paint_oil' has no 'blur'")]""",
        "['functions.auto-generation']",
    ]


def test_names_are_listed_and_unknown_ones_are_errors() -> None:
    """It holds although all names are imported lazily."""
    names = spatch_core.examination.__all__
    assert set(names) <= set(dir(spatch_core.examination))
    assert all(getattr(spatch_core.examination, name).__name__ == name for name in names)
    assert not hasattr(spatch_core.examination, "Fault")


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
    assert (str(ending), ending.key) == (f"importing bad {how}", "key bad")
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


@pytest.mark.parametrize(
    ("mistake", "expected"),
    [
        ("backend.implements('easel.blur')", "'easel.blur' is not an identifier"),
        ("backend.implements('easel:blur')(lambda image: image)", "<lambda>' is not an identifier"),
        ("backend.implements('easel:blur', should_run='ask')(blur)", "'ask' is not an identifier"),
        ("backend.set_should_run(blur)", "is not registered"),
        ("BackendImplementation('a b')", "'a b' is not a backend name"),
    ],
)
def test_a_mistake_of_a_registration_is_at_the_line_of_its_author(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str, expected: str
) -> None:
    """F10: the message has no line of this package, which only found the mistake."""
    file = tmp_path / "easel_registers.py"
    file.write_text(
        "from spatch_core import BackendImplementation\n"
        "backend = BackendImplementation('gpu')\n"
        "def blur(image): ...\n"
        f"\n{mistake}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    finding = Importer([]).try_module("easel_registers", is_needed=True)
    assert finding is not None
    assert expected in finding.message
    assert finding.message.endswith(f" ({file}:5)")
