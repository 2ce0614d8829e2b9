"""The project around a backend's file: its packages, requirements, entry points and wheel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from re import fullmatch, sub
from typing import Any

from .._environment import installed_distributions, parse_toml
from .._errors import Finding, nearest
from .findings import error, note, warning
from .importing import (
    MISSPELLED,
    did_you_mean,
    is_module_installed,
    names_like,
    owners_of_packages,
    package_of,
)


class Project:
    """The nearest pyproject.toml around a file; empty if there is none.

    Parameters
    ----------
    path : Path
        An absolute path.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder: Path | None = None
        self.content: dict[str, Any] = {}
        for folder in path.parents:
            file = folder / "pyproject.toml"
            if file.is_file():
                self.folder = folder
                with suppress(OSError, ValueError, RecursionError):
                    self.content = parse_toml(file.read_bytes())
                break

    def table(self, *keys: str) -> dict[str, Any]:
        """Return a table; an empty one if it is absent, or no table."""
        found: Any = self.content
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}

    def entry_points(self) -> Iterator[tuple[str, str, str]]:
        """Yield group, name and value of each entry point."""
        for group in self.table("project", "entry-points"):
            for name, value in self.table("project", "entry-points", group).items():
                if isinstance(value, str):
                    yield group, name, value

    def check_unquoted_groups(self) -> Iterator[Finding]:
        """Yield an error for each group with a dot whose header lacks quotes.

        TOML reads ``[project.entry-points.lib.backends]`` as a table in a table.
        """
        tables = self.table("project", "entry-points")
        for group in _innermost(tables):
            if group not in tables:
                yield error(
                    f"[project.entry-points.{group}] in pyproject.toml is no group of entry "
                    "points, because its name has a dot",
                    f'Write [project.entry-points."{group}"]',
                )

    def entry_point_names(self) -> list[str]:
        """Return the names of the entry points that lead to the file."""
        return [name for _, name, value in self.entry_points() if _leads_to(self.path, value)]

    def check_entry_points(self, folder: str | None, name: object = None) -> Iterator[Finding]:
        """Yield a finding if no entry point leads to the file.

        Its remedy needs the `folder` from which the package is imported, if that is known, and the
        `name` of the backend, as the file has it.
        """
        is_said_elsewhere = "entry-points" in self.table("project").get("dynamic", ())
        if not self.table("project") or is_said_elsewhere or self.entry_point_names():
            return
        for installed in installed_distributions():
            with suppress(Exception):  # a distribution with malformed metadata
                if any(_leads_to(self.path, each.value) for each in installed.entry_points):
                    return  # declared in another file than pyproject.toml
        place = "package:" + self.path.name
        if folder is not None and Path(folder) in self.path.parents:
            package = ".".join(self.path.parent.relative_to(folder).parts)
            place = f"{package}:{self.path.name}"
            for _, key, value in self.entry_points():
                named, _, attribute = value.partition(":")
                is_dotted = named.strip() == f"{package}.{self.path.name}"
                is_package = named.strip() == package and ".toml" not in attribute
                if is_dotted or is_package or key == name:
                    yield error(
                        f"the entry point {key} = {value!r} does not name this file",
                        f"Write it as: {key} = {place!r}",
                    )
                    return
        key = name if isinstance(name, str) and fullmatch("[A-Za-z0-9_-]+", name) else "name"
        # A note without any entry point: the project may declare them in another file.
        yield (warning if self.table("project", "entry-points") else note)(
            "no entry point leads to this file, so no library finds the backend",
            f'Add one to pyproject.toml, in the table of the library\'s group: {key} = "{place}"',
        )

    def check_wheel(self, folder: str | None) -> Iterator[Finding]:
        """Yield a warning if the build configuration leaves the file out of the wheel."""
        backend = str(self.table("build-system").get("build-backend", ""))
        if not (backend and self.folder and folder) or Path(folder) not in self.path.parents:
            return
        within = self.path.relative_to(folder)
        package = ".".join(within.parent.parts)
        lacks = "the wheel lacks this file:"
        # Other build backends pack all files of a package.
        if backend.startswith("setuptools") and not self._is_package_data(package):
            yield warning(
                f"{lacks} setuptools packs only Python modules unless it is told otherwise",
                f'Write "{package}" = ["*.toml"] below [tool.setuptools.package-data] in '
                "pyproject.toml",
            )
        if backend.startswith("mesonpy"):
            texts = (each.read_text("utf-8", "replace") for each in self._files("meson.build"))
            if not any(self.path.name in text or "install_subdir" in text for text in texts):
                place = f"'{self.path.name}', subdir: '{within.parent.as_posix()}'"
                yield warning(
                    f"{lacks} no meson.build installs it",
                    f"Add to meson.build: py.install_sources({place})",
                )

    def _is_package_data(self, package: str) -> bool:
        """Whether setuptools packs the file."""
        if any(next(self._files(e), None) for e in ("MANIFEST.in", "setup.py", "setup.cfg")):
            return True  # they may say it
        packs_versioned = ("setuptools-scm", "setuptools-git")
        requires = " ".join(_strings(self.table("build-system").get("requires")))
        if any(each in requires.replace("_", "-") for each in packs_versioned):
            return bool(self.table("tool", "setuptools").get("include-package-data", True))
        return any(
            fnmatch(self.path.name, pattern.rpartition("/")[2])
            for name, patterns in self.table("tool", "setuptools", "package-data").items()
            if name in ("*", "", package) or package.startswith(f"{name}.")
            for pattern in _strings(patterns)
        )

    def _files(self, name: str) -> Iterator[Path]:
        """Yield the existing files of this name between the project's folder and the file."""
        for folder in self.path.parents:
            if (folder / name).is_file():
                yield folder / name
            if folder == self.folder:
                return


def check_group(group: str, known: Collection[str]) -> Iterator[Finding]:
    """Yield an error if an entry point group is none of the libraries', but resembles one.

    It differs in case, separators, the word "backends" at the end, or by misspelled parts. Not so
    ``lib.plugins`` beside ``lib.backends``, which another program may read.
    """
    if group in known:
        return
    same = [each for each in known if _without_backends(each) == _without_backends(group)]
    meant = same or names_like(group, known)
    package = package_of(group)
    # That of another installed package is its own affair.
    if meant and (package == package_of(meant[0]) or not is_module_installed(package)):
        message = f"no library reads the entry point group {group!r}"
        yield error(message, f"Write it as {meant[0]!r}")


def _without_backends(group: str) -> str:
    """Return the letters of a group without the word "backends" at the end."""
    return sub("backends?$", "", sub("[-_.]", "", group.casefold()))


def package_like(value: str) -> tuple[str, str] | None:
    """Say that an entry point misspells a package, and what to write; None if it does not."""
    value = value.partition("[")[0].strip()
    package = package_of(value)
    if is_module_installed(package):
        return None
    near = nearest(package, set(owners_of_packages()) - {package}, MISSPELLED)
    meant = did_you_mean([each + value[len(package) :] for each in near])
    return (f"there is no package {package!r}", meant) if meant else None


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


def _innermost(tables: Mapping[str, Any], outer: str = "") -> Iterator[str]:
    """Yield the dotted name of each table without tables in it."""
    for name, table in tables.items():
        if isinstance(table, dict):
            yield from [*_innermost(table, f"{outer}{name}.")] or [f"{outer}{name}"]


def _leads_to(path: Path, value: str) -> bool:
    """Whether an entry point with this value leads to a file."""
    module, _, attribute = (part.strip() for part in value.partition("[")[0].partition(":"))
    place = (*module.split("."), attribute)
    return attribute == path.name and path.parts[-len(place) :] == place


def _strings(values: Any) -> list[str]:
    return [each for each in values if isinstance(each, str)] if isinstance(values, list) else []
