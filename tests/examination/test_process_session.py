"""Child processes are ended with the processes that they have started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spatch_core.examination.process_session import end_session, wait

STARTS = """
import os, subprocess, sys
code = "import time; print(flush=True); time.sleep(600)"
for extra in ({}, {"preexec_fn": os.setpgrp}, {"start_new_session": True}):
    subprocess.Popen([sys.executable, "-c", code], **extra).stdout
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        exec(code)
    os._exit(0)
"""


def child(code: str, mark: str = "its own") -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "MARK": mark},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def test_one_that_ends_is_not_reaped() -> None:
    """Until its session has been ended."""
    process = child("raise SystemExit(7)")
    assert wait(process, 600, lambda: False, 600)
    codes = [process.returncode]
    end_session(process, "MARK=its own")
    assert [*codes, process.returncode] == [None, 7]
    process.communicate()


@pytest.mark.parametrize("is_done", [True, False])
def test_one_that_goes_on_is_ended(is_done: bool) -> None:
    """Neither beyond its limit, nor once it has nothing left to do."""
    process = child("import time; time.sleep(600)")
    limits = (600.0, 0.0) if is_done else (0.0, 600.0)
    assert not wait(process, limits[0], lambda: is_done, limits[1])
    end_session(process, "MARK=its own")
    assert process.returncode == -9
    process.communicate()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells the session")
def test_the_whole_session_is_ended() -> None:
    """Also a process in a group or a session of its own, after the child itself has ended."""
    other = child("import time; time.sleep(600)", "its own, and more")
    process = child(STARTS)
    assert process.stdout is not None
    assert process.stdout.read(4) == b"\n" * 4  # all have started
    assert wait(process, 600, lambda: False, 600)
    end_session(process, "MARK=its own")
    assert process.stdout.read() == b""  # no process has the pipe any more
    process.communicate()
    assert other.poll() is None
    end_session(other, "MARK=its own, and more")
    other.communicate()
