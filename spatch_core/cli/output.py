"""Shows results: lines that fit the terminal, complete lines when piped, JSON on request."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from shutil import get_terminal_size
from typing import Any, TypeAlias
from unicodedata import east_asian_width

from ..examination.foreign_code import JsonEncoder
from .streams import one_line, show_text

_encode = JsonEncoder(indent=2).encode
_GAP, _INDENT = "  ", "    "
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_UNLIMITED = 1_000_000
"""The width of a pipe."""
_LEGIBLE = 16
"""The width that a terminal leaves to a column of several words."""
_FILLER = "\0"  # after each character that takes two columns, so that `len` is the width


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
    when piped. A row that is too wide for a terminal goes on in further, indented lines.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Fitting:
    """The same data as several tables.

    A terminal gets the first that fits, or else the last; a pipe gets the first.
    """

    tables: Sequence[Table]


@dataclass(frozen=True, slots=True)
class Notes:
    """Lines under a title, or without one; nothing without any line.

    Further texts of a line stand below it, indented.
    """

    title: str
    lines: Sequence[Cell]
    styles: Mapping[str, str] = field(default_factory=dict)  # of words in a line, by the word
    are_commands: bool = False  # to be pasted: each in one line


Part: TypeAlias = "str | Table | Fitting | Notes"


def show(parts: Iterable[Part]) -> None:
    """Print parts as the output needs them; a string is a heading, or a summary at the end."""
    if sys.stdout is None or not sys.stdout.isatty():
        show_text(plain(parts))
        return
    has_styles = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    show_text(_Layout(get_terminal_size().columns, has_styles).text(parts))


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
    return _Layout().text(parts)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Lays out parts for a terminal, or for a pipe."""

    width: int = _UNLIMITED
    has_styles: bool = False

    def text(self, parts: Iterable[Part]) -> str:
        lines: list[str] = []
        for part in parts:
            if isinstance(part, str):
                lines += [""] * bool(lines)
                lines += [self._styled(each, "bold") for each in wrapped(_clean(part), self.width)]
            elif isinstance(part, Notes):
                lines += self._notes(part)
            else:
                tables = part.tables if isinstance(part, Fitting) else [part]
                fitting = (each for each in tables if _size(self._widths(each)) <= self.width)
                lines += self._table(next(fitting, tables[-1]))
        return "".join(f"{line}\n" for line in lines).replace(_FILLER, "")

    def _styled(self, text: str, style: str) -> str:
        codes = ";".join(_CODES[each] for each in style.split())
        return f"\x1b[{codes}m{text}\x1b[0m" if self.has_styles and codes and text else text

    def _notes(self, part: Notes) -> Iterator[str]:
        start = _GAP if part.title else ""
        if part.title and part.lines:
            yield from wrapped(f"{_clean(part.title)}:", self.width, "", _INDENT)
        for line in part.lines:
            first, *more = _values(line)
            width = _UNLIMITED if part.are_commands else self.width
            begin, *rest = wrapped(first, width, start, start + _INDENT)
            for word, style in part.styles.items():
                begin = begin.replace(word, self._styled(word, style), 1)
            yield from (begin, *rest)
            for each in more:
                yield from wrapped(each, self.width, start + _INDENT, start + _INDENT)

    def _rows(self, table: Table) -> Iterator[list[list[str]]]:
        """Yield the titles and the rows; a pipe gets a row for each of several values."""
        case = str.upper if self.width == _UNLIMITED else str.capitalize
        yield [[_clean(c.title if c.is_name else case(c.title))] for c in table.columns]
        for row in table.rows:
            cells = [_values(cell) for cell in row]
            if self.width < _UNLIMITED:
                yield cells
                continue
            for number in range(max(map(len, cells))):
                yield [[cell[min(number, len(cell) - 1)] or "-"] for cell in cells]

    def _widths(self, table: Table) -> list[int]:
        """Return the widths of the columns if nothing is wrapped."""
        return [
            max(len(value) for cell in column for value in cell)
            for column in zip(*self._rows(table), strict=True)
        ]

    def _table(self, table: Table) -> Iterator[str]:
        rows, widths = [*self._rows(table)], self._widths(table)
        least = widths
        if _size(widths) > self.width:
            words = [
                max(len(word) for cell in column for value in cell for word in value.split(" "))
                for column in zip(*rows, strict=True)
            ]
            least = [max(w, min(n, _LEGIBLE)) for w, n in zip(words, widths, strict=True)]
        groups: list[dict[int, int]] = [{}]
        room = self.width
        for number, width in enumerate(least):
            if groups[-1] and _size([*groups[-1].values(), width]) > room:
                groups.append({})
                room = self.width - len(_INDENT)
            groups[-1][number] = min(width, room)
        for group in groups:
            spare = self.width - len(_INDENT) * (group is not groups[0]) - _size(group.values())
            for number in group:
                more = min(spare, widths[number] - group[number])
                group[number] += more
                spare -= more
        for row in rows:
            for group in groups:
                indent = "" if group is groups[0] else _INDENT
                lines = self._lines(table, row, group, indent, row is rows[0])
                yield from filter(None, lines)

    def _lines(
        self, table: Table, row: list[list[str]], widths: dict[int, int], indent: str, is_head: bool
    ) -> Iterator[str]:
        """Yield the lines of some columns of a row."""
        cells = {
            number: [line for value in row[number] for line in wrapped(value, width)]
            for number, width in widths.items()
        }
        for position in range(max(map(len, cells.values()))):
            line = []
            for number, width in widths.items():
                column = table.columns[number]
                text = "".join(cells[number][position : position + 1])
                style = "bold" if is_head else column.styles.get(row[number][0], "")
                gap = " " * (width - len(text))
                text = self._styled(text, style)
                line.append(gap + text if column.is_number else text + gap)
            yield (indent + _GAP.join(line)).rstrip()


def wrapped(text: str, width: int, first: str = "", further: str = "") -> list[str]:
    """Return text in lines of a width, after one indent for the first line and one for further.

    A word is broken only if it is longer than a line: after a punctuation mark, if it has one.
    """
    room = max(1, width - len(further))
    lines, is_empty = [first], True
    for word in text.split(" "):
        pieces, glue = [word], " "
        if len(word) > room:
            some = f".{{1,{room}}}"
            pieces = re.findall(rf"{some}$|{some}(?<=\W)|{some}", word)
        for piece in pieces:
            if not is_empty and len(lines[-1] + glue + piece) > width:
                lines.append(further)
                is_empty = True
            lines[-1] += piece if is_empty else glue + piece
            is_empty, glue = False, ""
    return lines


def _clean(text: str) -> str:
    """Return text in one line, with fillers."""
    text = one_line(text)
    if text.isascii():
        return text
    return "".join(each + _FILLER * (east_asian_width(each) in "WF") for each in text)


def _values(cell: Cell) -> list[str]:
    return [_clean(each) for each in ((cell,) if isinstance(cell, str) else cell or ("",))]


def _size(widths: Iterable[int]) -> int:
    found = [*widths]
    return sum(found) + len(_GAP) * (len(found) - 1)
