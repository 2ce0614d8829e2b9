"""Writes to the terminal, a pipe or a file: text, progress, and errors without tracebacks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from shutil import get_terminal_size
from threading import Timer
from time import monotonic
from typing import NoReturn, TextIO

import click
from click import echo  # held here, because an import may replace it

from ..examination.foreign_code import for_good

_PATIENCE = 2.0
_shown: list[str] = []
"""The step that the terminal shows: one, also of steps within steps."""
"""Seconds that people wait without a message."""


COMPLETING = "_SPATCH_CORE_COMPLETE"
"""The environment variable by which a shell asks click for completions."""

_kept: list[TextIO] = []
"""The stream for results, if stdout is kept from third-party code."""


def keep_stdout() -> None:
    """Keep stdout from third-party code, unless it is a terminal, where nothing reads it.

    Only for a process of its own: from the first third-party code on, its stdout is stderr.
    """
    stream = sys.stdout
    # Shells read what click itself prints to stdout when it completes.
    if COMPLETING in os.environ:
        return
    if isinstance(stream, TextIOWrapper) and not stream.isatty():
        try:
            number = os.dup(stream.fileno())
        except OSError:  # a stream in memory, or one that is closed
            return
        # It stays open for the rest of the process, without a warning that it does.
        kept = open(number, "w", encoding=stream.encoding, closefd=False)  # noqa: SIM115
        _kept.append(kept)
        for_good.set(True)


def results() -> TextIO | None:
    """Return the stream for results; None where stdout is closed."""
    return _kept[0] if _kept else sys.stdout


def show_text(text: str) -> None:
    """Print text as it is, until its end or until the reader closes the pipe."""
    stream = results()
    if isinstance(stream, TextIOWrapper):
        # A name that the encoding lacks must not end the output.
        stream.reconfigure(errors="backslashreplace")
    try:
        # Name the stream: click replaces one whose encoding is ASCII.
        echo(text, stream, nl=False)
    except BrokenPipeError:
        _let_go(stream)


@contextmanager
def ended_in_words() -> Iterator[None]:
    """Let no closed pipe and no error of the system end in a traceback.

    Raises
    ------
    click.exceptions.Exit
        Instead of an error, which is shown in one line on stderr.
    """
    try:
        yield
    except BrokenPipeError:
        _let_go_of_output()
        _let_go(sys.stderr)
        raise click.exceptions.Exit(0) from None
    except OSError as error:
        _let_go_of_output()
        _end_with(click.ClickException(str(error)))
    except click.ClickException as error:
        _end_with(error)


def _end_with(error: click.ClickException) -> NoReturn:
    try:
        error.show()
    except OSError:
        _let_go(sys.stderr)
    raise click.exceptions.Exit(error.exit_code) from None


def _let_go_of_output() -> None:
    _let_go(results())
    if sys.stdout is not sys.stderr:  # as it is before third-party code, where click prints help
        _let_go(sys.stdout)


def _let_go(stream: TextIO | None) -> None:
    """Write nothing more to a stream, not even when the interpreter flushes it at exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def progress(text: str, since: float | None = None) -> Iterator[None]:
    """Show in a terminal that something takes long.

    Parameters
    ----------
    text : str
        The step under way; shown on stderr after two seconds, until it is done.
    since : float, optional
        When the seconds began, by `time.monotonic`; now, if not given.
    """
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    # One line at most, because the cursor can only return to the start of its line.
    line = f"{one_line(text)[: get_terminal_size().columns - 5]} ..."
    said = []

    def say() -> None:
        if not _shown:
            _shown.append(line)
            said.append(line)
            stream.write(line)
            stream.flush()

    passed = 0.0 if since is None else monotonic() - since
    timer = Timer(max(_PATIENCE - passed, 0.0), say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if said:
            _shown.clear()
            stream.write(f"\r{' ' * len(line)}\r")
            stream.flush()


def one_line(text: str) -> str:
    """Return text in one line, without control characters."""
    return printable(", ".join(text.splitlines()))


def printable(text: str) -> str:
    """Escape characters that would move the cursor or change colours, but for line ends."""
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode()
        for each in text
    )
