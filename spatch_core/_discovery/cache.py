"""The cache of parsed descriptions: one file for each Python environment and group.

Reading TOML takes Python far longer than anything else that discovery does. A description
without any fault is therefore kept in the user's cache folder, and found again by the path,
the size and the modification time of its file. The cache is a shortcut and nothing else:
whatever is wrong with it, the descriptions are parsed.

The file has a checksum in its first line and JSON in the others: in the second what discovery
needs of each description, in those that follow, one for each, how the functions are
implemented, which is read when somebody asks. JSON, because it cannot execute, whoever wrote
it, and because nothing is gained by anything else: for 100 descriptions of 100 functions, on
CPython 3.12, it takes 0.6 ms to read the second line and 0.55 ms to read as much with
`marshal`, which may crash the interpreter or make code objects of what it is given. In one
piece it would be 4.2 and 3.4 ms, and 10,000 `Implementation` objects on top of it 10 ms.
"""

from __future__ import annotations

import os
import sys
from binascii import crc32
from types import MappingProxyType

from .. import __version__, _identifiers, _type_patterns
from .._description import fields, parsing
from .._description.description import AutoGeneration, Description, Implementation
from .._description.fields import FUNCTION_FIELDS
from .._description.files import parse_toml
from .._description.parsing import parse_description
from .._type_patterns import TypePattern
from .private_files import read_private, user_folder, write_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
    from typing import Any, TypeAlias

    from .._description.files import File
    from .._problems import Source

    # Version of a file, fields of its description, identifiers of its
    # functions; and the line that says how these are implemented.
    Entry: TypeAlias = tuple[list[Any], bytes]

_KINDS: dict[str, tuple[type, ...]] = {
    "function": (str,),
    "should_run": (str, type(None)),
    "uses_context": (bool,),
    "additional_docs": (str,),
}
VARIABLE = "SPATCH_CORE_CACHE"
_OFF = ("off", "0", "no", "false")
# What comes of reading what nobody wrote. An `IdentifierError` is a `ValueError`.
_MALFORMED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
_FOLDER = "spatch-core"
_FORMAT = 2


def open_cache(group: str, variables: Mapping[str, str]) -> DescriptionCache | None:
    """Return the cache of a group of entry points in this environment.

    Nothing is read before it is needed.

    Parameters
    ----------
    group : str
        The library's group.
    variables : mapping of str to str
        Usually `os.environ`.

    Returns
    -------
    DescriptionCache or None
        None if it is turned off, or if nobody knows where it would be.
    """
    if variables.get(VARIABLE, "").strip().lower() in _OFF:
        return None
    folder = user_folder(variables, sys.platform)
    return None if folder is None else DescriptionCache(os.path.join(folder, _FOLDER), group)


class DescriptionCache:
    """The parsed descriptions of one group, as earlier processes left them.

    Parameters
    ----------
    folder : str
        Where its file is, beside those of other groups and environments.
    group : str
        The group.
    """

    def __init__(self, folder: str, group: str) -> None:
        python = sys.implementation.name, sys.hexversion, sys.prefix
        key = repr((_FORMAT, __version__, *python, group))
        name = "".join(each if each.isascii() and each.isalnum() else "_" for each in group)
        self.file = os.path.join(folder, f"{name[:64]}-{crc32(key.encode()):08x}")
        # In a checkout, what is a fault may change without a new version.
        rules = (
            *(module.__file__ for module in (fields, parsing, _identifiers, _type_patterns)),
            __file__,
        )
        self._key = [key, *map(_stamp, rules)]
        self._entries: dict[str, Entry] | None = None
        self._new: dict[str, Entry] = {}

    def find(self, file: File, name: str, source: Source) -> Description | None:
        """Return what parsing a file would return, if that is known.

        Parameters
        ----------
        file : File
            The backend's file.
        name : str
            The name of its entry point.
        source : Source
            Where the description comes from.
        """
        if self._entries is None:
            self._entries = self._read()
        entry = self._entries.get(os.path.abspath(file.path))
        try:
            if entry is None or not _is_of(entry, file.status) or not os.access(file.path, os.R_OK):
                return None
            description = _restore(entry, source, file.read)
        except _MALFORMED:
            return None
        return description if description.name == name else None

    def keep(self, file: File, description: Description) -> None:
        """Remember what was parsed, unless the file may change without showing it."""
        if file.status is not None and file.is_settled:
            self._new[os.path.abspath(file.path)] = _entry(file.status, description)

    def save(self) -> None:
        """Write what is new, beside what is kept already; if that fails, nobody is the worse."""
        if not self._new:
            return
        # Read again: another process may have added to it.
        try:
            entries = {
                path: entry
                for path, entry in self._read().items()
                if path not in self._new and _is_of(entry, _status(path))
            }
        except _MALFORMED:
            entries = {}
        write_private(self.file, self._dump({**entries, **self._new}))

    def _read(self) -> dict[str, Entry]:
        """Return what the file has; nothing if there is anything wrong with it."""
        import json

        content = read_private(self.file)
        if content is None:
            return {}
        try:
            checksum, head, *functions = content.split(b"\n")
            if int(checksum, 16) != crc32(memoryview(content)[len(checksum) + 1 :]):
                return {}
            known = json.loads(head)
            if known["key"] != self._key:
                return {}
            files: dict[str, list[Any]] = known["files"]
            pairs = zip(files.values(), functions, strict=True)
            return dict(zip(files, pairs, strict=True))
        except _MALFORMED:
            return {}

    def _dump(self, entries: Mapping[str, Entry]) -> bytes:
        files = {path: known for path, (known, _) in entries.items()}
        lines = [_json({"key": self._key, "files": files})]
        content = b"\n".join(lines + [functions for _, functions in entries.values()])
        return b"%08x\n%s" % (crc32(content), content)


def _json(value: object) -> bytes:
    import json

    return json.dumps(value, separators=(",", ":")).encode()


def _stamp(path: str | None) -> list[int]:
    """Return what changes with a file; nothing if it has no status of its own."""
    status = _status(path)
    return [] if status is None else _version(status)


def _version(status: os.stat_result) -> list[int]:
    """Return what changes with a file.

    The modification time alone would not do: many who install files set it, some all to the
    same. When the system last changed anything about a file, nobody can set.
    """
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _status(path: str | None) -> os.stat_result | None:
    try:
        return None if path is None else os.stat(path)
    except (OSError, ValueError):
        return None


def _is_of(entry: Entry, status: os.stat_result | None) -> bool:
    """Whether an entry was made from the file as it is now."""
    return status is not None and entry[0][0] == _version(status)


def _entry(status: os.stat_result, description: Description) -> Entry:
    """Return what is kept of a description: everything but where it comes from."""
    generation = description.auto_generation
    fields = [
        description.name,
        [str(each) for each in description.primary_types],
        [str(each) for each in description.secondary_types],
        description.requires_opt_in,
        description.higher_priority_than,
        description.lower_priority_than,
        None if generation is None else [generation.backend, generation.modules],
    ]
    functions = description.functions.values()
    columns = [[getattr(each, key) for each in functions] for key in FUNCTION_FIELDS]
    # All equal if those but the first are those but the last.
    columns = [each[:1] if each[1:] == each[:-1] else each for each in columns]
    known = [_version(status), fields, list(description.functions)]
    return known, _json(columns)


def _restore(entry: Entry, source: Source, read: Callable[[], bytes]) -> Description:
    """Return the description that an entry was made from.

    Raises
    ------
    ValueError, TypeError
        If nothing of the kind was kept.
    """
    (_, fields, identifiers), functions = entry
    name, primary, secondary, requires_opt_in, higher, lower, generation = fields
    if not (primary and type(name) is str and type(requires_opt_in) is bool):
        raise ValueError("not what was kept of a description")

    def parse() -> Mapping[str, Implementation]:
        return parse_description(parse_toml(read()), source, name).functions

    return Description(
        name,
        tuple(map(TypePattern, _strings(primary))),
        tuple(map(TypePattern, _strings(secondary))),
        requires_opt_in,
        _strings(higher),
        _strings(lower),
        MappingProxyType(_Functions(_strings(identifiers), functions, parse)),
        None if generation is None else _restore_generation(*generation),
        source,
    )


def _restore_generation(backend: Any, modules: Any) -> AutoGeneration:
    if type(backend) is not str:
        raise TypeError(f"not a string: {backend!r}")
    return AutoGeneration(backend, _strings(modules))


def _strings(values: Any) -> tuple[str, ...]:
    """Return the strings of a list, which has nothing else."""
    if type(values) is not list or not all(type(each) is str for each in values):
        raise TypeError(f"not a list of strings: {values!r}")
    return tuple(values)


class _Functions:
    """What a read-only mapping of functions stands for; makes what it is asked for.

    Nobody else ever sees it, so that it need only be able to do what a dictionary can that
    stands behind a `MappingProxyType`.

    Parameters
    ----------
    identifiers : list of str
        The keys.
    columns : bytes
        For each field of an `Implementation` its values in JSON, or the one of all of them.
    parse : callable
        Returns the functions from the backend's file, should there be anything wrong with
        `columns`.
    """

    __slots__ = ("_columns", "_made", "_parse", "_positions", "_text")

    def __init__(
        self,
        identifiers: tuple[str, ...],
        columns: bytes,
        parse: Callable[[], Mapping[str, Implementation]],
    ) -> None:
        self._positions = dict(zip(identifiers, range(len(identifiers)), strict=True))
        self._text = columns
        self._parse = parse
        self._columns: list[list[Any]] | None = None
        self._made: dict[str, Implementation] = {}

    def __getitem__(self, identifier: str) -> Implementation:
        found = self._made.get(identifier)
        if found is None:
            position = self._positions[identifier]
            try:
                found = self._restore(position)
            except _MALFORMED:
                found = self._parse()[identifier]
            # Whichever thread is first: the same key has the same value, always.
            found = self._made.setdefault(identifier, found)
        return found

    def _restore(self, position: int) -> Implementation:
        columns = self._columns
        if columns is None:
            from json import loads

            columns = self._columns = loads(self._text)
        values: dict[str, Any] = {
            key: column[position] if len(column) > 1 else column[0]
            for key, column in zip(FUNCTION_FIELDS, columns, strict=True)
        }
        for key, kinds in _KINDS.items():
            if type(values[key]) not in kinds:
                raise TypeError(f"{key} cannot be {values[key]!r}")
        return Implementation(**values)

    def copy(self) -> dict[str, Implementation]:
        return {identifier: self[identifier] for identifier in self._positions}

    def get(self, identifier: str, default: Any = None) -> Any:
        return self[identifier] if identifier in self._positions else default

    def keys(self) -> KeysView[str]:
        return self._positions.keys()

    def values(self) -> ValuesView[Implementation]:
        return self.copy().values()

    def items(self) -> ItemsView[str, Implementation]:
        return self.copy().items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._positions)

    def __len__(self) -> int:
        return len(self._positions)

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._positions

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    __hash__ = None  # type: ignore[assignment]  # as that of a dictionary

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __repr__(self) -> str:
        return repr(self.copy())
