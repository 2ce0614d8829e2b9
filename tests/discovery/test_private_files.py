"""Private files of the user; `test_cache` has the tests of privacy and upkeep."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from spatch_core._discovery.private_files import read_private, user_folder, write_private
from spatch_core._discovery.private_folder import TAG

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.skipif(sys.platform == "win32", reason="it has no folders of these systems")
class TestUserFolder:
    """Each system has its own folder for caches."""

    @pytest.mark.parametrize(
        ("platform", "variables", "expected"),
        [
            ("linux", {"HOME": HERE}, f"{HERE}/.cache"),
            ("linux", {"HOME": HERE, "XDG_CACHE_HOME": "/x"}, "/x"),
            ("linux", {"HOME": HERE, "XDG_CACHE_HOME": "x"}, f"{HERE}/.cache"),
            ("linux", {"XDG_CACHE_HOME": "/x"}, "/x"),
            ("linux", {"HOME": "/no/such/folder"}, None),
            ("linux", {"HOME": ""}, None),
            ("linux", {"HOME": "tests"}, None),
            ("darwin", {"HOME": HERE}, f"{HERE}/Library/Caches"),
            ("darwin", {"HOME": HERE, "XDG_CACHE_HOME": "/x"}, "/x"),
            ("win32", {"HOME": HERE}, None),
            ("win32", {"LOCALAPPDATA": ""}, None),
            ("win32", {"LOCALAPPDATA": HERE}, HERE),
        ],
    )
    def test_the_folder_of_each_system(
        self, platform: str, variables: dict[str, str], expected: str | None
    ) -> None:
        assert user_folder(variables, platform) == expected

    def test_without_the_variable_the_system_knows_the_home_folder(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("HOME", raising=False)
        home = os.path.expanduser("~")

        expected = os.path.join(home, ".cache") if os.path.isdir(home) else None
        assert user_folder({}, "linux") == expected


def test_written_content_is_read(tmp_path: Path) -> None:
    file = str(tmp_path / "above" / "folder" / "file")
    for content in (b"one", b"two"):
        write_private(file, content)
        assert read_private(file) == content
    assert sorted(os.listdir(os.path.dirname(file))) == [TAG, "file"]


def test_an_absent_file_has_no_content(tmp_path: Path) -> None:
    assert read_private(str(tmp_path / "folder" / "file")) is None
    assert not any(tmp_path.iterdir())
