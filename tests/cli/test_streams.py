"""Where output goes: pipes that are closed, disks that are full, terminals that wait."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from spatch_core.cli import streams
from spatch_core.cli.streams import progress

if TYPE_CHECKING:
    from tests.cli.conftest import Site

PRINTING = [
    pytest.param(["list", "paintlib"], id="list"),
    pytest.param(["list", "paintlib", "--json"], id="json"),
    pytest.param(["explain", "paintlib.filters:blur", "builtins:int"], id="explain"),
    pytest.param(["completion", "bash"], id="completion"),
    pytest.param(["--help"], id="help"),
    pytest.param(["list", "--help"], id="help of a command"),
    pytest.param(["--version"], id="version"),
]


@pytest.mark.parametrize("arguments", PRINTING)
def test_a_closed_pipe_is_survived(paint: Site, arguments: list[str]) -> None:
    """As in `spatch-core list | head -1`, with the reader gone from the start."""
    done = run_into_closed_pipe(paint, arguments)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [[], ["lst"], ["list", "--jsn"]])
def test_wrong_usage_keeps_its_exit_code_without_a_reader(
    paint: Site, arguments: list[str]
) -> None:
    """As in `spatch-core lst 2>&1 | true`."""
    done = run_into_closed_pipe(paint, arguments, stderr=subprocess.STDOUT)
    assert done.returncode == paint.run(*arguments).code


def run_into_closed_pipe(
    site: Site, arguments: list[str], stderr: int = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """Run a command whose output goes to a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [site.python, "-m", "spatch_core", *arguments],
            env=site.variables({}),
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=stderr,
            check=False,
        )
    finally:
        os.close(writer)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is full")
@pytest.mark.parametrize("arguments", PRINTING)
def test_a_full_disk_is_told_in_one_line(paint: Site, arguments: list[str]) -> None:
    """A script must not take partial output for the whole."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [paint.python, "-m", "spatch_core", *arguments],
            env=paint.variables({}),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
        )
    assert done.stderr == "Error: [Errno 28] No space left on device\n"
    assert done.returncode == 1


class Terminal(io.StringIO):
    """A stream that says it is a terminal, and sets `seen` when something is written."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        self.seen.set()
        return written


def test_what_takes_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line on stderr shows the step, and is erased afterwards."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(streams, "_PATIENCE", 0)
    monkeypatch.setenv("COLUMNS", "40")
    with progress("thinking about something " * 5):
        assert terminal.seen.wait(60)
    line, blank, rest = terminal.getvalue().split("\r")
    assert line == "thinking about something thinking a ..."
    assert (blank.strip(), len(blank), rest) == ("", len(line), "")


def test_many_short_steps_say_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two seconds count from the start of the command; one nested step is shown."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    long_ago = monotonic() - 10
    for step in ("one", "two"):
        terminal.seen.clear()
        with progress(step, since=long_ago):
            assert terminal.seen.wait(60)
            with progress("a part of it", since=long_ago):
                pass
    assert [each.strip() for each in terminal.getvalue().split("\r")] == [
        *("one ...", "", "two ...", "", "")
    ]


def test_what_is_done_soon_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a terminal, nothing is shown at all."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress("thinking"):
        pass
    monkeypatch.setattr(streams, "_PATIENCE", 0)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with progress("thinking"):
        pass
    assert terminal.getvalue() == ""


def test_no_output_at_all_is_survived(paint: Site) -> None:
    """As in `spatch-core list >&-`."""
    command = f'exec "{paint.python}" -m spatch_core list paintlib >&-'
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env=paint.variables({}),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_the_system_refuses_is_told_in_one_line() -> None:
    """It also holds without any stream to close."""
    code = """
import sys
from spatch_core.cli import main

@main.command()
def read():
    open("not there")

sys.stdout = None
main(["read"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    assert done.stderr == "Error: [Errno 2] No such file or directory: 'not there'\n"
    assert done.returncode == 1
