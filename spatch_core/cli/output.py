"""Shows results: tables in a terminal, aligned text when piped, JSON on request."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from unicodedata import east_asian_width

from ..examination.foreign_code import JsonEncoder
from .streams import one_line, printable, show_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table as RichTable


_encode = JsonEncoder(indent=2).encode


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    title: str
    is_number: bool = False  # aligned to the right
    styles: Mapping[str, str] = field(default_factory=dict)  # of cells, by their text
    is_name: bool = False  # the title is a name, and keeps its case


Cell: TypeAlias = "str | tuple[str, ...]"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text.

    Several values of a cell stand below each other in a terminal, and in rows of their own
    when piped.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Fitting:
    """The same data as several tables.

    A terminal gets the first that fits, or else the last, with wrapped cells; a pipe gets the
    first.
    """

    tables: Sequence[Table]


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences under a title; nothing without any sentence."""

    title: str
    lines: Sequence[str]
    are_commands: bool = False  # to be pasted: without bullets, and each in one line


Part: TypeAlias = "str | Table | Fitting | Notes"


def show(parts: Iterable[Part]) -> None:
    """Print parts as the output needs them; a string is a heading."""
    shown = [part for part in parts if not isinstance(part, Notes) or part.lines]
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    show_text(_for_terminal(shown) if is_terminal else plain(shown))


def show_json(value: Mapping[str, Any]) -> None:
    """Print an object as JSON, in characters that every encoding has."""
    show_text(_encode(value) + "\n")


def plain(parts: Iterable[Part]) -> str:
    """Return parts as text in aligned columns, no line of which needs another one.

    Returns
    -------
    str
        Without styles. A dash stands for an empty cell, so that each row has as many fields
        as there are columns. Each of several values in a cell has a row, in which the other
        cells are repeated, so that a search for the value finds them too.
    """
    lines: list[str] = []
    for part in parts:
        if isinstance(part, str):
            lines += [*([""] if lines else ()), one_line(part)]
        elif isinstance(part, Notes):
            lines.append(f"{part.title}:")
            lines += [f"  {one_line(line)}" for line in part.lines]
        else:
            lines += _plain_table(part.tables[0] if isinstance(part, Fitting) else part)
    return "".join(f"{line}\n" for line in lines)


def _plain_table(table: Table) -> list[str]:
    titles = [
        one_line(column.title if column.is_name else column.title.upper())
        for column in table.columns
    ]
    rows = [titles, *(cells for row in table.rows for cells in _plain_rows(row))]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for cell, width, column in zip(row, widths, table.columns, strict=True):
            gap = " " * (width - _width(cell))
            cells.append(gap + cell if column.is_number else cell + gap)
        lines.append("  ".join(cells).rstrip())
    return lines


def _plain_rows(row: Sequence[Cell]) -> Iterator[list[str]]:
    columns = [(cell,) if isinstance(cell, str) else cell or ("",) for cell in row]
    for number in range(max(map(len, columns))):
        values = (column[min(number, len(column) - 1)] for column in columns)
        yield [one_line(value) or "-" for value in values]


def _width(text: str) -> int:
    """Return how many columns text takes; some characters take two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(each) in "WF" else 1 for each in text)


def _for_terminal(parts: Iterable[Part]) -> str:
    from rich.console import Console

    # Decided here, because some versions of rich count an empty variable and keep bold text.
    plain_text = bool(os.environ.get("NO_COLOR"))
    console = Console(color_system=None if plain_text else "auto", no_color=plain_text)
    with console.capture() as capture:
        for position, part in enumerate(parts):
            if position and isinstance(part, str):
                console.print()
            is_whole = isinstance(part, Notes) and part.are_commands
            for each in _rich(part, console):
                console.print(each, soft_wrap=is_whole)
    return capture.get()


def _rich(part: Part, console: Console) -> Iterator[RenderableType]:
    # Always as Text, because third-party text may look like rich's markup.
    from rich.table import Table as RichTable
    from rich.text import Text

    if isinstance(part, str):
        yield Text(one_line(part), style="bold", overflow="fold")
        return
    if isinstance(part, Notes):
        yield Text(f"{part.title}:")
        if part.are_commands:
            yield Text("\n".join(f"  {one_line(line)}" for line in part.lines))
            return
        notes = RichTable.grid(padding=(0, 1))
        for line in part.lines:
            notes.add_row(" -", Text(printable(line), overflow="fold"))
        yield notes
        return
    if isinstance(part, Table):
        yield _rich_table(part)
        return
    unlimited = console.options.update(max_width=sys.maxsize)
    tables = [_rich_table(each) for each in part.tables]
    fitting = (
        each for each in tables if console.measure(each, options=unlimited).maximum <= console.width
    )
    yield next(fitting, tables[-1])


def _rich_table(part: Table) -> RichTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for column in part.columns:
        table.add_column(
            Text(printable(column.title if column.is_name else column.title.capitalize())),
            justify="right" if column.is_number else "left",
            overflow="fold",
        )
    for row in part.rows:
        table.add_row(
            *(
                Text(printable(text), style=column.styles.get(text, ""))
                for text, column in zip(map(_lines, row), part.columns, strict=True)
            )
        )
    return table


def _lines(cell: Cell) -> str:
    return cell if isinstance(cell, str) else "\n".join(cell)
