"""The cache of parsed descriptions: one file for each Python environment and group.

Parsing TOML takes longer than everything else in discovery. A description without problems is
therefore kept in the user's cache folder, with the path and the version of its file. The
cache is only a shortcut: if anything about it is wrong, the descriptions are parsed as if it
did not exist.

The format of the file::

    spatch-core cache <checksum of all that follows>
    {"key": [<versions>], "files": {<path>: [<version>, <fields>, <functions>], ...}}
    <implementations of the functions of the first path>
    <implementations of the functions of the second path>
    ...

All lines but the first are JSON. The second line is read at discovery; the others, one for
each path, when a function of that description is looked up. For 100 descriptions of 100
functions, on CPython 3.12, reading the second line takes 0.6 ms. Reading all lines would take
4.2 ms, and making 10,000 `Implementation` objects another 10 ms.

JSON, because reading it executes nothing, even if the file is forged. `marshal` would take
nearly as long (0.55 ms instead of 0.6 ms), and forged data can crash the interpreter.
"""

from __future__ import annotations

import os
import sys
from binascii import crc32

from .. import __version__, _identifiers, _type_patterns
from .._description import field_reader, fields, parsing
from . import cache_entries, lazy_functions
from .cache_entries import is_entry_of, make_entry, restore, to_json, version_of
from .lazy_functions import MALFORMED, LazyFunctions
from .private_files import read_private, user_folder, write_private
from .private_folder import SUFFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .._description.description import Description
    from .._description.files import File
    from .._reporting.problems import Source
    from .cache_entries import Entry

VARIABLE = "SPATCH_CORE_CACHE"
_OFF = ("off", "0", "no", "false")
_FOLDER = "spatch-core"
_FORMAT = 4


def open_cache(group: str, variables: Mapping[str, str]) -> DescriptionCache | None:
    """Return the cache of a group of entry points in this environment.

    The file is read when a description is first looked up.

    Parameters
    ----------
    group : str
        The library's group.
    variables : mapping of str to str
        Usually `os.environ`.

    Returns
    -------
    DescriptionCache or None
        None if it is turned off, or if the user's cache folder is unknown.
    """
    if variables.get(VARIABLE, "").strip().lower() in _OFF:
        return None
    folder = user_folder(variables, sys.platform)
    return None if folder is None else DescriptionCache(os.path.join(folder, _FOLDER), group)


class DescriptionCache:
    """The parsed descriptions of one group, from earlier processes.

    Parameters
    ----------
    folder : str
        The folder of its file, which files of other groups and environments share.
    group : str
        The group.

    Attributes
    ----------
    docs : dict of str to LazyFunctions
        The functions of each backend that was found; their ``additional_docs`` can be read
        without making an `Implementation`.
    """

    def __init__(self, folder: str, group: str) -> None:
        python = sys.implementation.name, sys.hexversion, sys.prefix
        key = repr((_FORMAT, __version__, *python, group))
        name = "".join(each if each.isascii() and each.isalnum() else "_" for each in group)
        self.file = os.path.join(folder, f"{name[:64]}-{crc32(key.encode()):08x}{SUFFIX}")
        # In a checkout, the validator may change without a new version of the package.
        rules = (
            *(fields, parsing, field_reader, _identifiers, _type_patterns),
            *(cache_entries, lazy_functions),
        )
        self._key = [key, _stamp(__file__), *(_stamp(module.__file__) for module in rules)]
        self.docs: dict[str, LazyFunctions] = {}
        self._entries: dict[str, Entry] | None = None
        self._new: dict[str, Entry] = {}

    def find(self, file: File, name: str, source: Source) -> Description | None:
        """Return the description in a file if the cache has it, else None.

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
            # Parsing would report a file without read permission, so the cache must not hide it.
            if (
                entry is None
                or not is_entry_of(entry, file.status)
                or not os.access(file.path, os.R_OK)
            ):
                return None
            description, functions = restore(entry, source, file.read)
        except MALFORMED:
            return None
        if description.name != name:
            return None
        self.docs[name] = functions
        return description

    def keep(self, file: File, description: Description) -> None:
        """Remember a parsed description, unless its file may change unnoticed (`is_settled`)."""
        if file.status is not None and file.is_settled:
            self._new[os.path.abspath(file.path)] = make_entry(file.status, description)

    def save(self) -> None:
        """Write the new entries and the valid old ones; failing to write is harmless."""
        if not self._new:
            return
        # Read again, because another process may have written meanwhile. Processes that write at
        # the same moment may lose entries, but never mix them: the file is replaced atomically.
        try:
            kept = {
                path: entry
                for path, entry in self._read().items()
                if path not in self._new and is_entry_of(entry, _status(path))
            }
        except MALFORMED:
            kept = {}
        write_private(self.file, self._dump({**kept, **self._new}))

    def _read(self) -> dict[str, Entry]:
        """Return the entries of the file; none if anything is wrong with it."""
        import json

        content = read_private(self.file)
        if content is None:
            return {}
        try:
            checksum, head, *functions = content.split(b"\n")
            # The lines of functions are parsed later, so damage must be detected here.
            if int(checksum, 16) != crc32(memoryview(content)[len(checksum) + 1 :]):
                return {}
            known = json.loads(head)
            if known["key"] != self._key:
                return {}
            files: dict[str, list[Any]] = known["files"]
            pairs = zip(files.values(), functions, strict=True)
            return dict(zip(files, pairs, strict=True))
        except MALFORMED:
            return {}

    def _dump(self, kept: Mapping[str, Entry]) -> bytes:
        files = {path: known for path, (known, _) in kept.items()}
        lines = [to_json({"key": self._key, "files": files})]
        content = b"\n".join(lines + [functions for _, functions in kept.values()])
        return b"%08x\n%s" % (crc32(content), content)


def _stamp(path: str | None) -> list[int]:
    """Return the version of a file; empty if it has no status, as inside a zip file."""
    status = _status(path)
    return [] if status is None else version_of(status)


def _status(path: str | None) -> os.stat_result | None:
    try:
        return None if path is None else os.stat(path)
    except (OSError, ValueError):
        return None
