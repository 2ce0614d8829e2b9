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
    """It is reaped only when its session is ended."""
    process = child("raise SystemExit(7)")
    assert wait(process, 600, lambda: False, 600)
    codes = [process.returncode]
    end_session(process, "MARK=its own")
    assert [*codes, process.returncode] == [None, 7]
    process.communicate()


@pytest.mark.parametrize("is_done", [True, False])
def test_one_that_goes_on_is_ended(is_done: bool) -> None:
    """It is ended at its time limit, or after its task is done."""
    process = child("import time; time.sleep(600)")
    limits = (600.0, 0.0) if is_done else (0.0, 600.0)
    assert not wait(process, limits[0], lambda: is_done, limits[1])
    end_session(process, "MARK=its own")
    assert process.returncode == -9
    process.communicate()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux has /proc")
def test_the_whole_session_is_ended() -> None:
    """It includes processes in another group or session, also after the child has ended."""
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


ELSEWHERE = """
import subprocess, sys
from spatch_core.examination.process_session import end_session
def start(number, **options):
    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
        last.write(str(number - 1))
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, **options)
    assert process.pid == number
    return process
leader, member = map(int, sys.argv[1:])
other = start(member)
end_session(start(leader, start_new_session=True), "MARK=its own")
other.communicate()
raise SystemExit(other.returncode)
"""
IN_A_NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
WITH_A_MEMBER = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid, flush=True)
time.sleep(600)
"""


def test_a_number_in_another_namespace_is_not_that_of_a_process() -> None:
    """``/proc`` may show processes of another namespace, with other numbers."""
    try:
        subprocess.run([*IN_A_NAMESPACE, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system makes no namespace of processes for this user")
    leader = child(WITH_A_MEMBER)
    assert leader.stdout is not None
    numbers = [str(leader.pid), leader.stdout.readline().decode().strip()]
    command = [*IN_A_NAMESPACE, sys.executable, "-c", ELSEWHERE, *numbers]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    end_session(leader, "MARK=its own")
    leader.communicate()
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="on Windows all text can be encoded")
def test_a_mark_may_be_a_path_that_is_not_utf_8() -> None:
    """A temporary folder may have such a name."""
    mark = os.fsdecode(b"/tmp/\xff")
    process = child("import time; print(flush=True); time.sleep(600)", mark)
    assert process.stdout is not None
    assert process.stdout.read(1) == b"\n"
    end_session(process, f"MARK={mark}")
    assert process.returncode == -9
    process.communicate()
