"""Files turned against the update tool."""

from __future__ import annotations

import ctypes
import os
import random
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core.testing import write_distribution
from tests.cli.test_update import BLEND, BLUR, HEAD, INIT, TOOLS, text

if TYPE_CHECKING:
    from tests.attacks.conftest import Tally

fcntl = pytest.importorskip("fcntl")
resource = pytest.importorskip("resource", reason="Windows has no such limits and files")

CORE = Path(spatch_core.__file__).parents[1]
GROUP = "filelib.backends"
TOML = """\
name = "{name}"
primary_types = ["builtins:str"]
[functions."filelib:double"]
function = "{name}.code:double"
"""

DISCOVER = f"""
import sys
from spatch_core import BackendSystem

system = BackendSystem({GROUP!r}, "FILELIB", ["builtins:float"])
print(*[f"{{name}} {{len(each.functions)}}" for name, each in system.backends.items()])
"""

_DROP_FROM_BOUNDING_SET = 24


def install(site: Path, name: str, content: str = TOML) -> Path:
    """Install a backend; return its file."""
    write_distribution(
        site,
        f"{name}-dist",
        entry_points={GROUP: {name: f"{name}:backend.toml"}},
        files={f"{name}/__init__.py": "", f"{name}/backend.toml": content.replace("{name}", name)},
    )
    return site / name / "backend.toml"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install(folder, "loud")
    return folder


def run(
    site: Path,
    code: str = DISCOVER,
    prepare: Callable[[], None] | None = None,
    cwd: Path | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that finds the backends; a hang is an error."""
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{CORE}", **variables}
    return subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", code],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        preexec_fn=prepare,
        cwd=cwd,
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

    def update(self, path: Path | None = None, code: str = UPDATE, **options: Any) -> str:
        done = run(
            self.folder,
            f"import sys; sys.argv = ['', {str(path or self.file)!r}]\n{code}",
            **options,
        )
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
@pytest.mark.parametrize("links", [1, 2])
def test_update_does_not_overwrite_what_was_saved_meanwhile(
    project: Project, tally: Tally, save: str, links: int
) -> None:
    """While it imports the code of the backend, which takes as long as it takes."""
    if links == 2:
        os.link(project.file, project.folder / "other")
    status = project.file.stat()
    code = save.format(file=str(project.file))
    project.write(
        "tools.py", f"{code}\nimport os; os.utime({str(project.file)!r}, (1, 1))\n{text(TOOLS)}"
    )
    os.utime(project.file, (1, 1))

    found = project.update()

    tally.add("it was changed during the update" in found, found)
    saved = project.file.read_text()
    tally.add(saved not in (project.before, project.after), saved)
    tally.add(links == 1 or project.file.stat().st_ino == status.st_ino or "~" in save, "inode")
    tally.add(project.others() == set(), project.others())


def test_update_does_not_bring_back_a_file_that_was_removed(project: Project, tally: Tally) -> None:
    project.write("tools.py", f"import os; os.unlink({str(project.file)!r})\n{text(TOOLS)}")
    found = project.update()
    tally.add("cannot be written" in found and not project.file.exists(), found)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("may_give", [True, False], ids=["root", "no-root"])
@pytest.mark.parametrize("mode", [0o644, 0o600, 0o4755, 0o2664, 0o777])
def test_update_keeps_owner_and_permissions(
    project: Project, tally: Tally, mode: int, may_give: bool
) -> None:
    """Also where it may not give the file to its owner."""

    def give_nothing() -> None:
        ctypes.CDLL(None).prctl(_DROP_FROM_BOUNDING_SET, 0, 0, 0, 0)  # CAP_CHOWN

    os.chown(project.file, 12345, 23456)
    project.file.chmod(mode)
    found = project.update(prepare=None if may_give else give_nothing)
    status = project.file.stat()
    tally.add(found == "written", found)
    tally.add((status.st_uid, status.st_gid) == (12345, 23456), status)
    # Writing to a file takes these bits away, whoever does it.
    lost = 0 if may_give else stat.S_ISUID | stat.S_ISGID
    tally.add((stat.S_IMODE(status.st_mode) ^ mode) & ~lost == 0, oct(status.st_mode))
    tally.add(project.file.read_text() == project.after, "content")
    tally.add(project.others() == set(), project.others())


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


@pytest.mark.parametrize("links", [1, 2])
def test_update_on_a_full_disk_changes_nothing(
    project: Project, tally: Tally, scale: int, links: int
) -> None:
    if links == 2:
        os.link(project.file, project.folder / "other")
    sizes = [len(project.before), len(project.after) - 1]
    for limit in [*sizes, *random.Random(3).sample(range(*sizes), min(scale, 100))][-2 * scale :]:
        # Set only now, because the answer of the child that imports the code takes a file, too.
        code = UPDATE.replace(
            "update =",
            "from spatch_core.examination import update as module, replacement\n"
            f"import resource; write = module.replace_content\n"
            "def replace(*given):\n"
            f"    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
            "    write(*given)\n"
            "module.replace_content = replace\n"
            "update =",
        )
        found = project.update(code=code)
        tally.add("it cannot be written" in found, found)
        tally.add(project.file.read_text() == project.before, "content")
        tally.add(project.others() == set(), project.others())


KILL_UPDATE = """
import os, signal

count, writes = int(os.environ["KILL_AT"]), False
def watch(event, arguments):
    global count, writes
    path = str(arguments[0]) if arguments else ""
    writes |= event == "open" and path.endswith("backend.toml") and "+" in str(arguments[1])
    if writes and event.startswith(("os.", "open")):
        count -= 1
        if count == -1:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
from spatch_core.examination import replacement
for name in ("fsync", "fchmod"):
    def wrapped(*given, _call=getattr(os, name), _name=name):
        sys.audit(f"os.{_name}", "")
        return _call(*given)
    setattr(os, name, wrapped)
"""


def test_update_that_is_killed_leaves_the_old_or_the_new_file(
    project: Project, tally: Tally, scale: int
) -> None:
    """It may leave a draft, which the next one removes."""
    drafts = 0
    for number in range(0, 1000, 1 if scale > 1 else 4):
        project.file.write_text(project.before)
        found = project.update(code=KILL_UPDATE + UPDATE, KILL_AT=str(number))
        if found:
            tally.add(found == "written", found)
            break
        content = project.file.read_text()
        tally.add(content in (project.before, project.after), content)
        left = project.others()
        drafts += bool(left)
        tally.add(all(each.endswith(".spatch-core-draft") for each in left), left)
        if left:
            tally.add(project.update() == "written", "the next one")
            tally.add(project.others() == set(), project.others())
    else:
        raise AssertionError("it was killed every time")
    assert drafts, "it was never killed while there was a draft"


def test_updates_in_many_processes(project: Project, tally: Tally, scale: int) -> None:
    """Each writes the file, or says that it was changed; nothing is left."""
    for _ in range(scale):
        project.file.write_text(project.before)
        with ThreadPoolExecutor(4) as pool:
            for found in pool.map(lambda _: project.update(), range(4)):
                tally.add(found in ("written", "[]") or "changed during the update" in found, found)
        tally.add(project.file.read_text() == project.after, project.file.read_text())
        tally.add(project.others() == set(), project.others())
