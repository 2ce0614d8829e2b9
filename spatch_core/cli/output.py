"""Prints results: wrapped for a terminal, as complete lines for a pipe, or as JSON.

Also shows slow steps.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from shutil import get_terminal_size
from textwrap import wrap
from threading import Event, Timer
from time import monotonic
from typing import Any, NamedTuple, TextIO, TypeAlias

from click import echo  # bound here, because an import may replace it
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from .._description import Finding, Severity, Source
from .._errors import ended
from .._order import CYCLE
from .._patterns import DEFAULT, shown
from ..examination.child import redirects_permanently

COMPLETING = "_SPATCH_CORE_COMPLETE"
"""The environment variable with which a shell asks click for completions."""
_PATIENCE = 2.0
"""Seconds after which a step is shown."""
_GAP, _INDENT = "  ", "    "
_UNLIMITED = 1_000_000
"""The width of a pipe."""
_LEGIBLE = 16
"""The least width of a column of prose in a terminal."""
_SEVERITIES = {"error:": "bold red", "warning:": "yellow", "note:": "dim"}

_encode = json.JSONEncoder(indent=2).encode
_kept: list[TextIO] = []
"""The stream for results, if third-party code gets another stdout."""


# What commands print


class Column(NamedTuple):
    """A column of a table."""

    title: str
    is_number: bool = False  # cells are aligned to the right
    styles: Mapping[str, str] = {}  # of cells, by text
    is_prose: bool = False  # cells may be broken anywhere; those of others between words
    is_hyphenated: bool = False  # cells may be broken behind hyphens, too


Cell: TypeAlias = "str | tuple[str, ...]"


class Table(NamedTuple):
    """Rows of text.

    A cell may have several values: in a terminal, they stand below each other; in a pipe, each
    gets a row. In a terminal that is too narrow for the columns, each row is printed as lines.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


class Notes(NamedTuple):
    """Lines, under a title if it is not empty; without lines, nothing is printed.

    Further texts of a line are printed below it, indented.
    """

    title: str
    lines: Sequence[Cell]
    styles: Mapping[str, str] = {}  # of words in a line, by word
    are_commands: bool = False  # never wrapped, so that users can paste them


Part: TypeAlias = "str | Table | Notes"


def show(parts: Iterable[Part]) -> None:
    """Print parts for the terminal or the pipe; a string is a heading, or a summary at the end."""
    stream = _kept[0] if _kept else sys.stdout
    if stream is None or not stream.isatty():
        console = Console(file=StringIO(), width=_UNLIMITED, color_system=None)
    else:
        # Not left to rich: some versions obey an empty variable, and keep bold text.
        is_plain = bool(os.environ.get("NO_COLOR"))
        console = Console(color_system=None if is_plain else "auto", no_color=is_plain)
    # Always `Text`: rich would interpret markup in third-party strings.
    with console.capture() as capture:
        for position, part in enumerate(parts):
            if isinstance(part, str):
                console.line(min(position, 1))
                _print_line(Text(one_line(part), "bold"), console)
            elif isinstance(part, Notes):
                _print_notes(part, console)
            else:
                _print_table(part, console)
    show_text("".join(f"{line.rstrip()}\n" for line in capture.get().split("\n")[:-1]))


def show_json(value: Mapping[str, Any]) -> None:
    """Print an object as JSON in ASCII, which every encoding can represent."""
    show_text(_encode(value) + "\n")


def _print_notes(part: Notes, console: Console) -> None:
    if part.title and part.lines:
        _print_line(Text(f"{one_line(part.title)}:"), console)
    indent = _GAP if part.title else ""
    for line in part.lines:
        first, *more = map(Text, _values(line))
        for word, style in part.styles.items():
            first.highlight_words([word], style)
        if part.are_commands:
            console.print(Text(indent) + first, soft_wrap=True)
        else:
            _print_line(first, console, indent)
        for each in more:
            _print_line(each, console, indent + _INDENT)


def _print_line(text: Text, console: Console, indent: str = "") -> None:
    """Print text, and indent all lines after the first."""
    further = f"\n{indent}{_INDENT}"
    lines = text.wrap(console, max(1, console.width - len(further) + 1))
    for line in lines:
        line.rstrip()  # a space may have a style
    console.print(Text(indent) + Text(further).join(lines), soft_wrap=True)


def _print_table(part: Table, console: Console) -> None:
    is_pipe = console.width == _UNLIMITED
    case = str.upper if is_pipe else str.capitalize
    titles = [case(each.title) for each in part.columns]
    rows = [[_values(cell) for cell in row] for row in part.rows]
    if is_pipe:
        # An empty cell is a dash, so that all rows have the same number of fields.
        rows = [
            [[cell[min(number, len(cell) - 1)] or "-"] for cell in row]
            for row in rows
            for number in range(max(map(len, row)))
        ]
    columns = [
        [title, *(value for cell in cells for value in cell)]
        for title, *cells in (zip(titles, *rows, strict=True))
    ]
    widths = [max(map(cell_len, values)) for values in columns]
    room = console.width - len(_GAP) * (len(widths) - 1)
    least = list(map(_least, part.columns, columns))
    if sum(least) > room:
        _print_rows(part, rows, console)
        return
    while sum(widths) > room:
        # Take from the widest column that may become narrower.
        spare = [width if width > low else 0 for width, low in zip(widths, least, strict=True)]
        widths[spare.index(max(spare))] -= 1
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for column, title, width in zip(part.columns, titles, widths, strict=True):
        # Assembled: the style of a text itself would also be that of the spaces behind it.
        table.add_column(
            Text.assemble((title, "bold")),
            justify="right" if column.is_number else "left",
            width=width,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*map(_styled, part.columns, row, widths))
    console.print(table)


def _least(column: Column, values: list[str]) -> int:
    """Return the least width of a column in a terminal."""
    breaks = r"\s|(?<=-)" if column.is_hyphenated else r"\s"
    widest = max(cell_len(word) for each in values for word in re.split(breaks, each))
    return min(widest, _LEGIBLE) if column.is_prose else widest


def _print_rows(part: Table, rows: list[list[list[str]]], console: Console) -> None:
    """Print each row as lines, of which the first has its name."""
    name = next(i for i, column in enumerate(part.columns) if not column.is_number)
    for row in rows:
        _print_line(Text(" ".join(cell[0] for cell in row[: name + 1]), "bold"), console)
        details = []
        for column, values in [*zip(part.columns, row, strict=True)][name + 1 :]:
            if any(values):
                title = f"{column.title}: " if len(row) > 2 else ""
                style = column.styles.get(values[0], "")
                details.append(Text.assemble(title, (", ".join(values), style)))
        if details:
            _print_line(Text("; ").join(details), console, _INDENT)


def _styled(column: Column, values: list[str], width: int) -> Text:
    """Return values below each other."""
    lines = values
    if column.is_hyphenated:
        lines = [line for each in values for line in wrap(each, width) or [each]]
    return Text.assemble(("\n".join(lines), column.styles.get(values[0], "")))


def _values(cell: Cell) -> list[str]:
    return [one_line(each) for each in ((cell,) if isinstance(cell, str) else cell or ("",))]


def one_line(text: str) -> str:
    """Return text in one line; control characters, which could move the cursor, are escaped."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode()
        for each in ", ".join(text.splitlines())
    )


# Findings and their numbers


def by_backend(
    problems: Iterable[Finding],
    library: str,
    default_name: str = DEFAULT,
    *,
    severities: bool = False,
) -> list[Notes]:
    """Return the problems under a title for each backend, the environment and the library.

    A cycle, which is a problem of each backend on it, appears once. `default_name` is the name of
    the library itself as people see it.
    """
    groups: dict[str, dict[Cell, None]] = {}
    for each in problems:
        severity = f"{each.severity}: " if severities else ""
        line = f"{severity}{_of_keys(each.keys)}{ended(each.message)} {each.remedy}"
        groups.setdefault(_title(each, library, default_name), {})[line] = None
    return [Notes(title, [*lines], _SEVERITIES) for title, lines in groups.items()]


def _title(problem: Finding, library: str, default_name: str) -> str:
    if problem.message.startswith(CYCLE):
        return "priority order"
    if problem.backend is None and problem.key is not None:
        return "environment"
    source = problem.source or Source()
    where = ", ".join(filter(None, (distribution(source), source.file or source.entry_point)))
    subject = f"library {library}"
    if problem.backend is None and source.distribution and source.entry_point is None:
        return f"distribution {where}"
    if problem.backend is not None:
        subject = shown(problem.backend, default_name)
    return f"{subject} ({where})" if where else subject


def _of_keys(keys: Sequence[str]) -> str:
    """Return the start of a line about keys: the first one, and the number of others."""
    more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
    return f"{keys[0]}{more}: " if keys else ""


def by_line(findings: Iterable[Finding]) -> Notes:
    """Return findings about files, each with file, line and remedy."""
    lines: list[Cell] = []
    for each in findings:
        line = f"{each.place}: {each.severity}: {_of_keys(each.keys)}{each.message}"
        lines.append(line if each.is_unchecked else (line, f"help: {each.remedy}"))
    return Notes("", lines, _SEVERITIES)


def distribution(source: Source) -> str:
    """Return the name and version of a distribution; empty without one."""
    return " ".join(filter(None, (source.distribution, source.version)))


def counted(number: int, noun: str) -> str:
    """Return a number with a noun: "no errors", "1 error", "2 errors"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number or 'no'} {noun if number == 1 else plural}"


def count_severities(severities: Iterable[str]) -> str:
    """Return the number of findings of each severity; "no findings" without any."""
    found = Counter(severities)
    texts = [counted(found[each.value], each.value) for each in Severity if found[each.value]]
    return ", ".join(texts) or "no findings"


def closing(text: str, *found: tuple[str, Iterable[Finding]]) -> list[Part]:
    """Return the end of a command's output: the problems of libraries, and a summary."""
    notes = [each for library, problems in found for each in by_backend(problems, library)]
    number = sum(len(each.lines) for each in notes)
    return [*["Problems"][: len(notes)], *notes, f"{text}; {counted(number, 'problem')}"]


# The streams


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


def show_text(text: str) -> None:
    """Print text to the stream for results; stop quietly if the reader closes the pipe."""
    stream = _kept[0] if _kept else sys.stdout
    if isinstance(stream, TextIOWrapper):
        # A character that the encoding lacks must not end the output.
        stream.reconfigure(errors="backslashreplace")
    try:
        # With the stream as an argument: click would replace a stdout that encodes ASCII.
        echo(text, stream, nl=False)
    except OSError as error:
        # What the stream still holds goes nowhere, also at the end of the interpreter.
        assert stream is not None
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


@contextmanager
def slow_step(text: str, since: float) -> Iterator[None]:
    """Show a step on a terminal from two seconds after `since`, by `time.monotonic`, to its end.

    A step within another one replaces it, because the cursor can only return to the start of its
    line.
    """
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    room = get_terminal_size().columns - 1
    line = f"{one_line(text)[: room - 4]} ...".ljust(room)
    said = Event()

    def say() -> None:
        said.set()
        print(f"\r{line}", end="\r", file=stream, flush=True)

    timer = Timer(max(_PATIENCE - (monotonic() - since), 0.0), say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if said.is_set():
            print(" " * room, end="\r", file=stream, flush=True)
