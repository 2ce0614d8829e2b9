"""Interpreters are found by running the candidates."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from _pythons import VERSIONS, _managed, find_interpreters

pytest.importorskip("python_discovery", reason="only the environment of nox has it")

RUNNING = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and an empty path: no Python but the running one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    for name in ("PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")
@pytest.mark.parametrize(
    "script", ["echo 'command not found' >&2; exit 127", "echo not JSON"], ids=["shim", "chatter"]
)
@pytest.mark.parametrize("folder", ["path", ".pyenv/versions/3.14.1/bin"])
def test_a_command_that_is_no_python_is_passed_over(home: Path, folder: str, script: str) -> None:
    other = next(version for version in VERSIONS if version != RUNNING)
    path = home / folder / f"python{other}"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    assert other not in find_interpreters()


@pytest.mark.skipif(os.name == "nt", reason="takes symbolic links")
@pytest.mark.parametrize(
    "folder", [".pyenv/versions", ".asdf/installs/python", ".local/share/mise/installs/python"]
)
def test_a_python_is_found_where_version_managers_put_it(home: Path, folder: str) -> None:
    """The newest patch comes first."""
    for patch in (9, 10):
        path = home / folder / f"{RUNNING}.{patch}" / "bin" / f"python{RUNNING}"
        path.parent.mkdir(parents=True)
        path.symlink_to(os.path.realpath(sys.executable))
    found = [Path(path).parent.name for path in _managed(RUNNING)]
    assert found == [f"{RUNNING}.10", f"{RUNNING}.9"]
    assert list(find_interpreters()) == [RUNNING]
