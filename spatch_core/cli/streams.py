"""Writes text and progress to streams, and turns errors of streams into exit codes."""

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
from click import echo  # bound here, because an import may replace it

from ..examination.child import redirects_permanently

_PATIENCE = 2.0
"""Seconds after which a step is shown."""
_shown: list[str] = []
"""The step that the terminal shows: at most one, also of nested steps."""

COMPLETING = "_SPATCH_CORE_COMPLETE"
"""The environment variable with which a shell asks click for completions."""

_kept: list[TextIO] = []
"""The stream for results, if third-party code gets another stdout."""


def keep_stdout() -> None:
    """Reserve stdout for results if it is a pipe or a file, which another program may read.

    Third-party code gets stderr as its stdout for the rest of the process; see `foreign_code`.
    """
    stream = sys.stdout
    # Completions are printed to stdout by click itself.
    if COMPLETING in os.environ:
        return
    if isinstance(stream, TextIOWrapper) and not stream.isatty():
        try:
            number = os.dup(stream.fileno())
        except OSError:  # a stream in memory, or a closed one
            return
        # Open for the rest of the process; `closefd=False` avoids the ResourceWarning.
        kept = open(number, "w", encoding=stream.encoding, closefd=False)  # noqa: SIM115
        _kept.append(kept)
        redirects_permanently.set(True)


def results() -> TextIO | None:
    """Return the stream for results; None if stdout is closed."""
    return _kept[0] if _kept else sys.stdout


def show_text(text: str) -> None:
    """Print text to the stream for results; stop quietly if the reader closes the pipe."""
    stream = results()
    if isinstance(stream, TextIOWrapper):
        # A character that the encoding lacks must not end the output.
        stream.reconfigure(errors="backslashreplace")
    try:
        # With the stream as an argument: click would replace a stdout that encodes ASCII.
        echo(text, stream, nl=False)
    except BrokenPipeError:
        _redirect_to_null(stream)


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show errors of the command and of the system in one line on stderr, without tracebacks.

    Raises
    ------
    click.exceptions.Exit
        In place of the error.
    """
    try:
        yield
    except BrokenPipeError:
        _discard_output()
        _redirect_to_null(sys.stderr)
        raise click.exceptions.Exit(0) from None
    except OSError as error:
        _discard_output()
        _end_with(click.ClickException(str(error)))
    except click.ClickException as error:
        _end_with(error)


def _end_with(error: click.ClickException) -> NoReturn:
    try:
        error.show()
    except OSError:
        _redirect_to_null(sys.stderr)
    raise click.exceptions.Exit(error.exit_code) from None


def _discard_output() -> None:
    _redirect_to_null(results())
    if sys.stdout is not sys.stderr:  # third-party code has not run; click prints help to it
        _redirect_to_null(sys.stdout)


def _redirect_to_null(stream: TextIO | None) -> None:
    """Redirect a stream to the null device, also for the flush at interpreter exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def progress(text: str, since: float | None = None) -> Iterator[None]:
    """Show a step on a terminal from two seconds after `since`, by `time.monotonic`, to its end."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    # At most one line, because the cursor can only return to the start of its line.
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
    """Return text in one line; control characters, which could move the cursor, are escaped."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode()
        for each in ", ".join(text.splitlines())
    )
