"""What the child process writes down about a file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from spatch_core.examination import file_tasks
from spatch_core.examination.child import Journal


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "taskpaint.py").write_text(
        "from spatch_core import BackendImplementation\n"
        "backend = BackendImplementation('oil')\n"
        "@backend.implements('l:f')\n"
        "def f(x):\n    '''Fast.\n\n    And more.'''\n"
        "@backend.implements('l:g')\n"
        "def renamed(x): ...\n"
        "f.__qualname__ = 'f'\n"
        "renamed = 3\n"
    )
    path = tmp_path / "backend.toml"
    path.write_text(
        'name = "oil"\nprimary_types = ["fractions:Fraction"]\n'
        '[functions.auto-generation]\nbackend = "taskpaint:backend"\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    return str(path)


def written(task: Any, file: str) -> dict[str, list[Any]]:
    """Return the results of a task, by kind."""
    stream = io.StringIO()
    request = {"file": file, "text": Path(file).read_text(), "prune": False}
    task(request, Journal(stream.write, []))
    found: dict[str, list[Any]] = {}
    for line in stream.getvalue().splitlines():
        kind, value = json.loads(line)
        found.setdefault(kind, []).append(value)
    return found


def test_verify_notes_what_an_update_would_add(file: str) -> None:
    (found,) = written(file_tasks.verify, file)["finding"]
    assert (found["severity"], found["keys"]) == ("note", ["functions.auto-generation.backend"])
    assert "lacks functions of the backend: l:f" in found["message"]


def test_update_tells_what_is_registered(file: str) -> None:
    """It reports the functions that another process could not find."""
    found = written(file_tasks.update, file)
    (functions,) = found["functions"]
    assert functions["l:f"] == {
        "function": "taskpaint:f",
        "uses_context": False,
        "additional_docs": "Fast.",
    }
    finding, *notes = found["finding"]
    assert finding["keys"] == ['functions."l:g"']
    assert finding["message"].endswith("does not lead to the registered function")
    # The library is not installed.
    assert all(each["is_unchecked"] for each in notes)
