"""Find files of a package without importing the package."""

from __future__ import annotations

import os
import sys
from stat import S_ISREG
from time import time_ns

from .limits import MOST_BYTES, check_keys, check_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any

# In nanoseconds: the coarsest resolution of modification times, that of FAT file systems.
_SETTLED = 2_000_000_000


class File:
    """A file of a package, perhaps inside a zip file.

    Parameters
    ----------
    path : str
        Its path; inside a zip file, the archive's path is part of it.
    status : os.stat_result or None
        Its status; None inside a zip file.
    content : bytes, optional
        Its content, if it has been read already.

    Attributes
    ----------
    is_settled : bool
        Whether it was read so long after its last change that any later change will show in
        its status. A change within the same tick of the file system's clock may not.
    """

    __slots__ = ("_content", "is_settled", "path", "status")

    def __init__(
        self, path: str, status: os.stat_result | None, content: bytes | None = None
    ) -> None:
        self.path = path
        self.status = status
        self.is_settled = False
        self._content = content

    def read(self) -> bytes:
        """Return the content, and set `status` to the status of the file that was read.

        Raises
        ------
        LimitError
            If the file is too large.
        """
        if self._content is not None:
            check_size(self._content)
            return self._content
        with open(self.path, "rb") as stream:
            self.status = os.fstat(stream.fileno())
            self.is_settled = time_ns() - self.status.st_mtime_ns > _SETTLED
            # A buffer of the largest size would take longer than reading most files.
            size = min(self.status.st_size, MOST_BYTES) + 1
            content = stream.read(size)
            if len(content) == size:  # the file grows, or is a device
                content += stream.read(MOST_BYTES + 1 - size)
        check_size(content)
        return content


def find_file(module: str, name: str, distribution: Any) -> tuple[str, File | None]:
    """Find a file next to a package's modules without importing the package.

    Parameters
    ----------
    module : str
        The package; if it is a module, the file is next to it.
    name : str
        The file's name.
    distribution : importlib.metadata.Distribution or None
        The distribution that should contain the file.

    Returns
    -------
    path : str
        The file's path, or the folders that were searched.
    file : File or None
        The file; None if there is none.
    """
    # Usually the file is installed next to the metadata: one call of `stat` finds it.
    if distribution is not None:
        path = str(distribution.locate_file("/".join([*module.split("."), name])))
        file = _plain_file(path)
        if file is not None:
            return path, file
    # Imported here, because most processes do not need it.
    from pkgutil import get_importer

    folders = package_folders(module)
    for folder in folders:
        path = os.path.join(folder, name)
        file = _plain_file(path)
        if file is not None:
            return path, file
        importer: Any = get_importer(folder)
        if hasattr(importer, "get_data"):  # inside a zip file
            try:
                return path, File(path, None, _archived(importer, path))
            except (OSError, KeyError):
                pass
    return ", ".join(folders), None


def _archived(importer: Any, path: str) -> bytes:
    """Return a file of an archive, cut off beyond the size that `File.read` accepts.

    Raises
    ------
    OSError, KeyError
        If there is no such file.
    """
    from zipimport import zipimporter

    if not isinstance(importer, zipimporter):
        content: bytes = importer.get_data(path)
        return content
    # A zip file of a few megabytes may hold gigabytes, all of which `get_data` would return.
    from zipfile import ZipFile

    name = os.path.relpath(path, importer.archive).replace(os.sep, "/")
    with ZipFile(importer.archive) as archive, archive.open(name) as stream:
        return stream.read(MOST_BYTES + 1)


def _plain_file(path: str) -> File | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return File(path, status) if S_ISREG(status.st_mode) else None


def package_folders(module: str) -> list[str]:
    """Return the folders of a package; none if there is no such package.

    The specs of the package and its parents are found one by one, because
    `importlib.util.find_spec` would import the parents.
    """
    search: list[str] | None = None
    name = ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = _find_spec(name, search)
        if spec is None:
            return []
        if spec.submodule_search_locations is None:
            return [os.path.dirname(spec.origin)] if spec.origin else []
        search = list(spec.submodule_search_locations)
    return search or []


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

    Raises
    ------
    ValueError, RecursionError
        If it is not TOML, not UTF-8, or nested too deeply; `LimitError` if it is too large or
        has a key of too many parts.
    """
    check_size(content)
    text = content.decode()
    if text.startswith("\ufeff"):
        raise ValueError("it starts with a byte order mark (at line 1, column 1)")
    check_keys(text)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    fields: dict[str, Any] = tomllib.loads(text)
    return fields
