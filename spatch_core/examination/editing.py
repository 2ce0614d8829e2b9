"""Changes the functions in a backend's file and nothing else in it.

The text is cut at the headers of its tables. tomlkit edits the tables that change; the others stay
as they are.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .._description import FUNCTION_FIELDS, NO_FUNCTIONS
from .layout import Path, find_layout

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import Item, Key

Body: TypeAlias = "list[tuple[Key | None, Item]]"
"""The entries of a table: pairs, and comments and white space without a key."""

_COMMENTS_ABOVE = re.compile(r"(?:[ \t]*#.*\n)*\Z")


class CannotEdit(Exception):  # noqa: N818  # it asks the user to change the file
    """The table of functions is written on one line."""


@dataclass(slots=True)
class _Block:
    """A table with its header; the first block is what stands before all headers."""

    path: Path
    text: str  # from the header to the end of the last pair
    above: str = ""  # the comments directly above the header
    below: str = ""  # other comments, and empty lines
    document: TOMLDocument | None = None  # replaces the text; for the extra line end see `parsed`
    is_removed: bool = False

    def parsed(self) -> TOMLDocument:
        import tomlkit

        if self.document is None:
            # The text may lack its line end, which entries that are inserted need.
            self.document = tomlkit.parse(f"{self.text}\n")
        return self.document


def edit_functions(
    text: str, present: Mapping[str, Any], wanted: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the text of a file with the wanted functions.

    Parameters
    ----------
    text : str
        Valid TOML.
    present : mapping
        The functions in the text, each with its fields.
    wanted : mapping
        The functions that the text must have. Unknown fields of present functions stay.

    Raises
    ------
    CannotEdit
        If the table of functions is written on one line.
    """
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        return edit_functions(text.replace("\r\n", "\n"), present, wanted).replace("\n", "\r\n")
    blocks = _cut(text)
    for name, old in present.items():
        if name not in wanted or not isinstance(old, Mapping):
            _remove(blocks, name)
        else:
            _change(blocks, name, old, wanted[name])
    for name in sorted(wanted):
        if not isinstance(present.get(name), Mapping):
            _add(blocks, name)
            _change(blocks, name, {}, wanted[name])
    return _join(blocks)


def _cut(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    end = 0
    for section in find_layout(text).sections:
        start = text.rfind("\n", 0, section.start) + 1
        found = _COMMENTS_ABOVE.search(text[end:start])
        above = found.group() if found and blocks else ""
        if blocks:
            blocks[-1].below = text[end : start - len(above)]
        # The comment behind the last pair, and the line end, belong to it.
        end = (text.find("\n", section.end) + 1 or len(text)) if section.end else 0
        blocks.append(_Block(section.path, text[start:end], above))
    blocks[-1].below = text[end:]
    return blocks


def _join(blocks: list[_Block]) -> str:
    text = ""
    for block in blocks:
        if block.is_removed:
            text = re.sub(r"\n+\Z", "\n", text)  # the empty lines above the table go, too
        else:
            is_open = text and not text.endswith("\n")  # only the last line of a file may be
            own = block.text if block.document is None else block.document.as_string()[:-1]
            text += ("\n" if is_open else "") + block.above + own
        text += block.below
    return text


def _add(blocks: list[_Block], name: str) -> None:
    """Add an empty table behind the one that precedes it by name, or before all others."""
    import tomlkit

    new = _Block(("functions", name), f"[functions.{tomlkit.item(name).as_string()}]\n")
    places = {
        str(block.path[1]): place
        for place, block in enumerate(blocks)
        if len(block.path) == 2
        and block.path[0] == "functions"
        and block.path[1] not in NO_FUNCTIONS
    }
    names = sorted(places)
    position = bisect(names, name)
    if position:
        path = ("functions", names[position - 1])
        # Tables below the preceding one stay with it.
        place = max(place for place, block in enumerate(blocks) if block.path[:2] == path)
        new.above, new.below, blocks[place].below = "\n", blocks[place].below, ""
        blocks.insert(place + 1, new)
    elif names:
        new.below = "\n"
        blocks.insert(min(places.values()), new)
    else:
        new.above = "\n"
        blocks.append(new)


def _remove(blocks: list[_Block], name: str) -> None:
    """Remove a function, the comments directly above it, and the empty lines above these."""
    from tomlkit.items import Comment, Whitespace

    for block in blocks:
        block.is_removed |= block.path[:2] == ("functions", name)
    for body, last in reversed(_places(blocks, name)):
        first = last
        for kind in (Comment, Whitespace):
            while first and isinstance(body[first - 1][1], kind):
                first -= 1
        del body[first : last + 1]


def _change(
    blocks: list[_Block], name: str, old: Mapping[str, Any], fields: Mapping[str, Any]
) -> None:
    from tomlkit.items import InlineTable, Table

    changed = [key for key in FUNCTION_FIELDS if old.get(key) != fields.get(key)]
    places = _places(blocks, name) if changed else []
    bodies: list[Body] = []
    for body, place in places:
        item = body[place][1]
        if isinstance(item, Table):
            bodies.append(item.value.body)
        elif isinstance(item, InlineTable):
            # It is written anew.
            others = {key: old[key] for key in old if key not in FUNCTION_FIELDS}
            ordered = {key: fields[key] for key in FUNCTION_FIELDS if key in fields}
            _replace(body, place, {**others, **ordered})
    for key in changed if bodies else ():
        for block in blocks:
            # A field may have tables of its own: [[functions."lib:fn".variants]].
            block.is_removed |= block.path[:3] == ("functions", name, key)
        _set(bodies, key, fields.get(key))


def _set(bodies: list[Body], key: str, value: Any) -> None:
    """Set a field, or remove it; a new one goes behind those that precede it, or before all."""
    from tomlkit.items import SingleKey

    written = {
        each.key: (body, place)
        for body in bodies
        for place, (each, _) in enumerate(body)
        if each is not None
    }
    if key in written:
        body, place = written[key]
        if value is None:
            del body[place]
        else:
            _replace(body, place, value)
        return
    if value is None:
        return
    before = [each for each in FUNCTION_FIELDS[: FUNCTION_FIELDS.index(key)] if each in written]
    neighbour = before[-1] if before else next(iter(written), None)
    new = _item(value)
    body, place = bodies[0], 0
    if neighbour is not None:
        body, place = written[neighbour]
        new.trivia.indent = body[place][1].trivia.indent
    body.insert(place + bool(before), (SingleKey(key), new))


def _replace(body: Body, place: int, value: Any) -> None:
    """Replace a value; its indentation and its comment stay."""
    key, old = body[place]
    new = _item(value)
    vars(new.trivia).update(vars(old.trivia))
    body[place] = (key, new)


def _places(blocks: list[_Block], name: str) -> list[tuple[Body, int]]:
    """Return where a function stands: in one table, or with dotted keys in several."""
    from tomlkit.items import InlineTable, Table

    places = []
    for block in blocks:
        if block.is_removed or block.path not in ((), ("functions",), ("functions", name)):
            continue
        for key, functions in block.parsed().body:
            if key is None or key.key != "functions":
                continue
            if isinstance(functions, InlineTable):
                raise CannotEdit
            if isinstance(functions, Table):
                body = functions.value.body
                names = [None if each is None else each.key for each, _ in body]
                places += [(body, place) for place, each in enumerate(names) if each == name]
    return places


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
