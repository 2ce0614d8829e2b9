"""What a record of a program holds."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core._record import FORMAT, Record
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
    """The command reads what the hook writes."""
    assert replay.FORMAT == FORMAT


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    """The error is that of the operating system."""
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
