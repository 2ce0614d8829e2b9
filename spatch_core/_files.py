"""Find files of a package without importing the package."""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pkgutil import get_importer
from typing import Any


def find_file(module: str, file: str, distribution: Any) -> tuple[str, bytes | None]:
    """Read a file next to a package's modules without importing the package.

    Returns its path, or the folders that were searched, and its content or None.
    """
    if distribution is not None:
        path = str(distribution.locate_file("/".join([*module.split("."), file])))
        if os.path.isfile(path):
            return path, _read(path)
    folders = _package_folders(module)
    for folder in folders:
        path = os.path.join(folder, file)
        if os.path.isfile(path):
            return path, _read(path)
        importer: Any = get_importer(folder)
        if hasattr(importer, "get_data"):  # inside a zip file
            try:
                return path, importer.get_data(path)
            except OSError:
                continue
    return ", ".join(folders), None


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


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
