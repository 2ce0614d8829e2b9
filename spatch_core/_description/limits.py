"""The limits of a backend's file, which are checked before it is parsed.

A parser for TOML takes memory that grows with the square of the number of parts of a key: 40 kB
of ``a.a.a...`` take 1.5 GB. Without long keys it takes some hundred bytes for each byte of text.
"""

from __future__ import annotations

MOST_BYTES = 2 * 1024 * 1024
"""The size of a file that is read: about 10,000 functions."""
MOST_PARTS = 32
"""The number of parts of a key, which dots join. The keys of a description have up to three."""

# Splits text as a TOML parser does, up to the first syntax error, where a parser stops.
_TOKEN = r"""
    (?P<end>[\n=,\[\]{}]|\#[^\n]*)
    | (?P<dot>\.)
    | \"{3}[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*\"{3,5}
    | '{3}[\s\S]*?'{3,5}
    | "(?!"")[^"\\\n]*(?:\\.[^"\\\n]*)*"
    | '(?!'')[^'\n]*'
    | (?P<unclosed>["'])
    | [^\n=,\[\]{}\#."']+
"""


class LimitError(ValueError):
    """A file exceeds one of the limits."""


def check_size(content: bytes) -> None:
    """Raise `LimitError` if a file is too large; readers stop one byte after the limit."""
    if len(content) > MOST_BYTES:
        raise LimitError(f"it has more than {MOST_BYTES:,} bytes")


def check_keys(text: str) -> None:
    r"""Raise `LimitError` if a key has too many parts.

    Examples
    --------
    >>> check_keys("a = 1\n" + "b." * 40 + "c = 1")
    Traceback (most recent call last):
        ...
    spatch_core._description.limits.LimitError: a key has more than 32 parts (at line 2, column 1)
    """
    # A key stands on one line. Few files have a line with so many dots.
    if text.count(".") < MOST_PARTS or all(
        line.count(".") < MOST_PARTS for line in text.split("\n")
    ):
        return
    import re  # few files need it

    start = dots = 0  # of a key or a value; a value has at most one dot outside strings
    for token in re.finditer(_TOKEN, text, re.VERBOSE):
        if token.lastgroup == "dot":
            dots += 1
        elif token.lastgroup == "end":
            start, dots = token.end(), 0
        elif token.lastgroup == "unclosed":
            return
        if dots >= MOST_PARTS:
            line = text.count("\n", 0, start) + 1
            column = start - text.rfind("\n", 0, start)
            raise LimitError(
                f"a key has more than {MOST_PARTS} parts (at line {line}, column {column})"
            )
