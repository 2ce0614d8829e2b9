"""Reads the descriptions of a library in a child process first, because that may end a process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._discovery.catalog_builder import build_catalog
from .._discovery.entry_points import entry_point_target, find_entry_points
from .._discovery.environment import read_environment
from .._reporting.problems import Source
from .child import run

if TYPE_CHECKING:
    from .._discovery.environment import Environment
    from ..backend_system import BackendSystem
    from .child import Journal


def try_descriptions(system: BackendSystem, name: str) -> tuple[str, str] | None:
    """Return message and remedy if reading the library's backends ends a process.

    Only descriptions that are objects are read: a file cannot end a process.
    """
    request = {"group": system.group, "prefix": system.environ_prefix}
    if not unblocked_objects(system):
        return None
    report = run(f"{__name__}:read", request, f"reading the backends of {name}")
    backend = report.last("backend")
    if report.is_complete or backend is None:
        return None
    ending = report.endings[-1]
    variable = f"{system.environ_prefix}_BLOCK"
    blocked = read_environment(system.environ_prefix, os.environ).block
    value = ",".join(sorted({*blocked, backend["name"]}))
    way_out = f"block the backend by setting {variable}={value}"
    return (
        f"{ending.what} {ending.how}",
        f"Repair or uninstall {backend['owner']}, or {way_out}",
    )


def read(request: dict[str, Any], journal: Journal) -> None:
    """Add each ``backend``, and then read its description; called in the child.

    The request has the ``group`` and the ``prefix`` of the library.
    """
    quiet = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # the parent reads the same backends next, and shows their output
        os.dup2(quiet, stream)
    environment = read_environment(request["prefix"], os.environ)
    for each in _objects(request["group"], environment):
        owner = "its distribution" if each.dist is None else each.dist.name
        journal.add("backend", {"name": each.name, "owner": owner})
        journal.begins(f"reading the description of {each.name!r}")
        build_catalog([each], (), (), environment)


def unblocked_objects(system: BackendSystem) -> list[Any]:
    """Return the entry points of unblocked backends that lead to objects, sorted by name."""
    return _objects(system.group, read_environment(system.environ_prefix, os.environ))


def _objects(group: str | None, environment: Environment) -> list[Any]:
    if group is None:
        return []
    found = [
        each
        for each in find_entry_points(group)[0]
        if not environment.blocks(each.name, Source(metadata=each.dist).distribution)
        and not entry_point_target(each)[2]
    ]
    return sorted(found, key=lambda each: (each.name, each.value))
