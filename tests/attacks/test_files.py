"""Files turned against the core: those of the cache, of backends, and of the update tool."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core._description.files import parse_toml
from spatch_core._discovery.cache import open_cache
from spatch_core._discovery.catalog_builder import build_catalog
from spatch_core._discovery.environment import read_environment
from spatch_core._discovery.private_folder import HEADER, TAG, TAG_TEXT
from spatch_core.testing import write_distribution
from tests.cli.test_update import BLEND, BLUR, HEAD, INIT, TOOLS, text

if TYPE_CHECKING:
    from tests.attacks.conftest import Tally

fcntl = pytest.importorskip("fcntl")
resource = pytest.importorskip("resource", reason="Windows has no such limits and files")

CORE = Path(spatch_core.__file__).parents[1]
GROUP = "filelib.backends"
AGE = 200 * 24 * 3600
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
FOUND = "default 0 loud 1"

_DROP_FROM_BOUNDING_SET, _CAP_DAC_OVERRIDE = 24, 1


def obey_permissions() -> None:
    """Let permissions hold for root too, as from the next program on."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DROP_FROM_BOUNDING_SET, _CAP_DAC_OVERRIDE, 0, 0, 0)


def old(path: Path) -> None:
    os.utime(path, (time.time() - AGE, time.time() - AGE), follow_symlinks=False)


def install(site: Path, name: str, content: str = TOML) -> Path:
    """Install a backend long ago; return its file."""
    write_distribution(
        site,
        f"{name}-dist",
        entry_points={GROUP: {name: f"{name}:backend.toml"}},
        files={f"{name}/__init__.py": "", f"{name}/backend.toml": content.replace("{name}", name)},
    )
    file = site / name / "backend.toml"
    old(file)
    return file


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install(folder, "loud")
    return folder


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Path:
    """The folder of caches that discovery has filled."""
    folder = tmp_path_factory.mktemp("filled")
    assert run(site, XDG_CACHE_HOME=str(folder)).stdout.strip() == FOUND
    return folder


def tree(*folders: Path) -> dict[str, object]:
    """Everything in folders: what it is, and what is in it."""
    found: dict[str, object] = {}
    for folder in folders:
        for path in [folder, *folder.rglob("*")]:
            status = path.lstat()
            content: object = status.st_mtime_ns
            if stat.S_ISREG(status.st_mode):
                content = (status.st_mtime_ns, path.read_bytes())
            elif stat.S_ISLNK(status.st_mode):
                content = str(path.readlink())
            elif stat.S_ISDIR(status.st_mode):
                content = None
            found[str(path)] = (status.st_mode, status.st_uid, status.st_ino, content)
    return found


def run(
    site: Path,
    code: str = DISCOVER,
    prepare: Callable[[], None] | None = None,
    cwd: Path | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that finds the backends; a hang is an error."""
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{CORE}", **variables}
    environment.pop("SPATCH_CORE_CACHE", None)
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


class Place:
    """A cache that discovery has filled, and things of the user beside it."""

    def __init__(self, tmp_path: Path, site: Path, filled: Path) -> None:
        self.site = site
        self.caches = tmp_path / "caches"
        self.folder = self.caches / "spatch-core"
        self.victim = tmp_path / "victim"
        self.victim.mkdir(mode=0o700)
        for name in ("letter.txt", "x-12345678.cache", "y.cache.0123456789abcdef.draft"):
            (self.victim / name).write_text("of the user")
            (self.victim / name).chmod(0o600)
            old(self.victim / name)
        shutil.copytree(filled, self.caches)
        (self.file,) = self.folder.glob("*.cache")

    def discover(self, **options: Any) -> str:
        done = run(self.site, **{"XDG_CACHE_HOME": str(self.caches), **options})
        return (done.stdout + done.stderr).strip()

    def entry(self, name: str, content: bytes = HEADER) -> Path:
        """Write a file that has not been used for long into the cache's folder."""
        path = self.folder / name
        path.write_bytes(content)
        path.chmod(0o600)
        old(path)
        return path


@pytest.fixture
def place(tmp_path: Path, site: Path, filled: Path) -> Place:
    return Place(tmp_path, site, filled)


# --- the cache: what it did not write -------------------------------------------------


def linked_folder(place: Place) -> None:
    shutil.rmtree(place.folder)
    place.folder.symlink_to(place.victim)


def linked_tagged_folder(place: Place) -> None:
    (place.victim / TAG).write_bytes(TAG_TEXT)
    linked_folder(place)


def dangling_folder(place: Place) -> None:
    shutil.rmtree(place.folder)
    place.folder.symlink_to(place.victim / "nothing")


def folder_of_the_user(place: Place) -> None:
    shutil.rmtree(place.folder)
    shutil.copytree(place.victim, place.folder)
    for each in place.folder.iterdir():
        old(each)


def folder_with_one_file(place: Place) -> None:
    shutil.rmtree(place.folder)
    place.folder.mkdir(mode=0o700)
    (place.folder / "thesis.tex").write_text("years of work")
    old(place.folder / "thesis.tex")


def folder_with_another_tag(place: Place) -> None:
    folder_with_one_file(place)
    (place.folder / TAG).write_bytes(TAG_TEXT[:43])


def folder_that_others_write_to(place: Place) -> None:
    place.entry("old.cache")
    place.folder.chmod(0o777)


def folder_that_a_group_writes_to(place: Place) -> None:
    place.entry("old.cache")
    place.folder.chmod(0o770)


def folder_of_another_user(place: Place) -> None:
    place.entry("old.cache")
    os.chown(place.folder, 12345, 12345)


def tag_of_another_user(place: Place) -> None:
    place.file.unlink()
    place.entry("old.cache")
    os.chown(place.folder / TAG, 12345, 12345)


def tag_that_is_a_link(place: Place) -> None:
    place.file.unlink()
    (place.folder / TAG).rename(place.victim / TAG)
    (place.folder / TAG).symlink_to(place.victim / TAG)


def tag_that_is_a_pipe(place: Place) -> None:
    place.file.unlink()
    (place.folder / TAG).unlink()
    os.mkfifo(place.folder / TAG)


def pipe_as_entry(place: Place) -> None:
    place.file.unlink()
    os.mkfifo(place.file, 0o600)


def socket_as_entry(place: Place) -> None:
    place.file.unlink()
    here = os.open(".", os.O_RDONLY)
    os.chdir(place.folder)  # the path of a socket is short
    try:
        with closing(socket.socket(socket.AF_UNIX)) as found:
            found.bind(place.file.name)
    finally:
        os.fchdir(here)
        os.close(here)
    place.file.chmod(0o600)


def device_as_entry(place: Place) -> None:
    place.file.unlink()
    os.mknod(place.file, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # /dev/zero


def folder_as_entry(place: Place) -> None:
    place.file.unlink()
    place.file.mkdir(mode=0o700)
    old(place.file)


def file_as_caches(place: Place) -> None:
    shutil.rmtree(place.caches)
    place.caches.write_text("a file")


ROOT_ALONE = {folder_of_another_user, tag_of_another_user, device_as_entry}

UNTOUCHED = [
    linked_folder,
    linked_tagged_folder,
    dangling_folder,
    folder_of_the_user,
    folder_with_one_file,
    folder_with_another_tag,
    folder_that_others_write_to,
    folder_that_a_group_writes_to,
    folder_of_another_user,
    tag_of_another_user,
    tag_that_is_a_link,
    tag_that_is_a_pipe,
    pipe_as_entry,
    socket_as_entry,
    device_as_entry,
    folder_as_entry,
    file_as_caches,
]


@pytest.mark.parametrize("attack", UNTOUCHED, ids=lambda each: each.__name__)
def test_what_the_cache_did_not_make_stays_as_it_is(
    place: Place, tally: Tally, scale: int, attack: Callable[[Place], None]
) -> None:
    """Neither is anything removed or written, nor does discovery wait or warn."""
    if attack in ROOT_ALONE and os.geteuid() != 0:
        pytest.skip("only root can prepare it")
    attack(place)
    before = tree(place.caches, place.victim)
    for _ in range(min(scale, 2)):
        found = place.discover()
        tally.add(found == FOUND, found)
        after = tree(place.caches, place.victim)
        tally.add(before == after, set(before.items()) ^ set(after.items()))


def of_other_programs(place: Place) -> None:
    for name in ("notes.txt", "report-20240101", "data.json", ".hidden", "x.cache.bak", "cache"):
        place.entry(name, HEADER)
    for name in ("theirs-12345678.cache", "empty.cache", "y.cache.0123456789abcdef.draft"):
        place.entry(name, b"" if name == "empty.cache" else b"{}")


def links_with_names_of_entries(place: Place) -> None:
    target = place.victim / "target"
    target.write_bytes(HEADER)
    target.chmod(0o600)
    (place.folder / "link-12345678.cache").symlink_to(target)
    (place.folder / "folder-12345678.cache").symlink_to(place.victim)
    for name in ("link-12345678.cache", "folder-12345678.cache"):
        old(place.folder / name)


def others_with_names_of_entries(place: Place) -> None:
    for number in range(3):
        os.mkfifo(place.folder / f"pipe{number}.cache", 0o600)
        old(place.folder / f"pipe{number}.cache")
        (place.folder / f"folder{number}.cache").mkdir(mode=0o700)
        old(place.folder / f"folder{number}.cache")


def many_of_other_programs(place: Place) -> None:
    for number in range(200):
        place.entry(f"{number}.txt")


@pytest.mark.parametrize(
    "attack",
    [
        of_other_programs,
        links_with_names_of_entries,
        others_with_names_of_entries,
        many_of_other_programs,
    ],
    ids=lambda each: each.__name__,
)
def test_cleaning_removes_only_what_the_cache_wrote(
    place: Place, tally: Tally, attack: Callable[[Place], None]
) -> None:
    """A name and a header of its own are needed, in a regular file."""
    attack(place)
    kept = tree(place.caches, place.victim)
    kept.pop(str(place.file))
    gone = [place.entry("gone-12345678.cache"), place.entry("x.cache.0123456789abcdea.draft")]
    place.file.unlink()

    tally.add(place.discover() == FOUND, "discovery")
    after = tree(place.caches, place.victim)
    for path, what in kept.items():
        tally.add(after.get(path) == what, path)
    for each in gone:
        tally.add(not each.exists(), each)
    tally.add(place.file.exists(), "the new entry")


def link_to_a_file(place: Place) -> None:
    place.file.unlink()
    place.file.symlink_to(place.victim / "letter.txt")


def link_to_nothing(place: Place) -> None:
    place.file.unlink()
    place.file.symlink_to(place.victim / "created")


def link_to_the_entry(place: Place) -> None:
    place.file.rename(place.victim / "moved")
    place.file.symlink_to(place.victim / "moved")


def hard_link(place: Place) -> None:
    place.file.unlink()
    os.link(place.victim / "letter.txt", place.file)


def hard_link_of_the_entry(place: Place) -> None:
    old(place.file)
    os.link(place.file, place.victim / "other name")
    place.file.write_bytes(place.file.read_bytes()[:-1])


@pytest.mark.parametrize(
    "attack",
    [link_to_a_file, link_to_nothing, link_to_the_entry, hard_link, hard_link_of_the_entry],
    ids=lambda each: each.__name__,
)
def test_a_link_in_place_of_the_entry_leads_to_no_harm(
    place: Place, tally: Tally, attack: Callable[[Place], None]
) -> None:
    """The file it leads to is neither read nor written; the entry takes the place of the link."""
    attack(place)
    before = tree(place.victim)
    for _ in range(2):
        found = place.discover()
        tally.add(found == FOUND, found)
        tally.add(tree(place.victim) == before, tree(place.victim))


@pytest.mark.parametrize("value", ["", "relative", ".", "~"])
def test_a_folder_that_is_not_absolute_is_not_used(
    place: Place, tally: Tally, tmp_path: Path, value: str
) -> None:
    here = tmp_path / "here"
    shutil.copytree(place.victim, here / "spatch-core")
    shutil.copytree(place.victim, here / "relative" / "spatch-core")
    before = tree(here)
    for home in ("", "relative", str(place.caches)):
        found = place.discover(XDG_CACHE_HOME=value, HOME=home, cwd=here)
        tally.add(found == FOUND, found)
        tally.add(tree(here) == before, set(tree(here)) ^ set(before))


def test_no_folder_breaks_a_call(place: Place, tally: Tally, tmp_path: Path) -> None:
    """Too deep, too long, a file, a device, of the kernel, or of bytes that are no text."""
    deep = tmp_path / "deep"
    for folder in (
        f"{deep}{'/a' * 1200}",
        f"{tmp_path}/{'a' * 300}",
        f"{tmp_path}{'/a' * 3000}",
        f"{tmp_path}/x/../y/./z//",
        "/dev/null",
        "/dev/full/x",
        "/proc/self",
        "/proc/self/fd",
        os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n"),
    ):
        found = place.discover(XDG_CACHE_HOME=folder)
        tally.add(found == FOUND, (folder[:80], found))
    shutil.rmtree(place.caches)
    # Python itself removes no folders that are so deep.
    subprocess.run(["rm", "-rf", str(deep)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are those of Linux")
@pytest.mark.parametrize("mode", [0o500, 0o400, 0o000])
def test_a_folder_without_permissions_is_not_used(place: Place, tally: Tally, mode: int) -> None:
    place.file.unlink()
    for path, left in ((place.folder, [TAG]), (place.caches, [])):
        path.chmod(mode)
        found = place.discover(prepare=obey_permissions)
        path.chmod(0o700)
        tally.add(found == FOUND, found)
        tally.add([each.name for each in path.iterdir()] == left, mode)
        shutil.rmtree(place.folder, ignore_errors=True)


@pytest.mark.parametrize("clock", ["0.0", "-1e9", "1e18", "float('inf')", "float('nan')"])
def test_a_clock_that_jumps_breaks_nothing(place: Place, tally: Tally, clock: str) -> None:
    """Neither while it is wrong, nor afterwards."""
    jump = f"""
import time
time.time = lambda: {clock}
if time.time() - time.time() == 0:  # neither infinite nor NaN
    time.time_ns = lambda: int({clock}) * 10**9
"""
    for code in (jump + DISCOVER, DISCOVER) * 2:
        found = place.discover(code=code)
        tally.add(found == FOUND, (clock, found))


def test_a_full_disk_leaves_no_draft(place: Place, tally: Tally, scale: int) -> None:
    """Whatever could not be written whole is removed, and the next process writes it."""
    size = place.file.stat().st_size
    limits = sorted({0, 1, 20, size - 1, *random.Random(1).sample(range(size), min(size, scale))})
    for limit in limits:
        shutil.rmtree(place.caches)

        def fill(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        found = place.discover(prepare=fill)
        left = {each.name for each in place.caches.rglob("*")} - {"spatch-core", TAG}
        tally.add(found == FOUND and not left, (limit, found, left))
        place.discover()
        tally.add(place.file.exists(), f"not written after {limit}")


# --- the cache: processes --------------------------------------------------------------

KILL = """
import os, signal, sys

count = int(os.environ["KILL_AT"])
def watch(event, arguments):
    global count
    path = str(arguments[0]) if event == "open" else ""
    is_file = ".cache" in path or "CACHEDIR" in path or path.endswith("/spatch-core")
    if is_file or event in ("os.mkdir", "os.rename", "os.remove"):
        count -= 1
        if count == -1:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
"""


def test_a_process_that_is_killed_leaves_a_cache_that_works(
    place: Place, tally: Tally, scale: int
) -> None:
    """Killed at each operation on files in turn; the next process fills the cache."""
    for number in range(200):
        shutil.rmtree(place.caches, ignore_errors=True)
        done = run(
            place.site, KILL + DISCOVER, XDG_CACHE_HOME=str(place.caches), KILL_AT=str(number)
        )
        if done.returncode != -signal.SIGKILL:
            tally.add(done.stdout.strip() == FOUND, done)
            break
        if number % 4 and scale == 1:
            continue
        found = place.discover()
        tally.add(found == FOUND, found)
        tally.add(place.file.exists(), f"no entry after operation {number}")
        drafts = [each for each in place.folder.iterdir() if each.suffix == ".draft"]
        tally.add(len(drafts) <= 1, drafts)
    else:
        raise AssertionError("it was killed every time")


MANY = f"""
import os, random, sys
from spatch_core import BackendSystem
from spatch_core._discovery import private_folder

private_folder._MOST = 3
for number in range(int(os.environ["ROUNDS"])):
    system = BackendSystem({GROUP!r} if number % 2 else random.choice("abcdef"), "FILELIB")
    names = list(system.backends)
    assert names == (["default", "loud"] if number % 2 else ["default"]), names
    for each in os.listdir(FOLDER := os.path.join(os.environ["XDG_CACHE_HOME"], "spatch-core")):
        if each.endswith(".cache") and random.random() < 0.2:
            try:
                os.unlink(os.path.join(FOLDER, each))
            except FileNotFoundError:
                pass
print("held")
"""


def test_writers_and_cleaners_in_many_processes(place: Place, tally: Tally, scale: int) -> None:
    """Each finds its backends, and at the end nothing is left that does not belong there."""
    theirs = place.entry("letter.txt", b"of the user")
    rounds, processes = 30 * scale, 4

    def one(_: int) -> subprocess.CompletedProcess[str]:
        return run(place.site, MANY, XDG_CACHE_HOME=str(place.caches), ROUNDS=str(rounds))

    with ThreadPoolExecutor(processes) as pool:
        for done in pool.map(one, range(processes)):
            held = done.stdout.strip() == "held"
            tally.add_many(rounds, rounds if held else 0, done.stderr[-500:])
    tally.add(theirs.read_bytes() == b"of the user", "a file of the user")
    tally.add(not list(place.folder.glob("*.draft")), "drafts")
    tally.add(place.discover() == FOUND, "at the end")


# --- the cache: its content ------------------------------------------------------------


@pytest.fixture
def here(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The cache, for this process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.caches))
    monkeypatch.delenv("SPATCH_CORE_CACHE", raising=False)
    monkeypatch.syspath_prepend(place.site)
    return place


def functions(group: str = GROUP) -> object:
    found = BackendSystem(group, "FILELIB", ["builtins:float"]).backends
    return {name: {**each.functions} for name, each in found.items() if name != "default"}


def test_any_change_of_an_entry_is_noticed(here: Place, tally: Tally, scale: int) -> None:
    """Bytes that are changed, cut off, doubled or inserted at random places."""
    content = here.file.read_bytes()
    expected = functions()
    chance = random.Random(2)
    for _ in range(100 * scale):
        place = chance.randrange(len(content))
        piece = bytes(chance.randrange(256) for _ in range(chance.choice([1, 1, 5])))
        changed = [
            content[:place],
            content[:place] + piece + content[place + len(piece) :],
            content[:place] + piece + content[place:],
            content + content[place:],
        ][chance.randrange(4)]
        here.file.write_bytes(changed)
        tally.add(functions() == expected, changed)


def signed(*lines: bytes) -> bytes:
    """An entry whose checksum is right."""
    from binascii import crc32

    content = b"\n".join(lines)
    return HEADER + b"%08x\n" % crc32(content) + content


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n" * 100_000,
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"9" * 100_000,
        b'{"key":' + b"1" * 10_000 + b"}",
        b'{"key": [], "files": {}}',
        b"\xff\xfe\x00" * 1000,
        b'"' + b"\\u0000" * 100_000 + b'"',
        b"NaN",
    ],
    ids=lambda each: repr(each[:12]),
)
def test_content_that_is_no_entry_is_ignored(here: Place, tally: Tally, text: bytes) -> None:
    """Also where its checksum is right."""
    expected = functions()
    head, *lines = here.file.read_bytes().split(b"\n")[1:]
    for forged in (
        text,
        HEADER + text,
        signed(text),
        signed(text, *lines),
        signed(head, text),
        signed(head, *lines, text),
    ):
        here.file.write_bytes(forged)
        tally.add(functions() == expected, forged[:80])


def test_an_entry_of_another_version_is_ignored(here: Place, tally: Tally) -> None:
    """What it says is not believed, even if its checksum is right."""
    expected = functions()
    _, head, *lines = here.file.read_bytes().split(b"\n")
    version = spatch_core.__version__.encode()
    assert version in head
    for other in (b"0", b"99.0.0", version + b"1", b""):
        forged = [each.replace(b"double", b"triple") for each in (head, *lines)]
        here.file.write_bytes(signed(forged[0].replace(version, other), *forged[1:]))
        tally.add(functions() == expected, other)


def test_a_huge_entry_is_not_read(here: Place, tally: Tally) -> None:
    """A sparse file of a gigabyte."""
    expected = functions()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with here.file.open("r+b") as stream:
        stream.truncate(2**30)
    tally.add(functions() == expected, "functions")
    kilobytes = 1024 if sys.platform == "linux" else 1024 * 1024
    tally.add(
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * kilobytes, "memory"
    )


@pytest.mark.parametrize(
    "group",
    ["../../outside", "/tmp/outside", "a/b", "..", ".", "a\\b", "x" * 5000, "C:x", "ä\n", "~", "-"],
)
def test_no_name_of_a_group_leads_out_of_the_folder(
    here: Place, tally: Tally, tmp_path: Path, group: str
) -> None:
    write_distribution(here.site, "out-dist", files={"out/b.toml": TOML.replace("{name}", "out")})
    old(here.site / "out" / "b.toml")
    before = set(tree(tmp_path))
    cache = open_cache(group, os.environ)
    assert cache is not None
    point = EntryPoint("out", "out:b.toml", group)
    build_catalog([point], (), (), read_environment("FILELIB", {}), cache=cache)
    new = set(tree(tmp_path)) - before
    tally.add(len(new) == 1 and all(Path(each).parent == here.folder for each in new), new)


# --- TOML that is large, or deep ---------------------------------------------------------

DEEP = 20_000
BOMBS = {
    "dotted-key": "a." * DEEP + "a = 1\n",
    "dotted-key-with-spaces": "a . " * (DEEP // 2) + "a = 1\n",
    "quoted-key": '"a".' * (DEEP // 2) + "a = 1\n",
    "literal-key": "''." * (DEEP // 2) + "a = 1\n",
    "header": "[" + "a." * DEEP + "a]\n",
    "array-of-tables": "[[" + "a." * DEEP + "a]]\n",
    "key-of-an-inline-table": "b = {" + "a." * DEEP + "a = 1}\n",
    "key-below-a-header": "[functions]\n" + "a." * DEEP + "a = 1\n",
    "key-after-a-string": 'b = """\n"""\n' + "a." * DEEP + "a = 1\n",
    "arrays": "a = " + "[" * DEEP + "]" * DEEP,
    "inline-tables": "a = " + "{a=" * DEEP + "1" + "}" * DEEP,
    "arrays-and-tables": "a = " + "[{a=" * (DEEP // 2) + "1" + "}]" * (DEEP // 2),
    "open-arrays": "a = " + "[" * DEEP,
    "many-tables": "".join(f"[a{number}]\n" for number in range(DEEP // 4)),
    "many-keys": "".join(f"k{number}" + ".a" * 30 + " = 1\n" for number in range(DEEP // 30)),
    "long-key": f"[{'k' * DEEP}]\n" + "".join(f"a{number} = 1\n" for number in range(DEEP // 10)),
    "long-string": f"name = '{'x' * 2 * DEEP}'\n",
    "long-number": f"name = {'1' * 2 * DEEP}\n",
    "many-types": f"name = 'bomb'\nprimary_types = [{'1,' * DEEP}]\n",
    "large": "# comment\n" * 300_000,
    "huge": "",  # a sparse file of a gigabyte
}
MEMORY = 400 * 1024 * 1024
"""An interpreter with the command line takes half of it."""


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def plant(folder: Path, bomb: str) -> Path:
    """Install a backend with such a file."""
    file = install(folder, "bomb", "")
    file.write_text(BOMBS[bomb])
    if bomb == "huge":
        os.truncate(file, 2**30)
    return file


EXAMINE = """
from spatch_core.examination import update_file, verify_file

print([each.backend for each in system.problems][:1])
for examine in (verify_file, update_file):
    assert examine(sys.argv[1]).findings[0].line
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
def test_no_file_takes_much_memory(site: Path, tmp_path: Path, tally: Tally, scale: int) -> None:
    """Neither where backends are discovered, nor where the file is examined."""
    names = list(BOMBS)
    for bomb in names if scale > 1 else names[::4]:
        folder = tmp_path / bomb
        file = plant(folder, bomb)
        done = run(
            site,
            "import sys, warnings; warnings.simplefilter('ignore')\n"
            f"sys.path.append({str(folder)!r}); sys.argv = ['', {str(file)!r}]\n"
            f"{DISCOVER}{EXAMINE}",
            limit_memory,
            SPATCH_CORE_CACHE="off",
        )
        found = done.stdout.splitlines()
        tally.add_many(3, 3 * (found == [FOUND, "['bomb']"] and not done.stderr), (bomb, done))


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
def test_no_archive_takes_much_memory(site: Path, tmp_path: Path, tally: Tally) -> None:
    """A zip file of some hundred kilobytes in which the file of a backend has 400 MB."""
    folder, archive = tmp_path / "bomb", tmp_path / "bomb.zip"
    install(folder, "bomb", "")
    shutil.rmtree(folder / "bomb")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as opened:
        opened.writestr("bomb/__init__.py", "")
        with opened.open("bomb/backend.toml", "w") as stream:
            for _ in range(400):
                stream.write(b"#" * 2**20)
    found = run(
        site,
        "import sys, warnings; warnings.simplefilter('ignore')\n"
        f"sys.path += {[str(folder), str(archive)]!r}\n"
        f"{DISCOVER}\nprint([each.message for each in system.problems])\n",
        limit_memory,
        SPATCH_CORE_CACHE="off",
    )
    told = "['it is not parsed: it has more than 2,097,152 bytes']"
    tally.add(found.stdout.splitlines() == [FOUND, told] and not found.stderr, found)


def test_a_file_that_is_too_deep_is_reported_with_its_line(tmp_path: Path, tally: Tally) -> None:
    """Also in the discovery; and what only looks like a long key is none."""
    dots = "a." * 40 + "a"
    for content, place in (
        (f"name = 'bomb'\n{dots} = 1", "(at line 2, column 1)"),
        (f"name = 'bomb'\nb = {{ c = 1, {dots} = 1}}", "(at line 2, column 13)"),
        (f"b = '''\n\n'''\n[{dots}]", "(at line 4, column 2)"),
    ):
        with pytest.raises(ValueError, match="a key has more than 32 parts") as raised:
            parse_toml(content.encode())
        tally.add(str(raised.value).endswith(place), raised.value)
    for value in (f'"{dots}"', f"'{dots}'", f'"""\n{dots}\\""" {dots}"""', f"'''\n{dots}\n'''"):
        for content in (f"a = {value}", f"# {dots}\na = [\n{value}, # {dots}\n{value}]"):
            tally.add(bool(parse_toml(content.encode())), content)


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


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="Linux alone has them")
def test_update_keeps_extended_attributes(project: Project, tally: Tally) -> None:
    """Such as notes, labels and access control lists."""
    attributes = {"user.note": b"mine", "user.\u00e4": b"\xff"}
    # The owner may write, and a further user read.
    entries = [(1, 6, -1), (2, 4, 12345), (4, 4, -1), (16, 4, -1), (32, 0, -1)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *each) for each in entries)
    attributes["system.posix_acl_access"] = acl
    kept = {}
    for name, value in attributes.items():
        with suppress(OSError):  # the file system has none
            os.setxattr(project.file, name, value)
            kept[name] = value
    if not kept:
        pytest.skip("the file system has no extended attributes")
    found = project.update()
    tally.add(found == "written", found)
    for name, value in kept.items():
        tally.add(os.getxattr(project.file, name) == value, name)


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
    writes |= event == "os.listdir" and path.endswith("paint_oil")
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
    """And a draft only if it was killed between giving it a name and renaming it."""
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
    if hasattr(os, "O_TMPFILE"):
        tally.add(drafts <= 2, drafts)  # before the last look at the file, and after it


def test_update_removes_only_its_own_drafts(project: Project, tally: Tally) -> None:
    """Not those of another file, of another process that is at work, nor anything else."""
    own = "0123456789abcdef.spatch-core-draft"
    abandoned = project.package / f".backend.toml.{own}"
    abandoned.touch()
    locked = project.package / f".backend.toml.1{own[1:]}"
    kept = [f".backend.toml.{each}" for each in ("draft", "swp", f"x{own}", f"{own}.bak", own[1:])]
    kept += [f".other.toml.{own}", f"backend.toml.{own}", f".backend_toml.{own}"]
    for name in kept:
        (project.package / name).touch()
    special = [f".backend.toml.{number}{own[1:]}" for number in range(2, 5)]
    (project.package / special[0]).symlink_to(abandoned)
    (project.package / special[1]).mkdir()
    os.mkfifo(project.package / special[2])
    with locked.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        found = project.update()
    tally.add(found == "written", found)
    expected = {*kept, *special, locked.name}
    tally.add_many(len(expected), len(expected & project.others()), expected ^ project.others())
    tally.add(not abandoned.exists(), "the abandoned one")


def test_updates_in_many_processes(project: Project, tally: Tally, scale: int) -> None:
    """Each writes the file, or says that it was changed; nothing is left."""
    for _ in range(scale):
        project.file.write_text(project.before)
        with ThreadPoolExecutor(4) as pool:
            for found in pool.map(lambda _: project.update(), range(4)):
                tally.add(found in ("written", "[]") or "changed during the update" in found, found)
        tally.add(project.file.read_text() == project.after, project.file.read_text())
        tally.add(project.others() == set(), project.others())
