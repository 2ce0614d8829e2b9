"""The shape of the JSON that a command prints: a JSON Schema, and the help made from it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from importlib.abc import Traversable

_COLUMN = 32
"""Where the help says what a key means."""
_WIDTH = 76


def shaped_commands() -> list[str]:
    """Return the commands that print JSON."""
    names = {each.name.removesuffix(".json") for each in _folder().iterdir()}
    return sorted(names - {"common"})


def shape(command: str) -> dict[str, Any]:
    """Return the JSON Schema of what a command prints with ``--json``."""
    own, common = (
        json.loads((_folder() / f"{name}.json").read_text("utf-8")) for name in (command, "common")
    )
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"What spatch-core {command} --json prints",
        **own,
        "$defs": common,
    }


def _folder() -> Traversable:
    return files(__name__.rpartition(".")[0]) / "shapes"


def shape_text(command: str) -> str:
    """Return the shape as the help of a command has it."""
    schema = shape(command)
    lines = _lines(schema, schema["$defs"], 2, set())
    return "\n".join(["With --json, one object (keys may be added, none is removed):", *lines])


class JsonCommand(click.Command):
    """A command with the option ``--json``, whose help ends with the shape of the JSON."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog, and the shape."""
        super().format_epilog(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"\b\n{shape_text(str(self.name))}")


def _lines(
    record: dict[str, Any], known: dict[str, Any], indent: int, shown: set[str]
) -> Iterator[str]:
    """Yield lines for the keys of an object; those without a text, or of one text, share a line."""
    keys = _properties(record, known)
    for (text, nested), group in groupby(keys, lambda key: _meaning(keys[key], key)):
        label = " " * indent + ", ".join(group)
        inner = keys[nested] if nested else {}
        if inner.get("type") in ("array", ["array", "null"]):
            inner = inner["items"]
            is_same = inner.get("$ref") in shown
            label += ": list of the same" if is_same else ": list of"
            inner = {} if is_same else inner
        first, *more = textwrap.wrap(text, _WIDTH - _COLUMN - 2) or [""]
        yield f"{label:{_COLUMN}}{first}" if first else label
        yield from (" " * (_COLUMN + 2) + line for line in more)
        yield from _lines(inner, known, indent + 2, shown)
        shown.add(inner.get("$ref", ""))


def _meaning(schema: dict[str, Any], key: str) -> tuple[str, str]:
    """Return what a key means, and the key itself if objects are in its value."""
    inner = schema.get("items", schema)
    is_nested = "$ref" in inner or "properties" in inner
    values = ", ".join(schema.get("enum", ()))
    return schema.get("description", values), key if is_nested else ""


def _properties(record: dict[str, Any], known: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the keys of an object, those that say where something comes from at the end."""
    record = known[record["$ref"].rpartition("/")[2]] if "$ref" in record else record
    own = dict(record.get("properties", {}))
    for each in reversed(record.get("allOf", ())):
        more = _properties(each, known)
        own = {**own, **more} if each["$ref"].endswith("/place") else {**more, **own}
    return own
