"""Processes that import what others wrote."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

from spatch_core.examination import child

WORKER = """
    import os, subprocess, sys, threading, time

    def work(request, journal):
        if "waits" in request:
            threading.Thread(target=time.sleep, args=[600]).start()
            code = "import time; print(end='started', flush=True); time.sleep(600)"
            with open(request["waits"], "w") as pipe:
                subprocess.Popen([sys.executable, "-c", code], stdout=pipe)
        for number in range(request["number"]):
            if not journal.begins(f"doing {number}", f"key {number}", f"module{number}"):
                continue
            if number == request.get("hangs"):
                time.sleep(600)
            if number in request.get("ends", ()):
                os._exit(number)
            journal.add("done with", number)
        if journal.begins("tidying up") and request.get("untidy"):
            os._exit(9)
    """


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> str:
    (tmp_path / "paint_worker.py").write_text(textwrap.dedent(WORKER), encoding="utf-8")
    return str(tmp_path)


def test_one_that_hangs_is_ended(folder: str) -> None:
    """The modules after it are imported."""
    request = {"number": 3, "hangs": 1}
    report = child.run("paint_worker:work", request, "waiting", folders=[folder], limit=2)

    assert report.is_complete
    assert report.values["done with"] == [0, 2]
    assert report.endings == [
        child.Ending("took longer than 2 s and was ended", "doing 1", "module1", ["key 1"])
    ]


def test_one_whose_thread_goes_on_is_not_waited_for(folder: str) -> None:
    """It is ended with its processes once its results are written."""
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    alive = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    request = {"number": 1, "waits": pipe}
    report = child.run("paint_worker:work", request, "waiting", folders=[folder], limit=600)

    assert report.is_complete
    assert report.endings == []
    assert report.values["done with"] == [0]
    os.set_blocking(alive, True)
    with open(alive, "rb") as stream:
        # Reading ends only once no process has the pipe open for writing.
        assert stream.read() == b"started"


def test_many_that_end_the_process_are_given_up(folder: str) -> None:
    """Each has its step, and earlier results are kept."""
    request = {"number": 9, "ends": [2, 3, 4, 5, 6, 7, 8]}
    report = child.run("paint_worker:work", request, "waiting", folders=[folder])

    assert not report.is_complete
    assert [each.module for each in report.endings] == [f"module{n}" for n in range(2, 8)]
    assert report.endings[0].how == "ended the interpreter with exit code 2"
    assert report.values["done with"] == [0, 1]


def test_what_no_module_is_to_blame_for_is_not_tried_again(folder: str) -> None:
    """It would happen again."""
    request = {"number": 1, "untidy": True}
    report = child.run("paint_worker:work", request, "waiting", folders=[folder])

    assert not report.is_complete
    assert [(each.what, each.keys) for each in report.endings] == [("tidying up", [])]
    assert report.values["done with"] == [0]
