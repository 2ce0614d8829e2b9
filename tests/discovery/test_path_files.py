"""Path files of backends that were installed in editable mode since Python started."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, EntryPoint, PathDistribution
from pathlib import Path
from typing import Any

import pytest

from spatch_core._discovery.environment import read_environment
from spatch_core._discovery.path_files import path_files, read_path_files
from spatch_core.testing import write_distribution

ENVIRONMENT = read_environment("PATHLIB", {})


def installed(folder: Path, **files: str) -> PathDistribution:
    written = write_distribution(folder, "pathlib-gpu", files=files)
    return PathDistribution(written.metadata)


def entry_point(distribution: Distribution, value: str) -> Any:
    made: Any = EntryPoint("gpu", value, "pathlib.backends")
    vars(made).update(dist=distribution)
    return made


def test_only_path_files_next_to_the_metadata_count(tmp_path: Path) -> None:
    """Python reads no other path files."""
    files = {"a.pth": "", "pathlib_gpu/b.pth": "", "c.py": ""}
    assert path_files(installed(tmp_path, **files)) == ["a.pth"]
    assert path_files(None) == []


@pytest.mark.parametrize("value", ["json:backend.toml", "no module:backend.toml"])
def test_path_files_of_packages_that_are_found_are_not_read(tmp_path: Path, value: str) -> None:
    """They were read when Python started."""
    distribution = installed(tmp_path, **{"a.pth": f"{tmp_path / 'elsewhere'}\n"})
    (tmp_path / "elsewhere").mkdir()
    before = list(sys.path)
    read_path_files([entry_point(distribution, value)], ENVIRONMENT)
    assert sys.path == before


def test_the_files_of_a_package_that_is_found_are_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large distribution has many thousands of them, and each is looked for on the disk."""
    distribution = installed(tmp_path, **{"a.pth": ""})
    listed = []
    read = PathDistribution.read_text

    def noted(self: PathDistribution, name: str) -> str | None:
        listed.append(name)
        return read(self, name)

    monkeypatch.setattr(PathDistribution, "read_text", noted)
    read_path_files([entry_point(distribution, "json:backend.toml")], ENVIRONMENT)
    assert listed == []


def test_a_finder_that_raises_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E1: discovery reports it."""

    class Broken:
        def find_spec(self, *args: object) -> None:
            raise OSError("the disk is gone")

    distribution = installed(tmp_path, **{"a.pth": f"{tmp_path}\n"})
    monkeypatch.setattr(sys, "meta_path", [Broken()])
    before = list(sys.path)
    read_path_files([entry_point(distribution, "pathlib_gpu:backend.toml")], ENVIRONMENT)
    assert sys.path == before


@pytest.mark.parametrize(
    "content",
    [b"import sys; sys.exit(3)\n", b"\xff\xfe/nowhere\n", b"\0\n", b"import no_such_module\n"],
    ids=["exit", "encoding", "null", "import"],
)
def test_a_path_file_that_fails_has_no_effect(tmp_path: Path, content: bytes) -> None:
    """E1: other path files are read, and discovery reports the backend."""
    sick = installed(tmp_path / "sick", **{"a.pth": ""})
    (tmp_path / "sick" / "a.pth").write_bytes(content)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    good = installed(tmp_path / "good", **{"b.pth": f"{elsewhere}\n"})
    before = list(sys.path)
    points = [entry_point(each, "pathlib_gpu:backend.toml") for each in (sick, good)]
    try:
        read_path_files(points, ENVIRONMENT)
        assert sys.path[len(before) :] == [str(elsewhere)]
    finally:
        sys.path[:] = before


def test_an_interrupt_in_a_path_file_passes_through(tmp_path: Path) -> None:
    distribution = installed(tmp_path, **{"a.pth": "import sys; raise KeyboardInterrupt\n"})
    with pytest.raises(KeyboardInterrupt):
        read_path_files([entry_point(distribution, "pathlib_gpu:backend.toml")], ENVIRONMENT)


def test_no_file_of_a_large_distribution_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its list may have hundreds of thousands of lines."""
    distribution = installed(tmp_path, **{"a.pth": ""})
    record = next(tmp_path.glob("*.dist-info")) / "RECORD"
    lines = [f"package/module{number}.py,," for number in range(1000)]
    more = ['"a, b.pth",,', "../c.pth,,", "package/d.pth,,", "e.pth.py,,"]
    record.write_text("\n".join([*record.read_text().splitlines(), *lines, *more]))
    looked_for: list[Path] = []

    def exists(self: Path) -> bool:
        looked_for.append(self)
        return True

    monkeypatch.setattr(Path, "exists", exists)
    assert path_files(distribution) == ["a.pth", "a, b.pth"]
    assert looked_for == []
