"""Interpreters are found by running what looks like one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from _interpreters import Interpreter, find_interpreters

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")


def stand_in(folder: Path, name: str, script: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, an empty path, and no Python but the running one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    monkeypatch.delenv("UV_PYTHON_INSTALL_DIR", raising=False)
    return tmp_path


def test_the_running_interpreter_is_found(home: Path) -> None:
    names = [each.name for each in find_interpreters()]
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in names


@pytest.mark.parametrize(
    "script",
    ["echo 'python3.14: command not found' >&2; exit 127", "echo not JSON", "echo '[1]'"],
    ids=["shim", "chatter", "other answer"],
)
def test_a_command_that_is_no_python_is_passed_over(home: Path, script: str) -> None:
    before = find_interpreters()
    stand_in(home / "path", "python3.14", script)
    assert find_interpreters() == before


@pytest.mark.parametrize(
    "folder", [".pyenv/versions/3.14.1/bin", ".local/share/uv/python/cpython-3.14.1/bin", "path"]
)
def test_a_python_is_found_where_version_managers_put_it(home: Path, folder: str) -> None:
    stand_in(home / folder, "python3.14", """echo '[[3, 14, 1], "/new", true, true, true]'""")
    assert Interpreter((3, 14, 1), "/new", has_pip=True) in find_interpreters()


@pytest.mark.parametrize(
    ("version", "plain", "venv"),
    [("3, 9, 1", "true", "true"), ("3, 14, 1", "false", "true"), ("3, 14, 1", "true", "false")],
    ids=["too old", "not plain CPython", "without venv"],
)
def test_a_python_that_cannot_serve_is_passed_over(
    home: Path, version: str, plain: str, venv: str
) -> None:
    before = find_interpreters()
    answer = f'[[{version}], "/other", {plain}, {venv}, true]'
    stand_in(home / "path", "python3.14", f"echo '{answer}'")
    assert find_interpreters() == before


def test_of_two_patch_versions_the_later_one_is_taken(home: Path) -> None:
    for patch in (1, 3, 2):
        answer = f'[[3, 14, {patch}], "/{patch}", true, true, true]'
        stand_in(home / f".pyenv/versions/3.14.{patch}/bin", "python3.14", f"echo '{answer}'")
    assert Interpreter((3, 14, 3), "/3", has_pip=True) in find_interpreters()
