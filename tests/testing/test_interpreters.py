"""`run_python`: a script in a fresh interpreter of the same kind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from spatch_core.testing import run_python


def test_it_finds_what_is_on_the_path_before_everything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}/json.py").write_text(f"number = {number}", encoding="utf-8")
        (tmp_path / f"{number}/own{number}.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "2"))

    done = run_python("import json, own1, own2; print(json.number)", path=[str(tmp_path / "1")])

    assert done.stdout == "1\n"


def test_it_does_not_find_what_lies_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lies_here.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)

    done = run_python("import lies_here", check=False)

    assert done.returncode == 1
    assert "No module named 'lies_here'" in done.stderr


def test_variables_are_added_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTING_KEPT", "kept")
    monkeypatch.setenv("TESTING_REMOVED", "removed")

    done = run_python(
        """
        import os
        print(sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("TESTING_")))
        """,
        environment={"TESTING_ADDED": "added", "TESTING_REMOVED": None},
    )

    assert done.stdout.strip() == "['TESTING_ADDED=added', 'TESTING_KEPT=kept']"
    assert os.environ["TESTING_REMOVED"] == "removed"


def test_a_script_that_fails_shows_what_it_said() -> None:
    with pytest.raises(RuntimeError, match="ended with 3") as caught:
        run_python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")

    assert str(caught.value) == "the script ended with 3\nout\nerr"


def test_a_script_that_hangs_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_python("import threading; threading.Event().wait()", timeout=0.1)
