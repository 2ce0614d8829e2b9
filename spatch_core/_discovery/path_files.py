"""Path files (``.pth``) of backends installed in editable mode after Python has started."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from .._description.files import package_folders
from .._identifiers import is_dotted_name
from .entry_points import entry_point_target
from .environment import Environment

REMEDY = (
    "It is installed in editable mode. If that was done after Python started, call "
    "backend_opts.reload(); else check its folder, and that its package has the file"
)


def path_files(distribution: Any) -> list[str]:
    """Return the names of a distribution's path files; empty if it has none."""
    try:
        # `distribution.files` would look for each file on the disk: there may be 100,000 of them.
        record = (distribution and distribution.read_text("RECORD")) or ""
        lines = [line for line in record.splitlines() if ".pth" in line]
        if not lines:
            return []
        import csv  # few backends are installed in editable mode

        names = [row[0] for row in csv.reader(lines) if row]
        return [name for name in names if name.endswith(".pth") and PurePath(name).name == name]
    except Exception:  # noqa: BLE001  # whatever it raises
        return []  # its metadata cannot be read, which discovery reports


def read_path_files(entry_points: Iterable[Any], environment: Environment) -> None:
    """Process the path files of backends whose packages are not found, as `site` does at startup.

    The path files of all other distributions were processed at startup. Path files of blocked
    backends are left alone, because they can import modules.

    Parameters
    ----------
    entry_points : iterable of importlib.metadata.EntryPoint
        The entry points of the library's group.
    environment : Environment
        The library's variables.
    """
    for entry_point in entry_points:
        module = entry_point_target(entry_point)[0]
        # First, because reading the list of files takes long for a large distribution.
        if not is_dotted_name(module) or _is_found(module):
            continue
        distribution = entry_point.dist
        names = path_files(distribution)
        if names and not environment.blocks(str(entry_point.name), distribution.name):
            for name in names:
                _add(str(distribution.locate_file("")), name)


def _add(folder: str, name: str) -> None:
    """Process a path file; if it fails, discovery does not find the package and reports it."""
    from site import addpackage

    with suppress(Exception, SystemExit):  # wrong encoding, or a failing import
        addpackage(folder, name, None)


def _is_found(module: str) -> bool:
    try:
        return bool(package_folders(module))
    except Exception:  # noqa: BLE001  # a third party's finder
        return True
