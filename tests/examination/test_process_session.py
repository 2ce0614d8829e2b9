"""Child processes are ended with the processes that they have started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spatch_core.examination.process_session import end_session, wait

STARTS = """
import os, subprocess, sys
code = "import time; print(flush=True); time.sleep(600)"
for extra in ({}, {"preexec_fn": os.setpgrp}):
    subprocess.Popen([sys.executable, "-c", code], **extra).stdout
"""


def child(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    )


def test_one_that_ends_is_not_reaped() -> None:
    """Until its session has been ended."""
    process = child("raise SystemExit(7)")
    assert wait(process, 600, lambda: False, 600)
    codes = [process.returncode]
    end_session(process)
    assert [*codes, process.returncode] == [None, 7]
    process.communicate()


@pytest.mark.parametrize("is_done", [True, False])
def test_one_that_goes_on_is_ended(is_done: bool) -> None:
    """Neither beyond its limit, nor once it has nothing left to do."""
    process = child("import time; time.sleep(600)")
    limits = (600.0, 0.0) if is_done else (0.0, 600.0)
    assert not wait(process, limits[0], lambda: is_done, limits[1])
    end_session(process)
    assert process.returncode == -9
    process.communicate()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells the session")
def test_the_whole_session_is_ended() -> None:
    """Also a process in a group of its own, after the child itself has ended."""
    process = child(STARTS)
    assert process.stdout is not None
    assert process.stdout.read(2) == b"\n\n"  # both have started
    assert wait(process, 600, lambda: False, 600)
    end_session(process)
    assert process.stdout.read() == b""  # no process has the pipe any more
    process.communicate()
