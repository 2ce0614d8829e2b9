"""What Pyodide lacks skips a test; whatever else goes wrong fails it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Pyodide has a newer Python")

TESTS = """
import errno
import pytest

def refuse():
    raise OSError(errno.ENOTSUP, "emscripten does not support processes.")

@pytest.fixture
def process():
    refuse()

def test_of_processes(): refuse()
def test_with_a_process(process): pass
def test_of_threads(): raise RuntimeError("can't start new thread")
def test_of_numpy(): raise ModuleNotFoundError("No module named 'numpy'", name="numpy")
def test_that_ends_badly():
    try:
        refuse()
    finally:
        raise RuntimeError("cannot join thread before it is started")
def test_of_several():
    no_process = OSError(errno.ENOTSUP, "")
    raise ExceptionGroup("both", [RuntimeError("can't start new thread"), no_process])
def test_to_thread(): assert False

def test_another_error(): raise OSError(errno.ENOENT, "no such file")
def test_another_module(): raise ModuleNotFoundError("No module named 'ours'", name="ours")
def test_one_of_several():
    raise ExceptionGroup("both", [RuntimeError("can't start new thread"), ValueError()])
def test_wrong(): assert False
def test_right(): pass
"""


def test_only_refusals_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "test_these.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    plugin = Path(__file__).parents[2] / "tools/pyodide_tests"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rsf", "-p", "refusals"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(plugin), "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert re.search(r"4 failed, 1 passed, 7 skipped", done.stdout), done.stdout
    failed = set(re.findall(r"FAILED test_these.py::(\w+)", done.stdout))
    expected = {"another_error", "another_module", "one_of_several", "wrong"}
    assert failed == {f"test_{name}" for name in expected}
    for reason in ("no processes", "no threads", "no numpy", "no processes and no threads"):
        assert f"Pyodide: {reason}\n" in done.stdout
