"""A private folder; `tests/attacks/test_files.py` has the attacks on it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from spatch_core._discovery.private_folder import HEADER, TAG, TAG_TEXT, PrivateFolder, opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path


def is_own(path: Path) -> bool:
    with opened(str(path)) as folder:
        assert folder is not None
        return folder.is_own()


def test_an_empty_folder_gets_the_tag(folder: Path) -> None:
    assert is_own(folder)
    assert is_own(folder)
    assert [each.name for each in folder.iterdir()] == [TAG]
    assert (folder / TAG).read_bytes() == TAG_TEXT


@pytest.mark.parametrize("name", ["thesis.tex", "x.cache", "folder/", f"{TAG}.bak"])
def test_a_folder_with_other_things_does_not(folder: Path, name: str) -> None:
    if name.endswith("/"):
        (folder / name).mkdir()
    else:
        (folder / name).write_bytes(HEADER)

    assert not is_own(folder)
    assert not (folder / TAG).exists()


def test_a_draft_of_the_tag_that_a_killed_process_left_does_not_matter(folder: Path) -> None:
    (folder / f"{TAG}.0123456789abcdef.draft").touch()

    assert is_own(folder)


def test_the_header_is_no_part_of_the_content(folder: Path) -> None:
    with opened(str(folder)) as found:
        assert found is not None
        found.write("file", HEADER + b"content")
        assert found.read("file") == b"content"
        found.write("file", b"content")
        assert found.read("file") is None


def test_without_handles_of_folders_it_does_the_same(folder: Path) -> None:
    """As on Windows, where files are found by their paths."""
    found = PrivateFolder(str(folder), None)

    assert found.is_own()
    found.write("one.cache", HEADER + b"content")
    assert found.read("one.cache") == b"content"
    os.utime(folder / "one.cache", (0, 0))
    found.remove_unused()
    assert found.names() == [TAG]


@pytest.mark.skipif(sys.platform == "win32", reason="links take privileges")
def test_a_link_is_not_opened(folder: Path) -> None:
    (folder / "real").mkdir(mode=0o700)
    (folder / "link").symlink_to(folder / "real")

    with pytest.raises(OSError, match="link"), opened(str(folder / "link")):
        pass
