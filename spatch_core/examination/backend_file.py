"""A backend's TOML file: its fields, the lines of its keys, and its faults."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from .._description import Description
from .._errors import Source
from .._files import LimitError, parse_toml, read_content
from .._parsing import parse_description
from ..exceptions import DescriptionError
from .child import run
from .findings import Finding, error, from_record
from .importing import Importer
from .layout import Layout, find_layout
from .mentions import Mention, Role, find_mentions
from .packages import package_of
from .project import entry_point_names, find_requirements, package_folder

if TYPE_CHECKING:
    from .child import TaskResult

_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)")


@dataclass(slots=True)
class BackendFile:
    """A file with the description of a backend."""

    path: str  # as the user gave it
    text: str = field(default="", repr=False)
    fields: dict[str, Any] = field(default_factory=dict, repr=False)  # parsed, not validated
    layout: Layout = field(default_factory=Layout, repr=False)  # the lines of its keys
    description: Description | None = None  # None if the fields are not valid
    faults: list[Finding] = field(default_factory=list)

    def fault(self, key: str | None, message: str, remedy: str, skips: bool = True) -> None:
        """Add a fault; `skips` says whether the library skips the backend because of it."""
        self.faults.append(self.placed(replace(error(message, remedy), key=key, skips=skips)))

    def placed(self, finding: Finding, line: int | None = None) -> Finding:
        """Return a finding with the file and a line: the given one, or the line of its key."""
        # A finding without a key is about the whole file and has no line.
        if line is None and finding.key is not None:
            line = self.layout.line(finding.key)
        return replace(finding, line=line, source=Source(file=self.path))

    def import_with(self, task: str, **options: bool) -> tuple[TaskResult, list[Finding]]:
        """Import everything that the file names in a child process, by a task of `file_tasks`.

        The task gets the options in its request. The findings include one for each child that
        ended early.
        """
        folder = self.folder()
        report = run(
            f"{__package__}.file_tasks:{task}",
            # The text goes through a temporary file: send it only if the child cannot read it.
            {
                "file": self.path,
                "text": None if _can_be_read_again(self.path) else self.text,
                **options,
            },
            f"importing what {self.path} names",
            folders=[] if folder is None else [folder],
        )
        found = [
            replace(error(f"{each.what} {each.how}", "Repair the module or its imports"), key=key)
            for each in report.endings
            for key in each.keys or (None,)
        ]
        found += map(from_record, report.values.get("finding", ()))
        return report, [self.placed(each) for each in found]

    def mentions(self) -> Iterator[Mention]:
        """Yield every well-formed identifier, type pattern and module in the file."""
        return find_mentions(self.fields)

    def packages(self) -> set[str]:
        """Return the top-level packages of the backend's own code."""
        others = (Role.TYPE, Role.LIBRARY_FUNCTION)
        return {package_of(m.module) for m in self.mentions() if m.role not in others}

    def folder(self) -> str | None:
        """Return the folder from which the backend's package can be imported, if it is known."""
        return package_folder(Path(self.path).resolve(), self.packages())

    def importer(self) -> Importer:
        """Return an importer that knows the packages and requirements of the file's project."""
        folder = self.folder()
        own = [] if folder is None else [each.name for each in iter_modules([folder])]
        nowhere = self.packages() if folder is None else ()
        return Importer(own, find_requirements(self.path), nowhere=nowhere)


def _can_be_read_again(path: str) -> bool:
    """Whether another process can read the same text: from a file, not from a descriptor."""
    return os.path.isfile(path) and not os.path.abspath(path).startswith(("/dev/", "/proc/"))


def read_file(path: str, text: str | None = None) -> BackendFile:
    """Read and validate a file, or the given text of the file."""
    file = BackendFile(path)
    try:
        content = read_content(path) if text is None else text.encode()
        file.text = content.decode()
        file.fields = parse_toml(content)
    except OSError as raised:
        remedy = "Name an existing file, and check its permissions"
        file.fault(None, f"it cannot be read: {raised}", remedy)
    except UnicodeDecodeError as raised:
        file.fault(None, f"it cannot be read: {raised}", "Write a text file in UTF-8")
    except (ValueError, RecursionError) as raised:
        place = _AT_LINE.search(str(raised))
        line = int(place.group(1)) if place else max(1, len(file.text.splitlines()))
        wrong, remedy = "is not valid TOML", "Correct the line"
        if isinstance(raised, LimitError):
            wrong, remedy = "is not parsed", "Write a smaller file, with shorter keys"
        message = f"it {wrong}: {_AT_LINE.sub('', str(raised))}"
        file.faults.append(file.placed(error(message, remedy), line))
    else:
        file.layout = find_layout(file.text)
        validate(file)
    return file


def validate(file: BackendFile) -> None:
    """Add the faults of the fields; the backend's name must be that of its entry point."""
    names = entry_point_names(Path(file.path).absolute())
    expected = names[0] if names and file.fields.get("name") not in names else None
    try:
        file.description = parse_description(file.fields, Source(file=file.path), expected)
        problems = file.description.problems
    except DescriptionError as raised:
        problems = raised.problems
    for problem in problems:
        file.fault(problem.key, problem.message, problem.remedy, problem.skips)
