"""Waits for a child process that leads a session, and ends it with the whole session."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_LONGEST_PAUSE = 0.02
"""Seconds between two looks at a child."""
_ROUNDS = 200
"""Number of times that a session is searched for processes that are still there."""


def wait(
    process: subprocess.Popen[bytes],
    limit: float,
    is_done: Callable[[], bool],
    patience: float,
) -> bool:
    """Wait until a child ends, and do not reap it.

    Parameters
    ----------
    process : subprocess.Popen
        The child.
    limit : float
        Seconds that it may take.
    is_done : callable
        Whether the child has nothing left to do.
    patience : float
        Seconds that it may take from then on, for third-party threads and exit handlers.

    Returns
    -------
    bool
        Whether it has ended by itself.
    """
    deadline, pause, was_done = time.monotonic() + limit, 0.001, False
    while not _has_ended(process):
        if not was_done and is_done():
            was_done = True
            deadline = min(deadline, time.monotonic() + patience)
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return True


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    if not hasattr(os, "waitid"):  # pragma: no cover  # Windows, and macOS before Python 3.13
        return process.poll() is not None
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, flags) is not None


def end_session(process: subprocess.Popen[bytes], mark: str) -> None:
    """Kill a child and the processes that it has started, and reap it.

    The child must not have been reaped: until then the system gives its number to no other
    process or group. A process that has started a session of its own, as daemons do, is found by
    its environment.

    Parameters
    ----------
    process : subprocess.Popen
        The child.
    mark : str
        What is in the environment of the child alone, as ``NAME=value``.
    """
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        # Some may have a group of their own, or may have been started meanwhile.
        for _ in range(_ROUNDS):
            members = _members(process.pid, os.fsencode(f"\0{mark}\0"))
            for each in members:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(each, signal.SIGKILL)
            if not members:
                break
            time.sleep(0.001)
    else:  # pragma: no cover  # Windows
        process.kill()
    process.wait()


def _members(session: int, mark: bytes) -> list[int]:
    """Return the processes of a session, or with a mark in the environment, that still run.

    There are none where the system does not tell.
    """
    found: list[int] = []
    with suppress(OSError):
        # In a sandbox, /proc may be that of a namespace where processes have other numbers.
        if os.readlink("/proc/self") != str(os.getpid()):
            return found
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            # The name of the program, in parentheses, may contain anything.
            stat = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2]
            state, _, _, number, *_ = stat.split()
            if state not in "ZX" and (
                int(number) == session or mark in b"\0" + (folder / "environ").read_bytes()
            ):
                found.append(int(folder.name))
    return found
