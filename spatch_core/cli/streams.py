"""Writes to the terminal, a pipe or a file: text, progress, and errors without tracebacks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from shutil import get_terminal_size
from threading import Timer
from typing import NoReturn, TextIO

import click

_PATIENCE = 2.0
"""Seconds that people wait without a message."""


def show_text(text: str) -> None:
    """Print text as it is, until its end or until the reader closes the pipe."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A name that the encoding lacks must not end the output.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        # Name the stream: click replaces one whose encoding is ASCII.
        click.echo(text, sys.stdout, nl=False)
    except BrokenPipeError:
        _let_go(sys.stdout)


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
        _let_go(sys.stdout)
        _let_go(sys.stderr)
        raise click.exceptions.Exit(0) from None
    except OSError as error:
        _let_go(sys.stdout)
        _end_with(click.ClickException(str(error)))
    except click.ClickException as error:
        _end_with(error)


def _end_with(error: click.ClickException) -> NoReturn:
    try:
        error.show()
    except OSError:
        _let_go(sys.stderr)
    raise click.exceptions.Exit(error.exit_code) from None


def _let_go(stream: TextIO | None) -> None:
    """Write nothing more to a stream, not even when the interpreter flushes it at exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Show in a terminal that something takes long.

    Parameters
    ----------
    text : str
        What is being done; shown on stderr after two seconds, until it is done.
    """
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    # One line at most, because the cursor can only return to the start of its line.
    line = f"{one_line(text)[: get_terminal_size().columns - 5]} ..."
    said = []

    def say() -> None:
        said.append(line)
        stream.write(line)
        stream.flush()

    timer = Timer(_PATIENCE, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if said:
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
