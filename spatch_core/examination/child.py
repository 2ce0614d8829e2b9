"""Imports third-party code in a child process, where it may print, hang or crash.

The child writes each step into a journal before it does it. If a step ends the process, the
journal tells which module was to blame, and another child does the rest without that module.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from .foreign_code import JsonEncoder
from .process_session import end_session, wait
from .progress import progress

_LIMIT = 120.0
"""Seconds that a child may take; a hook or a CI job must not wait for ever."""
_PATIENCE = 2.0
"""Seconds for third-party threads and exit handlers, once everything is written down."""
_RESTARTS = 5
"""Number of modules that may end the process before the rest is given up."""
_MARK = "SPATCH_CORE_CHILD"
"""The environment variable by whose value the processes that a child has started are found."""

# Held here, because an import may replace those of the module json.
_encode = JsonEncoder().encode
_decode = json.JSONDecoder().decode


@dataclass(slots=True)
class Ending:
    """How a child ended before it was done."""

    how: str  # a clause whose subject is the step
    what: str  # the step that ended it
    module: str  # the module that the step uses; empty for none
    keys: list[str]  # where the description names the module


@dataclass(slots=True)
class TaskResult:
    """The results of the child processes of one task, and how those that failed ended."""

    # The results of the last child, by kind.
    values: dict[str, list[Any]] = field(default_factory=dict)
    endings: list[Ending] = field(default_factory=list)  # one for each child that was not done
    # Whether the last child did everything but what ended the others.
    is_complete: bool = False

    def last(self, kind: str, otherwise: Any = None) -> Any:
        """Return the last value of a kind, if there is any."""
        return self.values.get(kind, [otherwise])[-1]


class Journal:
    """Where a child writes down its steps and results.

    Parameters
    ----------
    write : callable
        Takes a line; the parent reads it.
    skip : collection of str
        Modules that have ended a child before.
    """

    def __init__(self, write: Callable[[str], object], skip: Collection[str]) -> None:
        self.write = write
        self.skip = skip

    def add(self, kind: str, value: Any) -> None:
        """Write down a value, of types that JSON has."""
        self.write(_encode([kind, value]) + "\n")

    def begins(self, what: str, key: str = "", module: str = "") -> bool:
        """Write down the next step; return False if its module has ended a child before."""
        is_skipped = module in self.skip
        self.add("skipped" if is_skipped else "step", (what, module, key))
        return not is_skipped


def _writer(path: str) -> Callable[[str], object]:
    """Return a function that appends a line to a file, whatever imports do to this process.

    No import can replace its functions, because it holds them, nor close its descriptor,
    because each line has its own. A fork of this process writes nothing: it ends instead.
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
        except OSError:  # an import has removed the file, or limits what may be opened
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
    """Do a task in a fresh interpreter, and in others where that ends before it is done.

    Parameters
    ----------
    task : str
        ``"module:function"``; called with the request and a `Journal`.
    request : mapping
        Of types that JSON has.
    about : str
        Announced to people.
    folders : iterable of str, optional
        Put before everything else on `sys.path`.
    variables : mapping of str to str, optional
        Environment variables.
    limit : float, optional
        Seconds that a child may take.
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
    """Run a child; return its journal, and how it has ended."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        journal, request = Path(folder, "journal"), Path(folder, "request")
        journal.touch()
        request.write_text(json.dumps(asked), encoding="utf-8")
        # Opened once, because the import may remove it.
        written = stack.enter_context(open(journal, "rb"))
        # Set the path first, because this package may be found by it alone.
        code = (
            "import json, sys\n"
            f"with open({str(request)!r}, encoding='utf-8') as stream: asked = json.load(stream)\n"
            f"sys.path[:] = asked['path']; from {__name__} import perform\n"
            f"perform(asked, {str(journal)!r})"
        )
        errors = sys.__stderr__
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            # The cache may hold descriptions of backends that are blocked here.
            env={**os.environ, **variables, "SPATCH_CORE_CACHE": "off", _MARK: folder},
            stdin=subprocess.DEVNULL,
            # stdout belongs to the command, and may have to be JSON.
            stdout=subprocess.DEVNULL if errors is None else errors.fileno(),
            start_new_session=True,
        )
        try:
            is_ended = wait(process, limit, lambda: _is_done(written), _PATIENCE)
        finally:
            end_session(process, f"{_MARK}={folder}")
        how = f"took longer than {limit:g} s and was ended"
        values: dict[str, list[Any]] = {}
        for line in _read(written).splitlines():
            # The last line may be incomplete, and the import may have written into the others.
            with suppress(ValueError, TypeError, RecursionError):
                kind, value = _decode(line.decode())
                values.setdefault(kind, []).append(value)
    return values, _ending(process.returncode) if is_ended else how


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
    """Do the task; runs in the child."""
    module, _, function = asked["task"].partition(":")
    written = Journal(_writer(journal), asked["skip"])
    getattr(import_module(module), function)(asked["request"], written)
    written.add("done", True)
