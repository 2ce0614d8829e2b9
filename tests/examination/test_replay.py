"""Records are read, and their choices made again; the command's tests have the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spatch_core.examination.replay import Outcome, Recorded, RecordError, read_record, replay

CALL: dict[str, Any] = {
    "function": "absentlib:f",
    "types": ["builtins:int"],
    "backend": "b",
    "before": ["a"],
    "distribution": "d",
    "version": None,
    "invoked": False,
    "count": 2,
    "options": {"prioritize": ["b"], "disable": ["c"], "type": None, "backend": None},
}


def write(folder: Path, calls: Any) -> Path:
    path = folder / "run.json"
    path.write_text(json.dumps({"format": 1, "calls": calls, "later": "key"}))
    return path


def test_records_are_read(tmp_path: Path) -> None:
    """Keys that a later version adds are ignored."""
    assert read_record(write(tmp_path, [{**CALL, "later": 1}])) == (
        Recorded(
            *("absentlib:f", ("builtins:int",), "b", "d", None, ("a",), ("b",), ("c",)),
            *(None, None, False, 2),
        ),
    )


@pytest.mark.parametrize(
    "calls", [3, [3], [{**CALL, "types": 3}], [{**CALL, "options": []}], [{**CALL, "before": [1]}]]
)
def test_calls_of_another_shape(tmp_path: Path, calls: Any) -> None:
    """The error names the file."""
    with pytest.raises(RecordError, match=r"run\.json: "):
        read_record(write(tmp_path, calls))


def test_functions_that_are_not_there(tmp_path: Path) -> None:
    """Each choice says why."""
    (found,) = replay(read_record(write(tmp_path, [CALL])))
    assert found.outcome is Outcome.NOT_FOUND
    assert found.reason.startswith("no library has a function 'absentlib:f'")
