"""Find files of a package without importing the package."""

from __future__ import annotations

import os
import sys
from stat import S_ISREG
from time import time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any

_SETTLED = 2_000_000_000  # nanoseconds; the coarsest clock of a file system ticks so often


class File:
    """A file of a package, perhaps inside a zip file.

    Parameters
    ----------
    path : str
        Where it is.
    status : os.stat_result or None
        What the system says of it; None inside a zip file.
    content : bytes, optional
        What is in it, if that had to be read already.

    Attributes
    ----------
    is_settled : bool
        Whether it was read, so long after its last change that any later one shows in its
        status.
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
        """Return the content; `status` is that of what is read."""
        if self._content is not None:
            return self._content
        with open(self.path, "rb") as stream:
            self.status = os.fstat(stream.fileno())
            self.is_settled = time_ns() - self.status.st_mtime_ns > _SETTLED
            return stream.read()


def find_file(module: str, name: str, distribution: Any) -> tuple[str, File | None]:
    """Find a file next to a package's modules without importing the package.

    Returns its path, or the folders that were searched, and the file or None.
    """
    if distribution is not None:
        path = str(distribution.locate_file("/".join([*module.split("."), name])))
        file = _plain_file(path)
        if file is not None:
            return path, file
    # Only where the metadata lies elsewhere, so that most processes do without it.
    from pkgutil import get_importer

    folders = _package_folders(module)
    for folder in folders:
        path = os.path.join(folder, name)
        file = _plain_file(path)
        if file is not None:
            return path, file
        importer: Any = get_importer(folder)
        if hasattr(importer, "get_data"):  # inside a zip file
            try:
                return path, File(path, None, importer.get_data(path))
            except OSError:
                continue
    return ", ".join(folders), None


def _plain_file(path: str) -> File | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return File(path, status) if S_ISREG(status.st_mode) else None


def _package_folders(module: str) -> list[str]:
    """Return the folders of a package, which is looked for level by level.

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
    """Ask the finders for a module; `search` has the folders of its parent."""
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
    """Do as `PathFinder` does, which wants the parent of a namespace package imported."""
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
    """Return what a TOML file says.

    Raises
    ------
    ValueError, RecursionError
        If it is not TOML, not UTF-8, or nested too deeply.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    fields: dict[str, Any] = tomllib.loads(content.decode())
    return fields
