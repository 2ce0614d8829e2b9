"""The project around a backend's file: its package folder, requirements and entry points."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from re import fullmatch
from typing import Any

from .._description import parse_toml
from .._environment import installed_distributions
from .._errors import Finding
from .findings import note, warning
from .packages import Requirements


def package_folder(path: Path, names: Collection[str]) -> str | None:
    """Return the folder from which Python can import the package around a resolved path, or None.

    `names` are the top-level packages of the backend's code.
    """
    for package in path.parents:
        if package.name in names and not (package.parent / "__init__.py").exists():
            return str(package.parent)
    if any((path.parent / f"{name}.py").is_file() for name in names):
        return str(path.parent)
    return None


def find_requirements(path: str) -> Requirements:
    """Return the requirements of the project around a file."""
    project = _project(Path(path).absolute())
    try:
        texts = [*project.get("dependencies", ())]
        for extra, more in project.get("optional-dependencies", {}).items():
            texts += [f"{each}; extra == '{extra}'" for each in more]
        return Requirements(str(project["name"]), texts)
    except (KeyError, AttributeError, TypeError):
        return Requirements()


def entry_point_names(path: Path) -> list[str]:
    """Return the names of the entry points in the project that lead to a file."""
    try:
        groups = _project(path)["entry-points"].values()
        values = [(str(name), str(value)) for group in groups for name, value in group.items()]
    except (KeyError, AttributeError, TypeError):
        return []
    return [name for name, value in values if _leads_to(path, value)]


def _leads_to(path: Path, value: str) -> bool:
    """Whether an entry point with this value leads to a file."""
    module, _, attribute = (part.strip() for part in value.partition("[")[0].partition(":"))
    place = (*module.split("."), attribute)
    return attribute == path.name and path.parts[-len(place) :] == place


def check_entry_points(path: Path, folder: str | None, name: object = None) -> Finding | None:
    """Return a finding if no entry point leads to the file of a backend, an absolute path.

    Its remedy needs the `folder` from which the package is imported, if that is known, and the
    `name` of the backend, as the file has it.
    """
    project = _project(path)
    declared = project.get("entry-points")
    is_said_elsewhere = "entry-points" in (project.get("dynamic") or ())
    if not project or is_said_elsewhere or entry_point_names(path):
        return None
    for installed in installed_distributions():
        with suppress(Exception):  # a distribution with malformed metadata
            if any(_leads_to(path, each.value) for each in installed.entry_points):
                return None  # declared in another file than pyproject.toml
    place = "package:" + path.name
    if folder is not None and Path(folder) in path.parents:
        place = ".".join(path.parent.relative_to(folder).parts) + ":" + path.name
    key = name if isinstance(name, str) and fullmatch("[A-Za-z0-9_-]+", name) else "name"
    # A note if the table has no entry point at all: the project may declare them in another file.
    return (warning if isinstance(declared, dict) and declared else note)(
        "no entry point leads to this file, so no library finds the backend",
        f'Add one to pyproject.toml, in the table of the library\'s group: {key} = "{place}"',
    )


def _project(path: Path) -> dict[str, Any]:
    """Return the table ``project`` of the nearest pyproject.toml, or an empty one."""
    for folder in path.parents:
        file = folder / "pyproject.toml"
        if file.is_file():
            with suppress(OSError, ValueError, RecursionError):
                project = parse_toml(file.read_bytes()).get("project")
                return project if isinstance(project, dict) else {}
            break
    return {}
