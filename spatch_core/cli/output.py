"""Prints results: wrapped for a terminal, as complete lines for a pipe, or as JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, TypeAlias

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from .streams import one_line, results, show_text

_encode = json.JSONEncoder(indent=2).encode
_GAP, _INDENT = "  ", "    "
_UNLIMITED = 1_000_000
"""The width of a pipe."""
_LEGIBLE = 16
"""The least width of a column of prose in a terminal."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    is_number: bool = False  # cells are aligned to the right
    styles: Mapping[str, str] = field(default_factory=dict)  # of cells, by text
    is_name: bool = False  # the title is a name, which keeps its case
    is_prose: bool = False  # cells may be wrapped between words


Cell: TypeAlias = "str | tuple[str, ...]"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text.

    A cell may have several values: in a terminal, they stand below each other; in a pipe, each
    gets a row. In a terminal that is too narrow for the columns, each row is printed as lines.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Notes:
    """Lines, under a title if it is not empty; without lines, nothing is printed.

    Further texts of a line are printed below it, indented.
    """

    title: str
    lines: Sequence[Cell]
    styles: Mapping[str, str] = field(default_factory=dict)  # of words in a line, by word
    are_commands: bool = False  # never wrapped, so that users can paste them


Part: TypeAlias = "str | Table | Notes"


def show(parts: Iterable[Part]) -> None:
    """Print parts for the terminal or the pipe; a string is a heading, or a summary at the end."""
    stream = results()
    if stream is None or not stream.isatty():
        show_text(plain(parts))
        return
    # Not left to rich: some versions obey an empty variable, and keep bold text.
    is_plain = bool(os.environ.get("NO_COLOR"))
    show_text(
        laid_out(parts, Console(color_system=None if is_plain else "auto", no_color=is_plain))
    )


def show_json(value: Mapping[str, Any]) -> None:
    """Print an object as JSON in ASCII, which every encoding can represent."""
    show_text(_encode(value) + "\n")


def plain(parts: Iterable[Part]) -> str:
    """Return parts as text for a pipe, in which every line is complete.

    Returns
    -------
    str
        Aligned columns without styles. An empty cell is a dash, so all rows have the same number
        of fields. A row is repeated for each of several values in a cell, so ``grep`` finds it.
    """
    return laid_out(parts, Console(file=StringIO(), width=_UNLIMITED, color_system=None))


def laid_out(parts: Iterable[Part], console: Console) -> str:
    """Return parts as text for a console."""
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
    return "".join(f"{line.rstrip()}\n" for line in capture.get().split("\n")[:-1])


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
    room = max(1, console.width - len(further) + 1)
    lines = _breakable(text, room).wrap(console, room)
    for line in lines:
        line.rstrip()  # a space may have a style
    console.print(Text(indent) + Text(further).join(lines), soft_wrap=True)


def _breakable(text: Text, room: int) -> Text:
    """Insert spaces into words that are longer than a line, after punctuation if possible.

    The spaces end up at line ends, because no two pieces of a word fit into one line.
    """
    some = f".{{1,{room}}}"
    ends = [
        word.start() + piece.end()
        for word in re.finditer(r"\S+", text.plain)
        if len(word[0]) > room
        # Break after punctuation only if a letter or digit is left for the next line.
        for piece in re.finditer(rf"{some}$|{some}(?<=\W)(?=.*\w)|{some}", word[0])
        if piece.end() < len(word[0])
    ]
    return Text(" ").join(text.divide(ends))


def _print_table(part: Table, console: Console) -> None:
    is_pipe = console.width == _UNLIMITED
    case = str.upper if is_pipe else str.capitalize
    titles = [one_line(each.title if each.is_name else case(each.title)) for each in part.columns]
    rows = [[_values(cell) for cell in row] for row in part.rows]
    if is_pipe:
        rows = [
            [[cell[min(number, len(cell) - 1)] or "-"] for cell in row]
            for row in rows
            for number in range(max(map(len, row)))
        ]
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for column, title, *cells in zip(part.columns, titles, *rows, strict=True):
        width = max(cell_len(value) for values in [[title], *cells] for value in values)
        table.add_column(
            Text.assemble((title, "bold")),
            justify="right" if column.is_number else "left",
            no_wrap=not column.is_prose,
            min_width=min(width, _LEGIBLE) if column.is_prose else width,
        )
    for row in rows:
        table.add_row(*map(_styled, part.columns, row))
    unlimited = console.options.update(max_width=_UNLIMITED)
    if console.measure(table, options=unlimited).minimum <= console.width:
        console.print(table)
        return
    name = next(i for i, column in enumerate(part.columns) if not column.is_number)
    for row in rows:
        _print_line(Text(" ".join(cell[0] for cell in row[: name + 1]), "bold"), console)
        details = [
            Text(f"{one_line(column.title)}: " * (len(row) > 2)) + _styled(column, values, ", ")
            for column, values in [*zip(part.columns, row, strict=True)][name + 1 :]
            if any(values)
        ]
        if details:
            _print_line(Text("; ").join(details), console, _INDENT)


def _styled(column: Column, values: list[str], separator: str = "\n") -> Text:
    return Text.assemble((separator.join(values), column.styles.get(values[0], "")))


def _values(cell: Cell) -> list[str]:
    return [one_line(each) for each in ((cell,) if isinstance(cell, str) else cell or ("",))]
