"""Records are read, and their choices made again; the command's tests have the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spatch_core.examination.replay import Outcome, Recorded, RecordError, read_record, replay
from spatch_core.testing import run_python, write_distribution

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
    """Keys of later versions are ignored."""
    assert read_record(write(tmp_path, [{**CALL, "later": 1}])) == (
        Recorded(
            *("absentlib:f", ("builtins:int",), "b", "d", None, ("a",), ("b",), ("c",)),
            *(None, None, False, 2),
        ),
    )


@pytest.mark.parametrize(
    "calls",
    [
        *(3, [3], [{**CALL, "types": 3}], [{**CALL, "options": []}], [{**CALL, "before": [1]}]),
        *([{**CALL, "count": each}] for each in ("many", float("inf"), None)),
        *([{**CALL, key: float("nan")}] for key in ("distribution", "version")),
        [{**CALL, "options": {**CALL["options"], "type": 3}}],
    ],
    ids=["number", "numbers", "types", "options", "before", "count", "infinite", "no count",
         "distribution", "version", "type"],
)  # fmt: skip
def test_calls_of_another_shape(tmp_path: Path, calls: Any) -> None:
    """The error names the file."""
    with pytest.raises(RecordError, match=r"run\.json: "):
        read_record(write(tmp_path, calls))


def test_functions_that_are_not_there(tmp_path: Path) -> None:
    """Each choice has the reason."""
    (found,) = replay(read_record(write(tmp_path, [CALL])))
    assert found.outcome is Outcome.NOT_FOUND
    assert found.reason.startswith("no library has a function 'absentlib:f'")


def test_types_that_override_are_those_of_the_record(tmp_path: Path) -> None:
    """K11: the method of the library's protocol takes no part in the catalog."""
    write_distribution(
        tmp_path / "site",
        "overlib",
        entry_points={"spatch_core.libraries": {"overlib": "overlib:system"}},
        files={"overlib.py": LIBRARY},
    )
    file = tmp_path / "run.json"
    run_python(RUN.format(file=str(file)), path=[tmp_path / "site"])
    replaying = f"""
        from spatch_core.examination.replay import read_record, replay
        print(*[each.outcome.value for each in replay(read_record({str(file)!r}))])
    """
    assert run_python(replaying, path=[tmp_path / "site"]).stdout.strip() == "same"


LIBRARY = """
from spatch_core import BackendSystem

system = BackendSystem(None, "OVERLIB", protocol="__overlib_function__")


class Over:
    @classmethod
    def __overlib_function__(cls, *call):
        return "over"


@system.dispatchable("x")
def f(x):
    return "default"
"""
RUN = """
import overlib
from spatch_core import hooks

with hooks.record({file!r}) as recorded, overlib.system.backend_opts(hook=recorded):
    assert overlib.f(overlib.Over()) == "over"
"""
