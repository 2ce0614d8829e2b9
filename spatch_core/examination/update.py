"""Writes the functions that a backend's code registers into its file. Needs tomlkit.

What the code registers comes first, then variants by name, then how the text is edited.
"""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from .._description import FUNCTION_FIELDS, NO_FUNCTIONS, VARIANTS, Finding
from .backend_file import BackendFile, find_layout, read_file
from .checks import DescriptionCheck, moved_functions
from .findings import Report, error, key_path, note
from .importing import Role

if TYPE_CHECKING:
    from tomlkit.items import Item

    from .child import Journal
    from .findings import KeyPath
    from .importing import Importer


_TABLE = "functions.auto-generation"


@dataclass(frozen=True, slots=True)
class FileUpdate(Report):
    """The result of updating a file.

    Parameters
    ----------
    subject : str
        The path of the file as the user gave it.
    findings : tuple of Finding
        The faults that prevent the update; without any, what could not be checked here.
    before, text : str
        The old content and the new content.
    added, changed, removed : tuple of str
        The identifiers of functions.
    unregistered : tuple of str
        The identifiers of functions that stay, although the code does not register them.
    written : bool
        Whether the file was written.
    """

    before: str = field(repr=False)
    text: str = field(repr=False)
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unregistered: tuple[str, ...] = ()
    written: bool = False

    @property
    def is_current(self) -> bool:
        """Whether the file needs no update."""
        return self.ok and self.text == self.before

    @property
    def diff(self) -> str:
        """The unified diff; empty if there is no difference."""
        before, after = self.before.splitlines(), self.text.splitlines()
        lines = unified_diff(before, after, self.subject, self.subject, lineterm="")
        return "".join(f"{line}\n" for line in lines)


def update_file(
    path: str | os.PathLike[str],
    check: bool = False,
    prune: bool = False,
    *,
    timeout: float = 60.0,
) -> FileUpdate:
    r"""Write the functions that a backend's code registers into its file.

    Parameters
    ----------
    path : str or os.PathLike
        An existing TOML file with a table ``functions.auto-generation``.
    check : bool, optional
        Whether to write nothing.
    prune : bool, optional
        Whether to remove functions that the code does not register.
    timeout : float, optional
        Time limit of each child process in seconds.

    Returns
    -------
    FileUpdate
        The changes, or the faults that prevent them.

    Raises
    ------
    ModuleNotFoundError
        If functions must be written, and tomlkit is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = f"{folder}/backend.toml"
    ...     with open(file, "w") as stream:
    ...         _ = stream.write('name = "oil"\nprimary_types = ["array:array"]\n')
    ...     [each.key for each in update_file(file).findings]
    ['functions.auto-generation']
    """
    file = read_file(os.fspath(path))
    registered, notes = _registered(file, prune, timeout)
    update = FileUpdate(file.path, (), file.text, file.text)
    if registered is not None:
        update = _changed(update, file, registered, prune)
    if update.unregistered:
        is_complete = not any(str(each.key).startswith(_TABLE) for each in notes)
        notes.append(_staying(file, update.unregistered, is_complete))
    is_written = False
    if not (file.faults or check) and update.text != file.text:
        is_written = _write(file, update.text)  # may add a fault
    return replace(update, findings=tuple(file.faults or notes), written=is_written)


def _functions(file: BackendFile) -> dict[str, Any]:
    found = file.fields.get("functions")
    return found if isinstance(found, dict) else {}


def _staying(file: BackendFile, names: tuple[str, ...], is_complete: bool) -> Finding:
    code = "the code" if is_complete else "the modules that can be imported here"
    verb = "does" if is_complete else "do"
    message = f"{code} {verb} not register functions, which stay: {', '.join(names)}"
    remedy = "Register them, remove them with --prune, or keep them up to date by hand"
    if not is_complete:
        remedy = "Update the file where all modules can be imported, or edit it by hand"
    return file.placed(note(message, remedy)._replace(key=key_path(("functions", names[0]))))


def _registered(
    file: BackendFile, prune: bool, timeout: float
) -> tuple[dict[str, dict[str, Any]] | None, list[Finding]]:
    """Return the registered functions, and findings about what could not be checked here.

    If that is not possible, add faults and return None instead of the functions.
    """
    table = _functions(file).get("auto-generation")
    # Faults of functions are dropped, because the update may repair them.
    file.faults[:] = [
        each
        for each in file.faults
        if each.key is None or each.key in ("name", "functions") or each.key.startswith(_TABLE)
    ]
    if not (file.faults or table):
        file.fault(
            _TABLE,
            "there is no such table, or it is empty",
            "Name the BackendImplementation in it: backend = 'module:qualname'",
        )
    if file.faults:
        return None, []
    result, found = file.import_with(f"{__name__}:read_registered", timeout, prune=prune)
    file.faults += [each for each in found if not each.is_unchecked]
    functions: dict[str, dict[str, Any]] | None = result.last("functions")
    if not (found or functions) and _functions(file).keys() - NO_FUNCTIONS:
        file.fault(
            _TABLE,
            "importing its modules registered no function, but the file has some",
            "Name the modules that register them: modules = ['package.module']; or remove the "
            "functions by hand",
        )
    return None if file.faults else functions, [each for each in found if each.is_unchecked]


def _changed(
    update: FileUpdate, file: BackendFile, registered: Mapping[str, dict[str, Any]], prune: bool
) -> FileUpdate:
    """Return the update with its changes; if the text cannot be changed, add faults."""
    present = {key: each for key, each in _functions(file).items() if key not in NO_FUNCTIONS}
    # The text of functions that are not in the table stays as it is.
    table = {key: value for key, value in present.items() if prune or key in registered}
    defaults = _functions(file).get("defaults", {})
    wanted = {
        name: _wanted(fields, _by_hand(table.get(name)), defaults)
        for name, fields in registered.items()
    }
    update = replace(
        update,
        added=tuple(sorted(wanted.keys() - table)),
        removed=tuple(sorted(table.keys() - wanted)),
        unregistered=tuple(sorted(present.keys() - table)),
    )
    text = edit_functions(file.text, table, wanted)
    after = read_file(file.path, text)
    now = _functions(after)
    others = {*NO_FUNCTIONS, *update.unregistered}
    is_as_wanted = now.keys() - others == wanted.keys() and all(
        _same(now[name].get(key), fields.get(key))
        for name, fields in wanted.items()
        for key in FUNCTION_FIELDS
    )
    if not is_as_wanted:
        remedy = 'Write [functions], and for each function a table: [functions."library:name"]'
        file.fault("functions", "its text cannot be changed safely", remedy)
        return update
    # Not an unknown key, which stays.
    file.faults += [each for each in after.faults if each.skips]
    changed = sorted(name for name in table if name in now and now[name] != table[name])
    return replace(update, changed=tuple(changed), text=file.text if file.faults else text)


def _wanted(
    registered: Mapping[str, Any], present: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields that the file must have for a function."""
    fields = dict(registered)
    docs = present.get("additional_docs")
    if "additional_docs" not in fields or _same(docs, fields["additional_docs"]):
        fields["additional_docs"] = docs
    if not fields.get(VARIANTS):
        fields[VARIANTS] = present.get(VARIANTS)
    if not fields["uses_context"] and not defaults.get("uses_context"):
        fields["uses_context"] = False if present.get("uses_context") is False else None
    return {
        key: value
        for key, value in fields.items()
        if value is not None and not (key in defaults and _same(value, defaults[key]))
    }


def _by_hand(present: Any) -> dict[str, Any]:
    """Return the fields of a function in the file, without variants that an update has written."""
    fields = dict(present) if isinstance(present, dict) else {}
    variants = fields.get(VARIANTS)
    if isinstance(variants, list):
        fields[VARIANTS] = [
            each
            for each in variants
            if not (isinstance(each, dict) and _NAME.search(str(each.get("function"))))
        ]
    return {key: value for key, value in fields.items() if value != []}


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal, apart from white space in a text."""
    if isinstance(one, str) and isinstance(other, str):
        return one.split() == other.split()
    return bool(one == other)


def _write(file: BackendFile, text: str) -> bool:
    """Write new content in place, so that owner, permissions and links stay; whether it worked."""
    try:
        with open(file.path, "r+b") as stream:
            if stream.read() != file.text.encode():
                message = "it was changed during the update and is left as it is"
                file.fault(None, message, "Update it again")
                return False
            stream.seek(0)
            stream.write(text.encode())
            stream.truncate()
    except OSError as raised:
        remedy = "Make the file writable, or free some space on its disk"
        file.fault(None, f"it cannot be written: {raised}", remedy)
        return False
    return True


# --- What the code registers ----------------------------------------------------------------------


def read_registered(request: dict[str, Any], journal: Journal) -> None:
    """Add the ``functions`` registered with the `BackendImplementation`, and each ``finding``.

    Called in a child. Without ``functions``, the findings say why there are none. If the request
    says ``prune``, all submodules are needed: the functions of one that cannot be imported here
    would be lost.
    """
    file = read_file(request["file"], request["text"])
    importer = file.importer()
    wanted = [each for each in file.mentions() if each.role in (Role.MODULE, Role.BACKEND)]
    name = file.fields.get("name")
    check = DescriptionCheck(wanted, importer, journal, name=name, groups=file.groups)
    check.is_needed = True  # an update always needs the backend's code
    check.needs_submodules = request["prune"]
    findings = [*check.findings()]
    if all(each.is_unchecked for each in findings) and journal.begins("reading what is registered"):
        backend = importer.load(wanted[-1].text, is_needed=True)
        table = file.fields.get("functions", {}).get("auto-generation", {})
        distribution = str(table.get("variants_of") or "")
        functions = {
            key: {**_fields(each), **found_variants(each.identifier, distribution)}
            for key, each in backend.functions.items()
        }
        journal.add("functions", functions)
        findings += _implementation_faults(backend, importer)
        findings += check.check_registered(backend.functions)
        if not request["prune"]:
            findings += moved_functions(file.mentions(), backend.functions).values()
    journal.found(findings)


def _fields(registered: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"function": registered.identifier}
    if registered.should_run is not None:
        fields["should_run"] = registered.should_run
    fields["uses_context"] = registered.uses_context
    docs = _first_paragraph(registered.function)
    return {**fields, "additional_docs": docs} if docs else fields


def _first_paragraph(function: Any) -> str:
    docs = getattr(function, "__doc__", None)
    copied = getattr(getattr(function, "__wrapped__", None), "__doc__", None)
    # A docstring that functools.wraps copied does not describe this implementation.
    if not isinstance(docs, str) or docs == copied:
        return ""
    lines = cleandoc(docs).partition("\n\n")[0].splitlines()
    return "\n".join(line.rstrip() for line in lines).strip()


def _implementation_faults(backend: Any, importer: Importer) -> Iterator[Finding]:
    """Yield faults of the identifiers of registered implementations."""
    remedy = "Register a function that its module has under its own name"
    for identifier, each in backend.functions.items():
        key = key_path(("functions", identifier))
        found = importer.load(each.identifier, is_needed=True)
        # Compare with ==, too: each access to a bound method creates a new object.
        if isinstance(found, Finding):
            yield found._replace(key=key, remedy=remedy)
        elif found is not each.function and found != each.function:
            message = f"{each.identifier!r} does not lead to the registered function"
            yield error(message, remedy)._replace(key=key)
        elif each.should_run is not None:
            asked = importer.load(each.should_run, is_needed=True)
            if isinstance(asked, Finding):
                yield asked._replace(key=key)


# --- Variants by name -----------------------------------------------------------------------------

# The convention of Ivy: functions with the versions of a distribution in their names. A ``p``
# stands for a point in a version, and ranges include both ends: ``f_v_1p12_and_above``,
# ``f_v_1p9p0_to_1p11p1``, ``f_v_1p8_and_below``.
_VERSION = r"\d+(?:p\d+)*"
_NAME = re.compile(
    rf"(?P<function>.+)_v_(?P<first>{_VERSION})"
    rf"(?:_and_(?P<end>above|below)|_to_(?P<last>{_VERSION}))"
)


def found_variants(identifier: str, distribution: str) -> dict[str, Any]:
    """Return the field ``variants`` of an implementation, from the names in its imported module.

    The most specific variant comes first, because the first one whose requirement is met is used:
    ranges before open ends, and of two open ends the one that fewer versions meet. Without
    variants, or without a distribution, the dictionary is empty.
    """
    module, _, qualname = identifier.partition(":")
    names = vars(sys.modules[module]) if distribution else {}
    matches = filter(None, map(_NAME.fullmatch, names))
    found = [each for each in matches if each["function"] == qualname and callable(names[each[0]])]
    found.sort(key=_specificity, reverse=True)
    variants = [
        {"requires": f"{distribution}{_range(each)}", "function": f"{module}:{each[0]}"}
        for each in found
    ]
    return {"variants": variants} if variants else {}


def _range(name: re.Match[str]) -> str:
    first = name["first"].replace("p", ".")
    if name["last"]:
        return f">={first},<={name['last'].replace('p', '.')}"
    return f"{'>=' if name['end'] == 'above' else '<='}{first}"


def _specificity(name: re.Match[str]) -> tuple[Any, ...]:
    """Return a sort key that is greatest for the most specific variant."""
    sign = -1 if name["end"] == "below" else 1
    version = [sign * int(part) for part in name["first"].split("p")]
    return bool(name["last"]), name["end"] == "above", version


# --- The text of the file ------------------------------------------------------------------------


@dataclass(slots=True)
class _Block:
    """The lines of a table; the first block is what stands before all headers."""

    path: KeyPath
    above: list[str]  # empty lines and comments above the header
    body: list[str]  # from the header to the last value

    def split(self) -> tuple[list[str], list[str]]:
        """Return the lines above, and of these the comments directly above the header."""
        place = len(self.above)
        while place and self.above[place - 1].lstrip().startswith("#"):
            place -= 1
        return self.above[:place], self.above[place:]


def edit_functions(
    text: str, present: Mapping[str, Any], wanted: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the text of a file, valid TOML, with the wanted functions; the rest stays as it is.

    The text is cut at the headers of its tables. tomlkit edits those that change. Unknown fields of
    `present` functions stay. Nothing is added to a table of functions on one line: the result is
    not valid then.
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
            _add(blocks, name, wanted[name])
    return "\n".join(line for block in blocks for line in (*block.above, *block.body))


def _cut(text: str) -> list[_Block]:
    """Return the blocks of a text; the last one has only the lines below all values."""
    lines, layout = text.split("\n"), find_layout(text)
    ends = [*(each.before for each in layout.headers), layout.end]
    blocks = [_Block((), [], lines[: ends[0]])]
    for header, end in zip(layout.headers, ends[1:], strict=True):
        above, body = lines[header.before : header.line - 1], lines[header.line - 1 : end]
        blocks.append(_Block(header.path, above, body))
    return [*blocks, _Block((), lines[layout.end :], [])]


def _add(blocks: list[_Block], name: str, fields: Mapping[str, Any]) -> None:
    """Add a table behind the one that precedes it by name, or before all others."""
    import tomlkit

    written = [
        f"{key} = {_item(fields[key]).as_string()}" for key in FUNCTION_FIELDS if key in fields
    ]
    header = f"[functions.{tomlkit.item(name).as_string()}]"
    new = _Block(("functions", name), [""], "\n".join([header, *written]).split("\n"))
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
        place = min(first.values())
        new.above, own = blocks[place].split()
        blocks[place].above = ["", *own]
    else:
        place = 1 + (last[names[position - 1]] if names else len(blocks) - 2)
    blocks.insert(place, new)
    blocks[-1].above = blocks[-1].above or [""]  # the file may end without a newline


def _remove(blocks: list[_Block], name: str, *key: str) -> None:
    """Remove the tables of a function, or of one of its fields, with the comments above them."""
    path = ("functions", name, *key)
    if not key:
        for functions in _edit(blocks, name):
            del functions[name]
    for place in reversed(range(1, len(blocks))):
        if blocks[place].path[: len(path)] == path:
            others, _ = blocks.pop(place).split()
            while others and not others[-1].strip():
                others.pop()
            blocks[place].above[:0] = others


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

    for block in blocks:
        if block.path not in ((), ("functions",), ("functions", name)):
            continue
        document = tomlkit.parse("\n".join(block.body))
        functions: Any = document.get("functions", {})
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
