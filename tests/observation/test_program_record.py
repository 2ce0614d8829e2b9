"""What a record of a program holds."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core._observation.program_record import FORMAT, Record
from spatch_core.examination import replay

system = BackendSystem(None, "RECORDLIB")


@system.dispatchable("x", identifier="lib:f")
def f(x: Any) -> Any:
    return x


def test_the_content(tmp_path: Path) -> None:
    """The environment once, and each choice once."""
    record = Record(tmp_path / "run.json")
    with system.backend_opts(hook=record):
        f(1)
        f(2)
        with system.backend_opts(disable=[]):
            f(3)
    (call,) = record.content().pop("calls")
    assert call["count"] == 3
    assert record.content() == {
        "format": FORMAT,
        "spatch_core": spatch_core.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "calls": [call],
    }


def test_readers_know_the_format() -> None:
    """The command can read the file that the hook writes."""
    assert replay.FORMAT == FORMAT


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """The operating system's error is raised."""
    record = Record(tmp_path / "absent" / "run.json")
    with pytest.raises(FileNotFoundError):
        record.write()


def test_the_path_is_that_of_the_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may change its folder."""
    monkeypatch.chdir(tmp_path)
    record = Record("run.json")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    with record:
        pass
    assert os.listdir(tmp_path / "other") == []
    assert (tmp_path / "run.json").exists()


def test_the_times(tmp_path: Path) -> None:
    """Only where they are asked for: without them, two runs of a program give one file."""
    record = Record(tmp_path / "run.json", times=True)
    with system.backend_opts(hook=record):
        f(1)
        f(2)
        f("text")
    number, text = record.content()["calls"]
    assert number["types"] == ["builtins:int"]
    assert number["count"] == 2
    assert 0 <= number["first"] <= number["last"] <= text["last"]
    assert number["first"] <= text["first"]
    assert 0 <= number["seconds"] <= number["last"] - number["first"] + 1e-5
    record.write()
    recorded, _ = replay.read_record(tmp_path / "run.json")
    times = recorded.first, recorded.last, recorded.seconds
    assert times == (number["first"], number["last"], number["seconds"])


@pytest.mark.parametrize("value", ["1", None, True, -1, float("nan"), float("inf")], ids=str)
def test_a_time_that_is_none(tmp_path: Path, value: object) -> None:
    """The reader reports it."""
    record = Record(tmp_path / "run.json", times=True)
    with system.backend_opts(hook=record):
        f(1)
    content = record.content()
    content["calls"][0]["last"] = value
    (tmp_path / "run.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(replay.RecordError, match=r"the time 'last' of a call of 'lib:f' is "):
        replay.read_record(tmp_path / "run.json")
