"""The lines of keys and the offsets of tables in a TOML file, which TOML parsers do not give.

The text is valid: a parser has accepted it before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from .._description import EVERY, NO_FUNCTIONS, parse_toml

Path: TypeAlias = "tuple[str | int, ...]"

_LONGEST = 1000
"""The longest key path whose line is recorded."""

_QUOTED = ("attributes", "functions")
_BARE = {*NO_FUNCTIONS} - {EVERY}
"""Tables below ``functions`` whose names are written without quotes."""
_TOKEN = re.compile(
    r'''
    """(?:\\.|[^\\])*?""""{0,2}  # a string of several lines may end in quotes
    | \'\'\'.*?\'\'\'\'{0,2}
    | "(?:\\.|[^"\\])*"
    | '[^']*'
    | \#[^\n]*
    | [\n\[\]{}=,.]
    | [^\s\[\]{}=,.\#"']+
    ''',
    re.DOTALL | re.VERBOSE,
)


@dataclass(slots=True)
class Section:
    """A table with a header, or the pairs before the first header; offsets in the text."""

    path: Path  # empty before the first header
    start: int  # of the header
    end: int  # after the last pair


@dataclass(slots=True)
class Layout:
    """The lines of keys, and the tables of a file."""

    lines: dict[str, int] = field(default_factory=dict)  # by key path, as the validator writes it
    sections: list[Section] = field(default_factory=list)
    _ranks: dict[str, int] = field(default_factory=dict)  # of the key paths; filled when needed

    def line(self, key: str) -> int:
        """Return the line of a key path, or of the innermost table around it."""
        holder = self._holder(key)
        return 1 if holder is None else self.lines[holder]

    def position(self, key: str) -> int:
        """Return the rank in the file of a key path, or of the innermost table around it."""
        holder = self._holder(key)
        if len(self._ranks) != len(self.lines):
            self._ranks = {each: rank for rank, each in enumerate(self.lines)}
        return -1 if holder is None else self._ranks[holder]

    def _holder(self, key: str) -> str | None:
        """Return the longest known key path that is `key` or contains it."""
        # Look up prefixes instead of all lines: a file may have as many faults as lines.
        places = [len(key), *(place for place in range(len(key)) if key[place] in ".[")]
        holders = (key[:place] for place in sorted(places, reverse=True))
        return next((each for each in holders if each in self.lines), None)


def find_layout(text: str) -> Layout:
    """Return the layout of valid TOML."""
    return _Scanner(text).scan()


def key_path(path: Path) -> str:
    """Write a path as the validator writes it: ``functions."lib:fn".function``."""
    written = str(path[0])
    for position, part in enumerate(path[1:], 1):
        if isinstance(part, int):
            written += f"[{part}]"
        elif position == 1 and path[0] in _QUOTED and part not in _BARE:
            written += f'."{part}"'
        else:
            written += f".{part}"
    return written


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int
    line: int


class _Scanner:
    """A recursive-descent reader of the tokens of a file."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.position = 0
        self.layout = Layout()
        self.arrays: dict[Path, int] = {}

    def scan(self) -> Layout:
        section = Section((), 0, 0)
        self.layout.sections.append(section)
        while self.position < len(self.tokens):
            if self.ahead() == "[":
                section = self.header()
                self.layout.sections.append(section)
            else:
                section.end = self.pair(section.path)
        return self.layout

    def ahead(self) -> str:
        return self.tokens[self.position].text

    def take(self) -> _Token:
        self.position += 1
        return self.tokens[self.position - 1]

    def header(self) -> Section:
        first = self.take()
        is_array = self.ahead() == "[" and self.tokens[self.position].start == first.end
        if is_array:
            self.take()
        path = self.key(())
        self.take()
        if is_array:
            self.take()
            self.arrays[path] = self.arrays.get(path, -1) + 1
            path = (*path, self.arrays[path])
            self.found(path, first.line)
        return Section(path, first.start, self.tokens[self.position - 1].end)

    def pair(self, outer: Path) -> int:
        """Read a key and its value; return the offset after them."""
        path = self.key(outer)
        self.take()
        return self.value(path)

    def key(self, outer: Path) -> Path:
        """Read a dotted key; return its path."""
        path = outer
        while True:
            token = self.take()
            text = token.text
            part = str(parse_toml(f"key = {text}".encode())["key"]) if text[0] in "\"'" else text
            path = (*path, part)
            if path in self.arrays and self.ahead() == ".":
                path = (*path, self.arrays[path])
            self.found(path, token.line)
            if self.ahead() != ".":
                return path
            self.take()

    def value(self, path: Path) -> int:
        """Read a value; return the offset after it."""
        opening = self.take()
        if opening.text == "[":
            number = 0
            while self.ahead() != "]":
                self.found((*path, number), self.tokens[self.position].line)
                self.value((*path, number))
                number += 1
                if self.ahead() == ",":
                    self.take()
            return self.take().end
        if opening.text == "{":
            while self.ahead() != "}":
                self.pair(path)
                if self.ahead() == ",":
                    self.take()
            return self.take().end
        end = opening.end
        # A number or a date may consist of several tokens.
        while self.position < len(self.tokens):
            token = self.tokens[self.position]
            if token.line != opening.line or token.text[0] in "[]{},=\"'":
                break
            end = self.take().end
        return end

    def found(self, path: Path, line: int) -> None:
        key = key_path(path)
        # A long key of a table would be repeated in the path of every key below it.
        if len(key) <= _LONGEST:
            self.layout.lines.setdefault(key, line)


def _tokens(text: str) -> Iterator[_Token]:
    """Yield tokens, without comments and line ends."""
    line = 1
    for match in _TOKEN.finditer(text):
        found = match.group()
        if found != "\n" and found[0] != "#":
            yield _Token(found, match.start(), match.end(), line)
        line += found.count("\n")
