"""Runs tasks that import third-party code in a child process, because imports may hang or crash.

The child writes each step into a journal before it takes the step. If a step ends the process,
the journal names the module at fault, and another child does the task again without that module.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from .foreign_code import JsonEncoder
from .progress import progress

_LIMIT = 120.0
"""Time limit of a child in seconds, because a CI job must not wait forever."""
_PATIENCE = 2.0
"""Seconds for third-party threads and exit handlers after the task is done."""
_RESTARTS = 5
"""How many modules may end a child before the task is given up."""
_PAUSE = 0.02
"""The time between two looks at a child, in seconds."""

# Bound here, because an import may replace the functions of the module json.
_encode = JsonEncoder().encode
_decode = json.JSONDecoder().decode


@dataclass(slots=True)
class Ending:
    """How a child ended before it was done."""

    how: str  # the predicate of a sentence about the step
    what: str  # the step under way
    module: str  # the module that the step imports; empty for none
    keys: list[str]  # where the description names the module


@dataclass(slots=True)
class TaskResult:
    """The results of a task."""

    values: dict[str, list[Any]] = field(default_factory=dict)  # of the last child, by kind
    endings: list[Ending] = field(default_factory=list)  # of the children that did not finish
    is_complete: bool = False  # whether the last child has finished

    def last(self, kind: str, otherwise: Any = None) -> Any:
        """Return the last value of a kind, or `otherwise`."""
        return self.values.get(kind, [otherwise])[-1]


class Journal:
    """The steps and results of a child, for its parent.

    Parameters
    ----------
    write : callable
        Appends a line to the file that the parent reads.
    skip : collection of str
        Modules that have ended a child before.
    """

    def __init__(self, write: Callable[[str], object], skip: Collection[str]) -> None:
        self.write = write
        self.skip = skip

    def add(self, kind: str, value: Any) -> None:
        """Write a value that JSON can represent."""
        self.write(_encode([kind, value]) + "\n")

    def begins(self, what: str, key: str = "", module: str = "") -> bool:
        """Write the next step; return False if its module has ended a child before."""
        is_skipped = module in self.skip
        self.add("skipped" if is_skipped else "step", (what, module, key))
        return not is_skipped


def _writer(path: str) -> Callable[[str], object]:
    """Return a function that appends a line to a file, and that no import can break.

    An import cannot replace the functions that it uses, because it holds references to them, nor
    close its file descriptor, because each line opens a new one. In a fork of this process it ends
    the fork, whose lines would look like those of the child.
    """
    open_, write, close, getpid, end = os.open, os.write, os.close, os.getpid, os._exit
    flags, process = os.O_WRONLY | os.O_APPEND, os.getpid()

    def append(line: str) -> None:
        if getpid() != process:
            end(0)
        try:
            descriptor = open_(path, flags)
            write(descriptor, line.encode())
            close(descriptor)
        except OSError:  # an import has removed the file, or limits the number of open files
            end(1)

    return append


def run(
    task: str,
    request: Mapping[str, Any],
    about: str,
    *,
    folders: Iterable[str] = (),
    variables: Mapping[str, str] | None = None,
    limit: float = _LIMIT,
) -> TaskResult:
    """Run a task in a fresh interpreter, and again without the modules that end it.

    Parameters
    ----------
    task : str
        ``"module:function"``; called with the request and a `Journal`.
    request : mapping
        The argument of the task, which JSON must be able to represent.
    about : str
        The text of the progress message.
    folders : iterable of str, optional
        The first folders of `sys.path`.
    variables : mapping of str to str, optional
        Environment variables to set.
    limit : float, optional
        Time limit of each child in seconds.
    """
    report = TaskResult()
    path = [os.path.abspath(each) for each in (*folders, *sys.path)]
    with progress(about):
        while True:
            skip = [each.module for each in report.endings]
            asked = {"task": task, "request": request, "path": path, "skip": skip}
            report.values, how = _run_once(asked, variables or {}, limit)
            report.is_complete = "done" in report.values
            if report.is_complete:
                break
            what, module, key = report.last("step", ("starting", "", ""))
            report.endings.append(Ending(how, what, module, [key] if key else []))
            if not module or len(report.endings) > _RESTARTS:
                break
    for each in report.endings:
        skipped = report.values.get("skipped", ())
        more = [key for _, module, key in skipped if module == each.module]
        each.keys = [*dict.fromkeys([*each.keys, *more])]
    return report


def _run_once(
    asked: Mapping[str, Any], variables: Mapping[str, str], limit: float
) -> tuple[dict[str, list[Any]], str]:
    """Run a child; return its journal, and how it ended."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        journal, request = Path(folder, "journal"), Path(folder, "request")
        journal.touch()
        request.write_text(json.dumps(asked), encoding="utf-8")
        # Opened now, because an import may remove the file.
        written = stack.enter_context(open(journal, "rb"))
        # The path comes first: this package may be importable only through it.
        code = (
            "import json, sys\n"
            f"with open({str(request)!r}, encoding='utf-8') as stream: asked = json.load(stream)\n"
            f"sys.path[:] = asked['path']; from {__name__} import perform\n"
            f"perform(asked, {str(journal)!r})"
        )
        errors = sys.__stderr__
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            # The command's own stdout may have to be JSON.
            stdout=subprocess.DEVNULL if errors is None else errors.fileno(),
            start_new_session=True,
        )
        try:
            is_ended = _wait(process, limit, written)
        finally:
            _end(process)
        how = f"took longer than {limit:g} s and was ended"
        values: dict[str, list[Any]] = {}
        for line in _read(written).splitlines():
            # The last line may be incomplete, and an import may have written to the file.
            with suppress(ValueError, TypeError, RecursionError):
                kind, value = _decode(line.decode())
                values.setdefault(kind, []).append(value)
    return values, _ending(process.returncode) if is_ended else how


def _wait(process: subprocess.Popen[bytes], limit: float, journal: BinaryIO) -> bool:
    """Wait until a child ends; return whether it has ended by itself."""
    deadline, was_done = time.monotonic() + limit, False
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PAUSE)
            return True
        if not was_done and _is_done(journal):
            was_done = True
            deadline = min(deadline, time.monotonic() + _PATIENCE)
        if time.monotonic() > deadline:
            return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a child and the processes that it has started, which are in its group."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:  # pragma: no cover  # Windows
        process.kill()
    process.wait()


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended the interpreter with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"crashed the interpreter ({name})"


def _is_done(journal: BinaryIO) -> bool:
    return _read(journal).endswith(b'["done", true]\n')


def _read(journal: BinaryIO) -> bytes:
    journal.seek(0)
    return journal.read()


def perform(asked: Mapping[str, Any], journal: str) -> None:
    """Run the task; called in the child."""
    module, _, function = asked["task"].partition(":")
    written = Journal(_writer(journal), asked["skip"])
    getattr(import_module(module), function)(asked["request"], written)
    written.add("done", True)
