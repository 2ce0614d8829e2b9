"""The lines of keys in a TOML file, which TOML parsers do not give.

The text is valid: a parser has accepted it before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .._description import parse_toml
from .findings import Path, key_path

_LONGEST = 1000
"""The longest key path whose line is recorded."""
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


class Header(NamedTuple):
    """The header of a table."""

    path: Path
    line: int
    before: int  # the last line with a key, a value or a header before it; 0 for none


@dataclass
class Layout:
    """The lines of keys, and the headers of tables."""

    lines: dict[str, int] = field(default_factory=dict)  # by key path, as the validator writes it
    headers: list[Header] = field(default_factory=list)
    end: int = 0  # the last line with a key or a value

    def line(self, key: str) -> int:
        """Return the line of a key path, or of the innermost table around it."""
        # Look up prefixes instead of all lines: a file may have as many faults as lines.
        places = [len(key), *(place for place in range(len(key)) if key[place] in ".[")]
        holders = (key[:place] for place in sorted(places, reverse=True))
        return next((self.lines[each] for each in holders if each in self.lines), 1)


def find_layout(text: str) -> Layout:
    """Return the layout of valid TOML."""
    return _Scanner(text).scan()


class _Token(NamedTuple):
    text: str
    line: int


class _Scanner:
    """A recursive-descent reader of the tokens of a file."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.position = 0
        self.layout = Layout()
        self.arrays: dict[Path, int] = {}  # the last index of each array of tables

    def scan(self) -> Layout:
        table: Path = ()
        while self.position < len(self.tokens):
            before, line = self.end(), self.tokens[self.position].line
            if self.ahead() == "[":
                table = self.header()
                self.layout.headers.append(Header(table, line, before))
            else:
                self.pair(table)
        self.layout.end = self.end()
        return self.layout

    def end(self) -> int:
        """Return the last line of the last token that was read."""
        if not self.position:
            return 0
        token = self.tokens[self.position - 1]
        return token.line + token.text.count("\n")

    def ahead(self) -> str:
        return self.tokens[self.position].text

    def take(self) -> _Token:
        self.position += 1
        return self.tokens[self.position - 1]

    def header(self) -> Path:
        """Read the header of a table; return its path."""
        line = self.take().line
        is_array = self.ahead() == "["
        if is_array:
            self.take()
        path = self.key(())
        self.take()
        if is_array:
            self.take()
            self.arrays[path] = self.arrays.get(path, -1) + 1
            path = (*path, self.arrays[path])
            self.found(path, line)
        return path

    def pair(self, outer: Path) -> None:
        path = self.key(outer)
        self.take()
        self.value(path)

    def key(self, outer: Path) -> Path:
        """Read a dotted key; return its path."""
        path = outer
        while True:
            text, line = self.take()
            part = str(parse_toml(f"key = {text}".encode())["key"]) if text[0] in "\"'" else text
            path = (*path, part)
            if path in self.arrays and self.ahead() == ".":
                path = (*path, self.arrays[path])
            self.found(path, line)
            if self.ahead() != ".":
                return path
            self.take()

    def value(self, path: Path) -> None:
        opening = self.take()
        if opening.text == "[":
            number = 0
            while self.ahead() != "]":
                self.found((*path, number), self.tokens[self.position].line)
                self.value((*path, number))
                number += 1
                if self.ahead() == ",":
                    self.take()
            self.take()
        elif opening.text == "{":
            while self.ahead() != "}":
                self.pair(path)
                if self.ahead() == ",":
                    self.take()
            self.take()
        else:
            # A number or a date may consist of several tokens.
            while self.position < len(self.tokens):
                token = self.tokens[self.position]
                if token.line != opening.line or token.text in ("]", "}", ","):
                    break
                self.take()

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
            yield _Token(found, line)
        line += found.count("\n")
