"""A backend's file as its author has it: what it says, where, and where its package is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._description.description import Description
from .._description.files import parse_toml
from .._description.parsing import parse_description
from .._problems import Source
from ..exceptions import DescriptionError
from ._examined_imports import Fault as ImportFault
from ._findings import Severity
from ._mentions import Mention, Role, find_mentions
from ._output import Column, Part, Table
from ._requirements import Requirements
from ._toml import Layout, find_layout

if TYPE_CHECKING:
    from ._child import Report

_COLUMNS = (Column("where"), Column("key"), Column("what was found"), Column("what to do"))
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with a file.

    Parameters
    ----------
    message : str
        What was found, and what is wrong with it.
    remedy : str
        What to do about it.
    key : str or None
        The key path; None if it is about the file as a whole.
    line : int
        Where that is, or what would hold it.
    """

    message: str
    remedy: str
    key: str | None = None
    line: int = 1

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "line": self.line,
            "key": self.key,
            "message": self.message,
            "remedy": self.remedy,
        }


@dataclass(slots=True)
class BackendFile:
    """A file with the description of a backend.

    Parameters
    ----------
    path : str
        As it was given.
    text : str
        What is in it.
    fields : dict
        What that says.
    layout : Layout
        Where it says so.
    description : Description or None
        What the validator makes of it.
    faults : list of Fault
        What is wrong with it.
    """

    path: str
    text: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    layout: Layout = field(default_factory=Layout)
    description: Description | None = None
    faults: list[Fault] = field(default_factory=list)

    def fault(self, key: str | None, message: str, remedy: str) -> None:
        """Report one."""
        self.faults.append(self.fault_at(key, message, remedy))

    def fault_at(self, key: str | None, message: str, remedy: str) -> Fault:
        """Return one with its line."""
        return Fault(message, remedy, key, self.layout.line(key))

    def import_faults(self, report: Report) -> Iterator[tuple[ImportFault, Fault]]:
        """Yield what a child process has found out about what the file names.

        Parameters
        ----------
        report : Report
            Of the child.
        """
        for each in report.endings:
            for key in each.keys or (None,):
                ended = ImportFault(
                    Severity.ERROR,
                    f"{each.what} {each.how}",
                    "Repair the module, or what it imports",
                )
                yield ended, self.fault_at(key, ended.message, ended.remedy)
        for key, severity, *fields in report.values.get("fault", ()):
            found = ImportFault(Severity(severity), *fields)
            yield found, self.fault_at(key, found.message, found.remedy)

    def mentions(self) -> Iterator[Mention]:
        """Yield what the file names, where that is well-formed."""
        return find_mentions(self.fields)

    def packages(self) -> set[str]:
        """Return the top-level packages that the backend's own code is in."""
        others = (Role.TYPE, Role.LIBRARY_FUNCTION)
        return {m.module.partition(".")[0] for m in self.mentions() if m.role not in others}

    def folder(self) -> str | None:
        """Return what to put on `sys.path`, if anything, to import the file's own package."""
        return _folder(Path(self.path).resolve(), self.packages())


def fault_parts(files: Iterable[BackendFile]) -> Iterator[Part]:
    """Yield a table of what is wrong with files; nothing if all is well."""
    rows = [
        (f"{file.path}:{fault.line}", key, fault.message, fault.remedy)
        for file in files
        for key, fault in merged(file.faults)
    ]
    if rows:
        yield "Faults"
        yield Table(_COLUMNS, rows)


def merged(faults: Iterable[Fault]) -> Iterator[tuple[str, Fault]]:
    """Yield a fault for each thing that is wrong, and where: its key, and how many more have it."""
    found: dict[tuple[str, str], list[Fault]] = {}
    for each in faults:
        found.setdefault((each.message, each.remedy), []).append(each)
    for first, *others in found.values():
        more = f" and {len(others)} more" if others else ""
        yield f"{first.key or ''}{more}".lstrip(), first


def count_faults(file: BackendFile) -> str:
    """Say how many there are."""
    number = len(file.faults)
    return f"{number} fault{'s' if number > 1 else ''}"


def read_file(path: str) -> BackendFile:
    """Read a file and let the validator judge it.

    Parameters
    ----------
    path : str
        Of a file that exists.
    """
    file = BackendFile(path)
    try:
        content = Path(path).read_bytes()
        file.text = content.decode()
        file.fields = parse_toml(content)
    except (OSError, UnicodeDecodeError) as error:
        file.fault(None, f"it cannot be read: {error}", "Write a text file in UTF-8")
    except (ValueError, RecursionError) as error:
        place = _AT_LINE.search(str(error))
        line = int(place.group(1)) if place else max(1, len(file.text.splitlines()))
        message = f"it is not valid TOML: {_AT_LINE.sub('', str(error))}"
        file.faults.append(Fault(message, "Correct the line", line=line))
    else:
        file.layout = find_layout(file.text)
        validate(file)
    return file


def validate(file: BackendFile) -> None:
    """Let the validator judge what a file says; the project's entry point has its name."""
    names = _entry_point_names(Path(file.path).absolute())
    expected = names[0] if names and file.fields.get("name") not in names else None
    try:
        file.description = parse_description(file.fields, Source(file=file.path), expected)
    except DescriptionError as error:
        for problem in error.problems:
            file.fault(problem.key, problem.message, problem.remedy)


def _folder(path: Path, names: Collection[str]) -> str | None:
    """Return the folder from which Python would import the package around a file."""
    for package in path.parents:
        if package.name in names and not (package.parent / "__init__.py").exists():
            return str(package.parent)
    if any((path.parent / f"{name}.py").is_file() for name in names):
        return str(path.parent)
    return None


def find_requirements(path: str) -> Requirements:
    """Return what the project around a file says that it requires."""
    project = _project(Path(path).absolute())
    try:
        texts = [*project.get("dependencies", ())]
        for extra, more in project.get("optional-dependencies", {}).items():
            texts += [f"{each}; extra == '{extra}'" for each in more]
        return Requirements(str(project["name"]), texts)
    except (KeyError, AttributeError, TypeError):
        return Requirements()


def _project(path: Path) -> dict[str, Any]:
    """Return what the nearest pyproject.toml says of the project; empty without any."""
    for folder in path.parents:
        file = folder / "pyproject.toml"
        if file.is_file():
            with suppress(OSError, ValueError, RecursionError):
                project = parse_toml(file.read_bytes()).get("project")
                return project if isinstance(project, dict) else {}
            break
    return {}


def _entry_point_names(path: Path) -> list[str]:
    """Return the names under which the project's entry points lead to a file."""
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
