"""Files turned against the update tool."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import spatch_core
from tests.cli.test_update import BLEND, BLUR, HEAD, INIT, TOOLS, text

if TYPE_CHECKING:
    from tests.attacks.conftest import Tally

CORE = Path(spatch_core.__file__).parents[1]


def run(site: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that finds the backend; a hang is an error."""
    return subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{CORE}"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


# --- update: the file of a backend ---------------------------------------------------------

UPDATE = """
import sys
from spatch_core.examination import update_file

update = update_file(sys.argv[1])
print("written" if update.written else [each.message for each in update.findings])
"""


class Project:
    """A backend whose file lacks its functions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "paint_oil"
        self.package.mkdir(parents=True)
        self.file = self.package / "backend.toml"
        self.write("__init__.py", INIT)
        self.write("tools.py", TOOLS)
        self.before = text(HEAD)
        self.after = text(HEAD, BLEND, BLUR)
        self.file.write_text(self.before)

    def write(self, name: str, content: str) -> None:
        (self.package / name).write_text(text(content))

    def update(self, path: Path | None = None) -> str:
        code = f"import sys; sys.argv = ['', {str(path or self.file)!r}]\n{UPDATE}"
        done = run(self.folder, code)
        return (done.stdout + done.stderr).strip()

    def others(self) -> set[str]:
        """Everything but the code and the file."""
        return {each.name for each in self.package.iterdir()} - {
            *("__init__.py", "tools.py", "backend.toml", "__pycache__")
        }


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


SAVE_IN_PLACE = "open({file!r}, 'a').write('# precious\\n')"
SAVE_BY_RENAMING = (
    "open({file!r} + '~', 'w').write(open({file!r}).read() + '# precious\\n'); "
    "import os; os.replace({file!r} + '~', {file!r})"
)
SAVE_OF_EQUAL_SIZE = (
    "text = open({file!r}).read(); open({file!r}, 'w').write(text.replace('exact', 'EXACT'))"
)
SAVE_NOTHING = "open({file!r}, 'w').close()"


@pytest.mark.parametrize(
    "save",
    [SAVE_IN_PLACE, SAVE_BY_RENAMING, SAVE_OF_EQUAL_SIZE, SAVE_NOTHING],
    ids=["in-place", "renaming", "equal-size", "emptied"],
)
def test_update_does_not_overwrite_what_was_saved_meanwhile(
    project: Project, tally: Tally, save: str
) -> None:
    """While it imports the code of the backend, which takes as long as it takes."""
    code = save.format(file=str(project.file))
    project.write(
        "tools.py", f"{code}\nimport os; os.utime({str(project.file)!r}, (1, 1))\n{text(TOOLS)}"
    )
    os.utime(project.file, (1, 1))

    found = project.update()

    tally.add("it was changed during the update" in found, found)
    saved = project.file.read_text()
    tally.add(saved not in (project.before, project.after), saved)
    tally.add(project.others() == set(), project.others())


def test_update_does_not_bring_back_a_file_that_was_removed(project: Project, tally: Tally) -> None:
    project.write("tools.py", f"import os; os.unlink({str(project.file)!r})\n{text(TOOLS)}")
    found = project.update()
    tally.add("cannot be written" in found and not project.file.exists(), found)


def test_update_keeps_permissions(project: Project, tally: Tally) -> None:
    for mode in (0o644, 0o600, 0o777):
        project.file.write_text(project.before)
        project.file.chmod(mode)
        tally.add(project.update() == "written", oct(mode))
        tally.add(stat.S_IMODE(project.file.stat().st_mode) == mode, oct(mode))


def test_update_keeps_links(project: Project, tally: Tally) -> None:
    """Symbolic ones, one after another, and other names of the file."""
    first, second, name = (project.folder / each for each in ("first", "second", "name"))
    first.symlink_to(project.file)
    second.symlink_to("first")
    os.link(project.file, name)
    found = project.update(second)
    tally.add(found == "written", found)
    tally.add(first.is_symlink() and second.is_symlink(), "links")
    tally.add(project.file.samefile(name), "other name")
    tally.add(project.file.read_text() == project.after, "content")
