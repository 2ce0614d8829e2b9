"""Changes the functions in a backend's file and nothing else in it. Needs tomlkit.

Pieces of the text are replaced by offset, which preserves comments, order and formatting of the
rest; tomlkit only writes values. A document of tomlkit cannot insert a table or a field between
others, and keeps the comments of removed tables.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._description import FUNCTION_FIELDS, NO_FUNCTIONS
from .layout import Pair, Path, Section, find_layout


class CannotEdit(Exception):  # noqa: N818  # it asks the user to change the file
    """Functions cannot be added to a file of this form."""


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
    editor = _Editor(text)
    added = {}
    for name, fields in wanted.items():
        old = present.get(name)
        if not isinstance(old, Mapping):
            added[name] = fields
        else:
            editor.change(name, old, fields)
    for name in present:
        if not isinstance(present[name], Mapping) or name not in wanted:
            editor.remove(name)
    editor.add(added)
    return editor.result()


@dataclass(slots=True)
class _Edit:
    start: int
    end: int
    text: str


@dataclass(slots=True)
class _Editor:
    text: str
    edits: list[_Edit] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sections = find_layout(self.text).sections

    def replace(self, start: int, end: int, text: str) -> None:
        self.edits.append(_Edit(start, end, text))

    def result(self) -> str:
        parts = []
        position = 0
        for edit in sorted(self.edits, key=lambda each: (each.start, each.end)):
            parts += [self.text[position : edit.start], edit.text]
            position = edit.end
        return "".join([*parts, self.text[position:]])

    def change(self, name: str, old: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        path = ("functions", name)
        changed = {key for key in FUNCTION_FIELDS if old.get(key) != fields.get(key)}
        if not changed:
            return
        whole = next((each for each in self.pairs() if path[: len(each.path)] == each.path), None)
        if whole is not None:
            # An inline table is written anew.
            if whole.path != path:
                raise CannotEdit
            others = {key: old[key] for key in old if key not in FUNCTION_FIELDS}
            self.replace(whole.value, whole.end, _inline({**others, **_in_order(fields)}))
            return
        written = {each.path[2]: each for each in self.pairs() if each.path[:-1] == path}
        for key in FUNCTION_FIELDS:
            pair = written.get(key)
            if key not in changed:
                continue
            if pair is None:
                self.insert_field(path, key, fields[key], written)
            elif key in fields:
                self.replace(pair.value, pair.end, _value(fields[key]))
            else:
                self.replace(self.line_start(pair.start), self.line_end(pair.end), "")

    def insert_field(self, path: Path, key: str, value: Any, written: Mapping[Any, Pair]) -> None:
        """Insert a field after the field that precedes it, or before all others."""
        earlier = FUNCTION_FIELDS[: FUNCTION_FIELDS.index(key)]
        before = [written[each] for each in earlier if each in written]
        neighbour = before[-1] if before else next(iter(written.values()), None)
        prefix = ""
        if neighbour is not None:
            prefix = self.text[self.line_start(neighbour.start) : neighbour.last]
        if before:
            place = self.line_end(before[-1].end)
        elif neighbour is not None:
            place = self.line_start(neighbour.start)
        else:
            place = self.line_end(next(each.end for each in self.sections if each.path == path))
        self.insert_lines(place, f"{prefix}{key} = {_value(value)}\n")

    def remove(self, name: str) -> None:
        path = ("functions", name)
        for section in self.sections:
            if section.path[:2] == path:
                self.remove_lines(section.start, section.end)
                continue
            for pair in section.pairs:
                if pair.path[:2] == path:
                    self.remove_lines(pair.start, pair.end, len(pair.path) == 2)
                elif pair.path == ("functions",):
                    raise CannotEdit

    def remove_lines(self, start: int, end: int, with_comments: bool = True) -> None:
        """Remove lines, the comments directly above them, and the empty lines above these."""
        start = self.line_start(start)
        if with_comments:
            start = self.attached(start)
            while self.text[:start].endswith("\n\n"):
                start -= 1
        self.replace(start, self.line_end(end), "")

    def add(self, functions: Mapping[str, Mapping[str, Any]]) -> None:
        if not functions:
            return
        if any(each.path == ("functions",) for each in self.pairs()):
            raise CannotEdit
        places = {
            each.path[1]: each
            for each in self.sections
            if len(each.path) == 2
            and each.path[0] == "functions"
            and each.path[1] not in NO_FUNCTIONS
        }
        names = sorted(map(str, places))
        for name in sorted(functions):
            block = "".join(_block(name, functions[name]))
            position = bisect(names, name)
            if position:
                end = self.end_of(names[position - 1])
                self.insert_lines(end, f"\n{block}")
            elif names:
                first = min(places, key=lambda each: places[each].start)
                start = self.attached(self.line_start(places[first].start))
                if any(each.start <= start < each.end for each in self.edits):
                    # The first function is removed, together with the lines above it.
                    self.insert_lines(self.end_of(str(first)), f"\n{block}")
                else:
                    self.replace(start, start, f"{block}\n")
            else:
                empty = not self.text.strip()
                self.insert_lines(len(self.text), block if empty else f"\n{block}")

    def end_of(self, name: str) -> int:
        """Return the end of the last line of a function, subtables included."""
        ends = [each.end for each in self.sections if each.path[:2] == ("functions", name)]
        return self.line_end(max(ends))

    def insert_lines(self, place: int, lines: str) -> None:
        # Only the last line of a file may lack a line end; the first insertion adds it.
        lacks_end = self.text[place - 1 : place] not in ("", "\n")
        if lacks_end and not any(each.start == place == each.end for each in self.edits):
            lines = f"\n{lines}"
        self.replace(place, place, lines)

    def pairs(self) -> Iterator[Pair]:
        for section in self.sections:
            yield from section.pairs

    def line_start(self, place: int) -> int:
        return self.text.rfind("\n", 0, place) + 1

    def line_end(self, place: int) -> int:
        """Return the offset after the line, its comment and its line end."""
        return self.text.find("\n", place) + 1 or len(self.text)

    def attached(self, start: int) -> int:
        """Return the start of the comments directly above a line."""
        # The last line of a multi-line string may look like a comment: do not go above a value.
        before = [self.line_end(each.end) for each in self.pairs() if each.end <= start]
        while start > max(before, default=0):
            above = self.line_start(start - 1)
            if not self.text[above:start].lstrip().startswith("#"):
                break
            start = above
        return start


def _in_order(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: fields[key] for key in FUNCTION_FIELDS if key in fields}


def _block(name: str, fields: Mapping[str, Any]) -> Iterator[str]:
    yield f"[functions.{_value(name)}]\n"
    for key, value in _in_order(fields).items():
        yield f"{key} = {_value(value)}\n"


def _value(value: Any) -> str:
    import tomlkit

    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, str) and "\n" in value:
        text = tomlkit.string(f"{value}\n", multiline=True).as_string()
        return text.replace('"""', '"""\n', 1)
    return str(tomlkit.item(value).as_string())


def _inline(fields: Mapping[str, Any]) -> str:
    import tomlkit

    table = tomlkit.inline_table()
    table.update(fields)
    return str(table.as_string())
