"""Waits for a child process that leads a session, and ends the whole session."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_LONGEST_PAUSE = 0.02
"""The longest time between two polls of a child, in seconds."""
_ROUNDS = 200
"""How many times a session is searched for processes that still run."""


def wait(
    process: subprocess.Popen[bytes],
    limit: float,
    is_done: Callable[[], bool],
    patience: float,
) -> bool:
    """Wait until a child ends, without reaping it.

    Parameters
    ----------
    process : subprocess.Popen
        The child.
    limit : float
        The time limit in seconds.
    is_done : callable
        Whether the child has finished its task.
    patience : float
        The time limit from then on, for third-party threads and exit handlers.

    Returns
    -------
    bool
        Whether the child has ended by itself.
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
    # WNOWAIT leaves a zombie, which keeps the process number from being used again; see
    # `end_session`.
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, flags) is not None


def end_session(process: subprocess.Popen[bytes], mark: str) -> None:
    """Kill a child and all processes that it has started, and reap it.

    The child must not have been reaped: until then the system gives its number to no other
    process or group. A process that has left the session, as daemons do, is found by the mark in
    its environment.

    Parameters
    ----------
    process : subprocess.Popen
        The child.
    mark : str
        An environment variable of the child, ``NAME=value``, that no other process has.
    """
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        # Some processes may be in other groups, or may have been started in the meantime.
        environment = os.fsencode(f"\0{mark}\0")
        for _ in range(_ROUNDS):
            members = _members(process.pid, environment)
            for each in members:
                with suppress(ProcessLookupError, PermissionError):
                    _kill(each, process.pid, environment)
            if not members:
                break
            time.sleep(0.001)
    else:  # pragma: no cover  # Windows
        process.kill()
    process.wait()


def _kill(number: int, session: int, mark: bytes) -> None:
    """Kill a member of a session, and no process that has been given its number meanwhile."""
    try:
        # If the number passes on, the descriptor means no process.
        descriptor = os.pidfd_open(number)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):  # pragma: no cover  # an older Linux, a sandbox, or macOS
        os.kill(number, signal.SIGKILL)
        return
    try:
        if _is_member(Path("/proc", str(number)), session, mark):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    finally:
        os.close(descriptor)


def _members(session: int, mark: bytes) -> list[int]:
    """Return the running processes of a session, and those with a mark in the environment.

    Without a usable ``/proc`` there are none.
    """
    with suppress(OSError):
        # In a sandbox, /proc may belong to a namespace in which processes have other numbers.
        if os.readlink("/proc/self") == str(os.getpid()):
            folders = Path("/proc").glob("[0-9]*")
            return [int(each.name) for each in folders if _is_member(each, session, mark)]
    return []


def _is_member(folder: Path, session: int, mark: bytes) -> bool:
    with suppress(OSError, ValueError):  # it ended, or belongs to another user
        # The program's name stands in parentheses and may contain any character.
        stat = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2]
        state, _, _, number, *_ = stat.split()
        return state not in "ZX" and (
            int(number) == session or mark in b"\0" + (folder / "environ").read_bytes()
        )
    return False
