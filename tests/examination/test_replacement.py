"""Replacing the content of a file; `tests/attacks/test_files.py` has the attacks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from spatch_core.examination.replacement import (
    ChangedMeanwhileError,
    remove_drafts,
    replace_content,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "backend.toml"
    path.write_bytes(b"before")
    return path


@pytest.mark.parametrize("has_unnamed", [True, False])
def test_the_content_is_replaced(
    file: Path, monkeypatch: pytest.MonkeyPatch, has_unnamed: bool
) -> None:
    """It works with and without nameless files."""
    if not has_unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    file.chmod(0o640)
    replace_content(file, b"before", b"afterwards")
    assert file.read_bytes() == b"afterwards"
    assert os.listdir(file.parent) == ["backend.toml"]
    if sys.platform != "win32":
        assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("names", [1, 2])
def test_other_content_is_not_replaced(file: Path, names: int) -> None:
    if names == 2:
        os.link(file, file.with_name("other"))
    with pytest.raises(ChangedMeanwhileError):
        replace_content(file, b"earlier", b"afterwards")
    assert file.read_bytes() == b"before"
    assert len(os.listdir(file.parent)) == names


def test_all_names_of_a_file_have_the_new_content(file: Path) -> None:
    """The new content may be shorter."""
    other = file.with_name("other")
    os.link(file, other)
    replace_content(file, b"before", b"new")
    assert (file.read_bytes(), other.read_bytes()) == (b"new", b"new")
    assert file.samefile(other)


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        replace_content(tmp_path / "file", b"", b"new")
    remove_drafts(tmp_path / "folder" / "file")
    assert not any(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
@pytest.mark.parametrize("names", [1, 2])
def test_what_cannot_be_written_leaves_the_old_content(file: Path, names: int) -> None:
    import resource

    if names == 2:
        os.link(file, file.with_name("other"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, limits[1]))
    try:
        with pytest.raises(OSError, match="large"):
            replace_content(file, b"before", b"longer than 8 bytes")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file.read_bytes() == b"before"
    assert len(os.listdir(file.parent)) == names


@pytest.mark.skipif(sys.platform == "win32", reason="locks no drafts")
def test_drafts_are_removed_unless_their_process_is_alive(file: Path) -> None:
    import fcntl

    left, alive, link, folder = (
        file.with_name(f".backend.toml.{digit * 16}.spatch-core-draft") for digit in "abcd"
    )
    left.write_bytes(b"half")
    link.symlink_to(file)
    folder.mkdir()
    with open(alive, "wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        remove_drafts(file)
    assert {each.name for each in (alive, link, folder, file)} == set(os.listdir(file.parent))
