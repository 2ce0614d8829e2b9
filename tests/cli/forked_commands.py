"""Runs the command line in processes that are forked after its third-party imports.

They take more than half of the time of a command. Each command has a process of its own, with the
environment, the folder, the search path and the exit of one that Python has started;
``spatch_core`` itself is imported there. `test_terminal` compares both.

As a script, this reads requests from its standard input, one JSON object a line, and answers each
with the exit code.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import NoReturn

MODULES = (
    *("click", "coverage", "importlib.metadata", "inspect", "jinja2"),
    "packaging.requirements",
    *("rich.console", "rich.markup", "rich.table", "rich.text", "subprocess", "tomlkit"),
)
"""Imported before a command is run, if its folder has no other module of one of these names."""


def can_fork(python: str, variables: Mapping[str, str], folder: Path) -> bool:
    """Whether a command needs nothing when the interpreter starts, and replaces no module."""
    names = {each.partition(".")[0] for each in MODULES}
    if names & {each.stem for each in folder.iterdir()}:
        return False
    known = {"PYTHONPATH", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONUTF8"}
    start = {name for name in variables if name.startswith("PYTHON")}
    return (
        python == sys.executable
        and start <= known | {name for name in start if variables[name] == os.environ.get(name)}
        and variables.get("PYTHONIOENCODING") == "utf-8"
    )


def run(arguments: tuple[str, ...], variables: Mapping[str, str], folder: Path, out: Path) -> int:
    """Run ``spatch-core`` with these arguments; return its exit code.

    It writes into the files ``output`` and ``errors`` of the folder `out`.
    """
    request = [arguments, dict(variables), str(folder), str(out)]
    with _LOCK:
        server = _server()
        assert server.stdin
        assert server.stdout
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        return int(server.stdout.readline())


_LOCK = Lock()


@cache
def _server() -> subprocess.Popen[str]:
    # No coverage of the server: it would be that of all commands.
    unwanted = ("PYTHONPATH", "COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    server = subprocess.Popen(
        [sys.executable, __file__],
        env={**kept, "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(server.communicate)
    return server


def _serve() -> None:
    """Answer requests until there are no more; in the child of a fork, run the command."""
    for name in MODULES:
        with suppress(ImportError):
            import_module(name)
    requests, answers = os.fdopen(os.dup(0)), os.dup(1)
    for line in requests:
        process = os.fork()
        if not process:
            requests.close()
            os.close(answers)
            _become(*json.loads(line))
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        os.write(answers, f"{code}\n".encode())


def _become(arguments: list[str], variables: dict[str, str], folder: str, out: str) -> NoReturn:
    """Make this process the one of a command, and end it."""
    names = {0: os.devnull, 1: f"{out}/output", 2: f"{out}/errors"}
    for number, name in names.items():
        file = os.open(name, os.O_RDWR | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    first = filter(None, variables.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:] = [folder, *dict.fromkeys([*first, *sys.path[1:]])]
    sys.argv = ["spatch-core", *arguments]
    with suppress(ImportError):
        import coverage

        coverage.process_startup()
    from runpy import run_module

    run_module("spatch_core", run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    _serve()
