"""Find files of a package without importing the package, and read TOML within limits.

A parser for TOML takes memory that grows with the square of the number of parts of a key: 40 kB
of ``a.a.a...`` take 1.5 GB. Without long keys it takes some hundred bytes for each byte of text.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any

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


def read_content(path: str) -> bytes:
    """Return the content of a file, cut off beyond the size that `parse_toml` accepts."""
    with open(path, "rb") as stream:
        # A buffer of the largest size would take longer than reading most files.
        size = min(os.fstat(stream.fileno()).st_size, MOST_BYTES) + 1
        content = stream.read(size)
        if len(content) == size:  # the file grows, or is a device
            content += stream.read(MOST_BYTES + 1 - size)
    return content


def find_file(module: str, name: str, distribution: Any) -> tuple[str, bytes | None]:
    """Read a file next to the modules of the package that an import would find; imports nothing.

    Returns its path and its content, cut off beyond the size that `parse_toml` accepts; without a
    file, the folders that were searched and None. `distribution` offers the file, if it is known.
    Raises `OSError` if the file cannot be read; finders and loaders may raise anything.
    """
    found = _Package()
    for part in module.split("."):
        if not found.find_submodule(part):
            # An import finds no such package either, unless it was installed a moment ago.
            if distribution is None:
                return "", None
            path = str(distribution.locate_file("/".join([*module.split("."), name])))
            return (path, read_content(path)) if os.path.isfile(path) else ("", None)
    for folder in found.folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path, read_content(path)
        content = _archived(folder, path)
        if content is not None:
            return path, content
    return found.resource(name) or (", ".join(found.folders), None)


class _Package:
    """A package, found part by part: `importlib.util.find_spec` would import its parents."""

    def __init__(self) -> None:
        self.folders: list[str] = []  # some loaders have none, and then these do not exist
        self._name = ""
        self._search: list[str] | None = None  # its path for imports
        # The innermost package with a loader that reads resources, and the path from there.
        self._reads: tuple[Any, str] | None = None
        self._path: list[str] = []

    def find_submodule(self, part: str) -> bool:
        """Become the submodule of this name; False if there is none."""
        if self._name and self._search is None:
            return False  # a module has no submodules
        self._name = f"{self._name}.{part}" if self._name else part
        module = sys.modules.get(self._name)
        if module is None:
            spec = _find_spec(self._name, self._search)
            if spec is None and self._search is not None:
                # A parent may extend its own path when it is imported, as those of `pkgutil` do.
                parents = self._name.split(".")[:-1]
                folders: list[Any] = sys.path  # it may hold anything
                texts = [each for each in folders if isinstance(each, str)]
                spec = _find_spec(self._name, [os.path.join(each, *parents) for each in texts])
            if spec is None:
                return False
            search, origin = spec.submodule_search_locations, spec.origin
        else:
            # The dictionary itself, because any other access imports a lazy module.
            known = object.__getattribute__(module, "__dict__")
            spec = known.get("__spec__")
            search, origin = known.get("__path__"), known.get("__file__")
        self._search = None if search is None else list(search)
        if self._search is not None:
            loader = spec and spec.loader
            self._path.append(part)
            if hasattr(loader, "get_resource_reader"):
                self._reads, self._path = (loader, self._name), []
        folder = os.path.dirname(origin or "")  # empty for modules without a file
        self.folders = self._search or ([folder] if folder else [])
        return True

    def resource(self, name: str) -> tuple[str, bytes] | None:
        """Return path and content of a file that the loader has; None without it."""
        if self._reads is None:
            return None
        loader, package = self._reads
        reader = loader.get_resource_reader(package)
        if not hasattr(reader, "files"):
            return None
        found = reader.files().joinpath(*self._path, name)
        if isinstance(found, os.PathLike):
            path = os.fspath(found)
            return (path, read_content(path)) if os.path.isfile(path) else None
        if not found.is_file():
            return None
        with found.open("rb") as stream:
            return "/".join([package, *self._path, name]), stream.read(MOST_BYTES + 1)


def _archived(folder: str, path: str) -> bytes | None:
    """Return the content of the file with this path if its folder is inside a zip file."""
    from pkgutil import get_importer  # most processes do not need it

    importer: Any = get_importer(folder)
    if not hasattr(importer, "get_data"):
        return None
    from zipimport import zipimporter

    try:
        if not isinstance(importer, zipimporter):
            content: bytes = importer.get_data(path)
            return content
        # A zip file of a few megabytes may hold gigabytes, all of which `get_data` would return.
        from zipfile import ZipFile

        name = os.path.relpath(path, importer.archive).replace(os.sep, "/")
        with ZipFile(importer.archive) as archive, archive.open(name) as stream:
            return stream.read(MOST_BYTES + 1)
    except (OSError, KeyError):
        return None


def _find_spec(name: str, search: list[str] | None) -> ModuleSpec | None:
    """Ask the finders for a module's spec; `search` has the folders of its parent."""
    from importlib.machinery import PathFinder

    for finder in sys.meta_path:
        if search is not None and finder is PathFinder:
            spec = _find_on_path(name, search)
        else:
            spec = finder.find_spec(name, search) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec
    return None


def _find_on_path(name: str, search: list[str]) -> ModuleSpec | None:
    """Find a module's spec in folders, as `PathFinder` does.

    `PathFinder` itself requires the parents of a namespace package to be imported.
    """
    from importlib.machinery import ModuleSpec
    from pkgutil import get_importer

    portions: list[str] = []
    for folder in search:
        importer = get_importer(folder)
        spec = None if importer is None else importer.find_spec(name)
        if spec is not None and spec.loader is not None:
            return spec
        if spec is not None:
            portions += spec.submodule_search_locations or []
    if not portions:
        return None
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = portions
    return spec


def parse_toml(content: bytes) -> dict[str, Any]:
    """Return the fields of a TOML file.

    Raises `ValueError` or `RecursionError` if it is not TOML, not UTF-8 or nested too deeply, and
    `LimitError` if it is too large or has a key of too many parts.
    """
    if len(content) > MOST_BYTES:  # readers stop one byte after the limit
        raise LimitError(f"it has more than {MOST_BYTES:,} bytes")
    text = content.decode()
    if text.startswith("\ufeff"):
        raise ValueError("it starts with a byte order mark (at line 1, column 1)")
    check_parts_of_keys(text)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    fields: dict[str, Any] = tomllib.loads(text)
    return fields


def check_parts_of_keys(text: str) -> None:
    r"""Raise `LimitError` if a key has too many parts.

    >>> check_parts_of_keys("a = 1\n" + "b." * 40 + "c = 1")
    Traceback (most recent call last):
        ...
    spatch_core._files.LimitError: a key has more than 32 parts (at line 2, column 1)
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
