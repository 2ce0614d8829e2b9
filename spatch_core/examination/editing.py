"""Changes the functions in a backend's file, and nothing else in it."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._description import FUNCTION_FIELDS, NO_FUNCTIONS
from .layout import find_layout

if TYPE_CHECKING:
    from tomlkit.items import Item

    from .findings import Path


class CannotEdit(Exception):  # noqa: N818  # it asks the user to change the file
    """The table of functions is written on one line."""


@dataclass(slots=True)
class _Block:
    """The lines of a table with its header; the first block is what stands before all headers."""

    path: Path
    above: list[str]  # the comments directly above the header
    body: list[str]  # from the header to the last value
    below: list[str]  # other comments, and empty lines


def edit_functions(
    text: str, present: Mapping[str, Any], wanted: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the text of a file, valid TOML, with the wanted functions; the rest stays as it is.

    The text is cut at the headers of its tables. tomlkit edits those that change. Unknown fields of
    `present` functions stay. Raises `CannotEdit` if the table of functions is written on one line.
    """
    if "\r\n" in text:
        return edit_functions(text.replace("\r\n", "\n"), present, wanted).replace("\n", "\r\n")
    blocks = _cut(text)
    for name, old in present.items():
        if name not in wanted or not isinstance(old, Mapping):
            _remove(blocks, name)
        elif any(old.get(key) != wanted[name].get(key) for key in FUNCTION_FIELDS):
            _change(blocks, name, old, wanted[name])
    for name in sorted(wanted):
        if not isinstance(present.get(name), Mapping):
            [*_edit(blocks, name)]  # raises CannotEdit for a table on one line
            _add(blocks, name, wanted[name])
    return "\n".join(line for block in blocks for line in (*block.above, *block.body, *block.below))


def _cut(text: str) -> list[_Block]:
    lines, layout = text.split("\n"), find_layout(text)
    blocks = [_Block((), [], [], [])]
    position = 0  # of the next line, from 0
    for header in layout.headers:
        blocks[-1].body = lines[position : max(header.before, position)]
        first = header.line - 1
        while first > header.before and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        blocks[-1].below = lines[max(header.before, position) : first]
        blocks.append(_Block(header.path, lines[first : header.line - 1], [], []))
        position = header.line - 1
    end = max(layout.end, position)
    blocks[-1].body, blocks[-1].below = lines[position:end], lines[end:]
    return blocks


def _add(blocks: list[_Block], name: str, fields: Mapping[str, Any]) -> None:
    """Add a table behind the one that precedes it by name, or before all others."""
    import tomlkit

    written = [
        f"{key} = {_item(fields[key]).as_string()}" for key in FUNCTION_FIELDS if key in fields
    ]
    header = f"[functions.{tomlkit.item(name).as_string()}]"
    new = _Block(("functions", name), [], "\n".join([header, *written]).split("\n"), [""])
    first: dict[str, int] = {}
    last: dict[str, int] = {}  # with the tables below
    for place, block in enumerate(blocks):
        head, *rest = block.path[:2] or ("",)
        if head == "functions" and rest and rest[0] not in NO_FUNCTIONS:
            first.setdefault(str(rest[0]), place)
            last[str(rest[0])] = place
    names = sorted(first)
    position = bisect(names, name)
    if names and not position:
        blocks.insert(min(first.values()), new)
        return
    place = last[names[position - 1]] if names else len(blocks) - 1
    is_last = place == len(blocks) - 1
    new.below, blocks[place].below = blocks[place].below or [""] * is_last, [""]
    blocks.insert(place + 1, new)


def _remove(blocks: list[_Block], name: str, *key: str) -> None:
    """Remove the tables of a function, or of one of its fields, with the comments above them."""
    path = ("functions", name, *key)
    if not key:
        for functions in _edit(blocks, name):
            del functions[name]
    for place in reversed(range(1, len(blocks))):
        if blocks[place].path[: len(path)] == path:
            before, removed = blocks[place - 1], blocks.pop(place)
            while before.below and not before.below[-1].strip():
                before.below.pop()
            before.below += removed.below


def _change(
    blocks: list[_Block], name: str, old: Mapping[str, Any], fields: Mapping[str, Any]
) -> None:
    """Change the fields of a function where they stand; new ones go to the end."""
    for key in FUNCTION_FIELDS:
        if old.get(key) != fields.get(key):
            _remove(blocks, name, key)  # [[functions."lib:fn".variants]]
    for functions in _edit(blocks, name):
        table = functions[name]
        for key in FUNCTION_FIELDS:
            value = fields.get(key)
            if value is None:
                table.pop(key, None)
            elif table.get(key) != value:
                table[key] = _item(value)


def _edit(blocks: list[_Block], name: str) -> Iterator[Any]:
    """Yield the tables of functions that have a function in them, and write their changes."""
    import tomlkit
    from tomlkit.items import InlineTable

    for block in blocks:
        if block.path not in ((), ("functions",), ("functions", name)):
            continue
        document = tomlkit.parse("\n".join(block.body))
        functions: Any = document.get("functions", {})
        if isinstance(functions, InlineTable):
            raise CannotEdit
        if name in functions:
            yield functions
            block.body = document.as_string().removesuffix("\n").split("\n")


def _item(value: Any) -> Item:
    import tomlkit

    if isinstance(value, dict):
        table = tomlkit.inline_table()
        table.update({key: _item(each) for key, each in value.items()})
        return table
    if isinstance(value, list):
        array = tomlkit.array()
        array.extend(map(_item, value))
        return array
    if isinstance(value, str) and "\n" in value:
        text = tomlkit.string(f"{value}\n", multiline=True).as_string()
        return tomlkit.value(text.replace('"""', '"""\n', 1))
    item: Item = tomlkit.item(value)
    return item
