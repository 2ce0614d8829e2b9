"""Imports that change what all code in a process shares."""

from __future__ import annotations

import builtins
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from spatch_core.examination.isolation import imported_apart, unchanged_process

HOSTILE = """
import builtins, json, os, signal, sys
os.environ["ISOLATED"] = "changed"
os.chdir("/")
sys.path.clear()
sys.meta_path.insert(0, None)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
sys.setrecursionlimit(sys.getrecursionlimit() + 1)
builtins.open = json.dumps = None
with os.fdopen(os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a") as log:
    log.write("run ")
raise {error}
"""


def shared_state() -> tuple[object, ...]:
    return (
        dict(os.environ), os.getcwd(), sys.path[:], sys.meta_path[:], sys.getrecursionlimit(),
        signal.getsignal(signal.SIGUSR1), builtins.open, json.dumps,
    )  # fmt: skip


@pytest.mark.parametrize("error", ["OSError('no')", "SystemExit(3)", "BaseException('no')"])
def test_an_import_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    """One that fails runs once, and raises the same again."""
    log = tmp_path / "log"
    (tmp_path / "hostile_pkg").mkdir()
    (tmp_path / "hostile_pkg" / "__init__.py").write_text(HOSTILE.format(log=str(log), error=error))
    (tmp_path / "harmless_mod.py").write_text("import os; seen = os.environ.get('ISOLATED')")
    monkeypatch.syspath_prepend(tmp_path)
    before = shared_state()
    with imported_apart(["hostile_pkg.sub", "harmless_mod"]):
        with pytest.raises((OSError, SystemExit, BaseException), match=r"no|3"):
            __import__("hostile_pkg.sub")
        harmless = sys.modules.pop("harmless_mod")
    assert harmless.seen is None
    assert shared_state() == before
    assert log.read_text() == "run "


def test_an_interrupt_is_no_fault_of_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends the examination, and what the import changed is undone."""
    log = str(tmp_path / "log")
    (tmp_path / "interrupted_mod.py").write_text(HOSTILE.format(log=log, error="KeyboardInterrupt"))
    monkeypatch.syspath_prepend(tmp_path)
    before = shared_state()
    with pytest.raises(KeyboardInterrupt), imported_apart(["interrupted_mod"]):
        pass
    assert shared_state() == before


def test_a_folder_may_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then there is none to go back to."""
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with unchanged_process():
        os.chdir(tmp_path)
    assert os.getcwd() == str(tmp_path)
