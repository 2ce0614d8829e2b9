"""Imports what others wrote in a process of its own, which may print or crash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ._output import progress

_LIMIT = 120
"""Seconds that a child may take; a hook or a CI job must not wait for ever."""

_SCRIPT = """
import json, sys
request = json.load(sys.stdin)
sys.path[:] = request["path"]
from importlib import import_module
import_module(request["module"]).answer(request["tasks"], request["reply"])
"""


def ask(
    module: str, tasks: Iterable[Mapping[str, Any]], folders: Iterable[str], about: str
) -> Iterator[dict[str, Any]]:
    """Let a module do tasks in a fresh interpreter, and yield what it answers to each.

    Parameters
    ----------
    module : str
        Has a function ``perform(task)`` that returns what JSON can hold.
    tasks : iterable of mapping
        What to do, one after the other. A task that ends the interpreter is answered with
        ``{"ended": ...}``, and another one goes on behind it.
    folders : iterable of str
        Put before everything else on `sys.path`.
    about : str
        What is being done, for people to read if it takes long.
    """
    waiting = list(tasks)
    path = [*folders, *sys.path]
    while waiting:
        with TemporaryDirectory() as folder:
            reply = Path(folder, "reply")
            reply.touch()
            request = {
                "module": __name__,
                "path": [os.path.abspath(each) for each in path],
                "tasks": [{**task, "module": module} for task in waiting],
                "reply": str(reply),
            }
            ended = _run(json.dumps(request), about)
            answers = [json.loads(line) for line in reply.read_text("utf-8").splitlines()]
        yield from answers
        waiting = waiting[len(answers) :]
        if waiting:
            yield {"ended": ended}
            waiting = waiting[1:]


def _run(request: str, about: str) -> str:
    """Run the child, and return how it ended; what it prints goes where messages go."""
    errors = sys.__stderr__
    with progress(about):
        try:
            done = subprocess.run(
                [sys.executable, "-c", _SCRIPT],
                input=request,
                stdout=subprocess.DEVNULL if errors is None else errors.fileno(),
                encoding="utf-8",
                check=False,
                timeout=_LIMIT,
            )
        except subprocess.TimeoutExpired:
            return f"it was not done after {_LIMIT} seconds"
    return f"it ended the interpreter with code {done.returncode}"


def answer(tasks: list[dict[str, Any]], reply: str) -> None:
    """Do tasks, and write each answer down before the next begins; runs in the child."""
    from importlib import import_module

    with open(reply, "a", encoding="utf-8") as stream:
        for task in tasks:
            result = import_module(task["module"]).perform(task)
            stream.write(json.dumps(result) + "\n")
            stream.flush()
