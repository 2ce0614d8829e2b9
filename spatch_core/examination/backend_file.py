"""A backend's TOML file and its project: fields, faults, and everything that the file names."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple

from .._description import Description, Finding, Severity, Source
from .._discovery import adapted
from .._environment import installed_distributions, parse_toml
from .._errors import either
from .._parsing import parse_description
from ..exceptions import DescriptionError
from .checks import DescriptionCheck, check_calls
from .child import run
from .findings import KeyPath, Report, error, key_path, note, warning
from .importing import (
    Importer,
    Mention,
    Role,
    check_environment,
    check_group,
    find_mentions,
    package_of,
)
from .libraries import are_covered, live_systems, own_types

if TYPE_CHECKING:
    from ..backend_system import BackendSystem
    from .child import Journal, TaskResult


_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)")


# --- The lines of keys ----------------------------------------------------------------------------

# TOML parsers do not give them. The text is valid: a parser has accepted it before. It is cut into
# statements, each a header or a key with its value: the fewest lines that a parser accepts.


class Header(NamedTuple):
    """The header of a table."""

    path: KeyPath
    line: int
    before: int  # the last line with a key, a value or a header before it; 0 for none


@dataclass
class Layout:
    """The lines of keys, and the headers of tables."""

    lines: dict[str, int] = field(default_factory=dict)  # by key path, as the validator writes it
    headers: list[Header] = field(default_factory=list)
    end: int = 0  # the last line with a key or a value

    def line(self, key: str) -> int:
        """Return the line of a key path, or of the innermost table around it."""
        # Look up prefixes instead of all lines: a file may have as many faults as lines.
        places = [len(key), *(place for place in range(len(key)) if key[place] in ".[")]
        holders = (key[:place] for place in sorted(places, reverse=True))
        return next((self.lines[each] for each in holders if each in self.lines), 1)

    def add(self, path: KeyPath, value: Any, line: int, lines: Sequence[str] = ()) -> None:
        """Record the line of a key, and of all that its value has; `lines` is the text of both."""
        self.lines.setdefault(key_path(path), line)
        if isinstance(value, Mapping):
            for name, each in value.items():
                self.add((*path, name), each, line, lines)
        elif isinstance(value, list):
            for number, each in enumerate(value):
                # In an array of several lines, the first line that has the element.
                shapes = (f'"{each}"', f"'{each}'") if isinstance(each, str) else (str(each),)
                near = (n for n, text in enumerate(lines) if any(one in text for one in shapes))
                self.add((*path, number), each, line + next(near, 0))


def find_layout(text: str) -> Layout:
    """Return the layout of valid TOML."""
    layout = Layout()
    table: KeyPath = ()
    arrays: dict[KeyPath, int] = {}  # the last index of each array of tables
    for line, lines, fields in _statements(text):
        if lines[0].lstrip().startswith("["):
            table = _header(fields, arrays)
            layout.headers.append(Header(table, line, layout.end))
            for end in range(1, len(table) + 1):
                layout.add(table[:end], None, line)
        else:
            for name, value in fields.items():
                layout.add((*table, name), value, line, lines)
        layout.end = line + len(lines) - 1
    return layout


def _statements(text: str) -> Iterator[tuple[int, list[str], dict[str, Any]]]:
    """Yield the first line, the lines and the content of each statement."""
    first = 1
    lines: list[str] = []
    for number, each in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        lines.append(each)
        with suppress(ValueError):  # it goes on
            fields = parse_toml("\n".join(lines).encode())
            if fields:
                yield first, lines, fields
            first, lines = number + 1, []


def _header(fields: dict[str, Any], arrays: dict[KeyPath, int]) -> KeyPath:
    """Return the path of the table that a header begins."""
    path: KeyPath = ()
    content: Any = fields
    while content:
        ((name, content),) = content.items()
        if path in arrays:
            path = (*path, arrays[path])
        path = (*path, name)
        if isinstance(content, list):
            arrays[path] = arrays.get(path, -1) + 1
            return (*path, arrays[path])
    return path


# --- The project around a file --------------------------------------------------------------------


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
        key = name if isinstance(name, str) and re.fullmatch("[A-Za-z0-9_-]+", name) else "name"
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


# --- A file ---------------------------------------------------------------------------------------


@dataclass
class BackendFile:
    """A file with the description of a backend."""

    path: str  # as the user gave it
    text: str = field(default="", repr=False)
    fields: dict[str, Any] = field(default_factory=dict, repr=False)  # parsed, not validated
    layout: Layout = field(default_factory=Layout, repr=False)  # the lines of its keys
    description: Description | None = None  # None if the fields are not valid
    faults: list[Finding] = field(default_factory=list)

    def fault(self, key: str | None, message: str, remedy: str) -> None:
        """Add an error."""
        self.faults.append(self.placed(error(message, remedy)._replace(key=key)))

    def placed(self, finding: Finding) -> Finding:
        """Return a finding with the file, and with the line of its key."""
        line = finding.line if finding.key is None else self.layout.line(finding.key)
        return finding._replace(backend=None, line=line, source=Source(file=self.path))

    def import_with(
        self, task: str, timeout: float, **options: bool
    ) -> tuple[TaskResult, list[Finding]]:
        """Import everything that the file names in a child process, by a task.

        The task gets the options in its request. The findings include one for each child that
        ended early, at the latest after `timeout` seconds.
        """
        request = {"file": self.path, "text": self.text, **options}
        about = f"importing what {self.path} names"
        folders = [self.folder] if self.folder else []
        result = run(task, request, about, folders=folders, limit=timeout)
        found = result.failures("Repair the module or its imports")
        return result, [*map(self.placed, found), *map(self.placed, result.findings)]

    def mentions(self) -> Iterator[Mention]:
        """Yield every well-formed identifier, type pattern and module in the file."""
        return find_mentions(self.fields)

    @cached_property
    def packages(self) -> set[str]:
        """The top-level packages of the backend's own code."""
        others = (Role.TYPE, Role.LIBRARY_FUNCTION)
        return {package_of(m.module) for m in self.mentions() if m.role not in others}

    @cached_property
    def folder(self) -> str | None:
        """The folder from which the backend's package can be imported, if it is known."""
        return package_folder(Path(self.path).resolve(), self.packages)

    @cached_property
    def project(self) -> Project:
        """The project around the file."""
        return Project(Path(self.path).absolute())

    @property
    def groups(self) -> set[str]:
        """The entry point groups of the project around the file."""
        return {group for group, _, _ in self.project.entry_points()}

    def is_for(self, system: BackendSystem) -> bool:
        """Whether the file describes a backend of this library, as far as it says so."""
        functions = () if self.description is None else self.description.functions
        return system.group in self.groups or not system.functions.keys().isdisjoint(functions)

    def importer(self) -> Importer:
        """Return an importer that knows the packages of the file's project."""
        return Importer(each.name for each in iter_modules([self.folder] if self.folder else []))


def read_file(path: str, text: str | None = None) -> BackendFile:
    """Read and validate a file, or the given text of the file."""
    file = BackendFile(path)
    try:
        content = Path(path).read_bytes() if text is None else text.encode()
        file.text = content.decode()
        file.fields = parse_toml(content)
    except OSError as raised:
        remedy = "Name an existing file, and check its permissions"
        file.fault(None, f"it cannot be read: {raised}", remedy)
    except UnicodeDecodeError as raised:
        message, remedy = f"it cannot be read: {raised}", "Write a text file in UTF-8"
        if path.endswith(".whl"):
            message = "it is a wheel, and no TOML file"
            remedy = (
                f"Unpack it: `python -m zipfile -e {path} unpacked`, and give the file in it; or "
                "install it, and give the name of the library to `spatch-core doctor`"
            )
        file.fault(None, message, remedy)
    except (ValueError, RecursionError) as raised:
        place = _AT_LINE.search(str(raised))
        line = int(place.group(1)) if place else max(1, len(file.text.splitlines()))
        message = f"it is not valid TOML: {_AT_LINE.sub('', str(raised))}"
        file.faults.append(file.placed(error(message, "Correct the line")._replace(line=line)))
    else:
        file.layout = find_layout(file.text)
        _validate(file)
    return file


def _validate(file: BackendFile) -> None:
    """Add the faults of the fields; the backend's name must be that of its entry point."""
    names = file.project.entry_point_names()
    expected = names[0] if names and file.fields.get("name") not in names else None
    try:
        file.description = parse_description(file.fields, Source(file=file.path), expected)
        problems = file.description.problems
    except DescriptionError as raised:
        problems = raised.problems
    file.faults += map(file.placed, problems)


# --- Verifying a file -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileReport(Report):
    """The result of verifying a file.

    The findings are sorted by line.

    Parameters
    ----------
    subject : str
        The path of the file as the user gave it.
    findings : tuple of Finding
        All findings. Errors and warnings are faults, notes are not.
    backend : str or None
        The name of the backend, if the file has one.
    functions : tuple of str or None
        The identifiers of the functions that it implements; None if the description has faults.
    every_function : bool
        Whether it has an implementation of every other function.
    converts : bool
        Whether it has conversions.
    imported : bool
        Whether the names were imported.
    folder : str or None
        The folder from which the package around the file was imported.
    """

    backend: str | None = None
    functions: tuple[str, ...] | None = None
    every_function: bool = False
    converts: bool = False
    imported: bool = False
    folder: str | None = None


def verify_file(
    path: str | os.PathLike[str], imports: bool = True, *, timeout: float = 60.0
) -> FileReport:
    """Verify the file of a backend.

    Parameters
    ----------
    path : str or os.PathLike
        An existing TOML file. Its package need not be installed.
    imports : bool, optional
        Whether a child process imports everything that the file names.
    timeout : float, optional
        Time limit of each child process in seconds.

    Returns
    -------
    FileReport
        All findings.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = f"{folder}/backend.toml"
    ...     with open(file, "w") as stream:
    ...         _ = stream.write('name = "oil"')
    ...     [(each.line, each.key) for each in verify_file(file, imports=False).faults]
    [(1, 'primary_types')]
    """
    file = read_file(os.fspath(path))
    found = [*file.faults]
    if file.fields:
        unquoted = [*map(file.placed, file.project.check_unquoted_groups())]
        name = file.fields.get("name")
        found += unquoted or map(file.placed, file.project.check_entry_points(file.folder, name))
        found += map(file.placed, file.project.check_wheel(file.folder))
    if file.description is not None:
        here, malformed = adapted(file.description)  # as discovery does
        found += map(file.placed, malformed)
        if imports:
            found += map(file.placed, check_environment(here, malformed))
    if imports:
        _, imported = file.import_with(f"{__name__}:examine", timeout)
        for each in imported:
            remedy = each.remedy
            if each.is_absent and each.severity is Severity.WARNING:
                if file.folder is None and file.packages:
                    names = either(sorted(file.packages))
                    remedy += f"; no folder around the file is called {names}"
                remedy += "; or leave imports out with --no-imports"
            found.append(each._replace(remedy=remedy))
    found.sort(key=lambda each: each.line or 0)
    backend, description = file.fields.get("name"), file.description
    return FileReport(
        file.path,
        tuple(found),
        backend=backend if isinstance(backend, str) else None,
        functions=None if description is None else tuple(description.functions),
        every_function=description is not None and description.every is not None,
        converts=description is not None and description.conversions is not None,
        imported=imports,
        folder=file.folder if imports else None,
    )


def examine(request: dict[str, Any], journal: Journal) -> None:
    """Add each ``finding`` about a file; called in a child."""
    file = read_file(request["file"], request["text"])
    name = file.fields.get("name")
    importer, groups = file.importer(), file.groups
    check = DescriptionCheck(file.mentions(), importer, journal, name=name, groups=groups)
    journal.found(chain(check.findings(), check.unmentioned()))
    systems = live_systems()
    known = [each.group for each in systems if each.group]
    found = [each for group in sorted(groups) for each in check_group(group, known)]
    for system in systems:
        description = file.description
        if description is not None and file.is_for(system):
            is_covered = are_covered(description.known_types, own_types(system))
            waits = is_covered and not description.requires_opt_in
            found += check_calls(description, system, waits)
    journal.found(found)
