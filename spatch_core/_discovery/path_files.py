"""Path files (``.pth``) of backends that were installed in editable mode since Python started."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from .._description.files import package_folders
from .._identifiers import is_dotted_name
from .._interrupts import is_interrupt
from .entry_points import entry_point_target
from .environment import Environment

REMEDY = (
    "It is installed in editable mode: call backend_opts.reload() if that was done after Python "
    "started; else check its folder, and that its package has the file"
)


def path_files(distribution: Any) -> list[str]:
    """Return the names of a distribution's path files; empty if it is not installed by one."""
    try:
        # Not `files`, which looks for each file on the disk: there may be hundreds of thousands.
        record = (distribution and distribution.read_text("RECORD")) or ""
        lines = [line for line in record.splitlines() if ".pth" in line]
        names = [row[0] for row in csv.reader(lines) if row]
        return [name for name in names if name.endswith(".pth") and PurePath(name).name == name]
    except BaseException as error:
        if is_interrupt(error):
            raise
        return []  # its metadata cannot be read, which discovery reports


def read_path_files(entry_points: Iterable[Any], environment: Environment) -> None:
    """Do for backends whose packages are not found what `site` does when Python starts.

    The path files of other distributions have been read then, and those of blocked backends are
    left alone: a path file can import modules.

    Parameters
    ----------
    entry_points : iterable of importlib.metadata.EntryPoint
        Those of the library's group.
    environment : Environment
        The library's variables.
    """
    for entry_point in entry_points:
        module = entry_point_target(entry_point)[0]
        # Before the list of files, of which a large distribution has many thousands.
        if not is_dotted_name(module) or _is_found(module):
            continue
        distribution = entry_point.dist
        names = path_files(distribution)
        if names and not environment.blocks(str(entry_point.name), distribution.name):
            for name in names:
                _add(str(distribution.locate_file("")), name)


def _add(folder: str, name: str) -> None:
    """Do what a path file says; one that fails has no effect, and discovery finds no package."""
    from site import addpackage

    try:
        addpackage(folder, name, None)
    except BaseException as error:  # its encoding, or what it imports
        if is_interrupt(error):
            raise


def _is_found(module: str) -> bool:
    try:
        return bool(package_folders(module))
    except BaseException as error:  # a third party's finder
        if is_interrupt(error):
            raise
        return True
