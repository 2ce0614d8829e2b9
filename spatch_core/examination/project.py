"""The project around a backend's file: its folder, requirements and entry points."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._description.files import parse_toml
from .packages import Requirements


def package_folder(path: Path, names: Collection[str]) -> str | None:
    """Return the folder from which Python would import the package around a file.

    Parameters
    ----------
    path : Path
        The file, resolved.
    names : collection of str
        Top-level packages of the backend's own code.
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
    """Return the names of the project's entry points that lead to a file."""
    try:
        groups = _project(path)["entry-points"].values()
        values = [(str(name), str(value)) for group in groups for name, value in group.items()]
    except (KeyError, AttributeError, TypeError):
        return []
    found = []
    for name, value in values:
        module, _, attribute = (part.strip() for part in value.partition(":"))
        place = (*module.split("."), attribute)
        if attribute == path.name and path.parts[-len(place) :] == place:
            found.append(name)
    return found


def _project(path: Path) -> dict[str, Any]:
    """Return the table ``project`` of the nearest pyproject.toml; empty without any."""
    for folder in path.parents:
        file = folder / "pyproject.toml"
        if file.is_file():
            with suppress(OSError, ValueError, RecursionError):
                project = parse_toml(file.read_bytes()).get("project")
                return project if isinstance(project, dict) else {}
            break
    return {}
