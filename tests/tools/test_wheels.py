"""A wheel is built from its sources alone, and again when these have changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from _wheels import ROOT, _copy, _hash, build_wheel

pytestmark = pytest.mark.skipif(
    not (ROOT / "example_backends").is_dir(), reason="only a checkout has the sources of wheels"
)


@pytest.fixture
def distribution(tmp_path: Path) -> Path:
    folder = tmp_path / "example"
    (folder / "src/example").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "example"\n', encoding="utf-8")
    (folder / "src/example/__init__.py").write_text("x = 1\n", encoding="utf-8")
    return folder


def fingerprint(folder: Path, copy: Path) -> str:
    _copy(folder, copy)
    return _hash(copy)


def test_a_change_of_the_code_changes_the_hash(distribution: Path, tmp_path: Path) -> None:
    before = fingerprint(distribution, tmp_path / "before")
    (distribution / "src/example/__init__.py").write_text("x = 2\n", encoding="utf-8")
    assert fingerprint(distribution, tmp_path / "after") != before


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_x.py",
        "src/example/__pycache__/x.pyc",
        "src/example.egg-info/PKG-INFO",
        "src/example/_fast.cpython-312-x86_64-linux-gnu.so",
        "build/lib/example/old.py",
    ],
)
def test_what_is_not_in_the_wheel_does_not_change_the_hash(
    distribution: Path, tmp_path: Path, path: str
) -> None:
    before = fingerprint(distribution, tmp_path / "before")
    file = distribution / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x", encoding="utf-8")
    assert fingerprint(distribution, tmp_path / "after") == before


def make_wheel(command: list[str]) -> None:
    """Write an empty wheel where pip or uv would, which test environments may lack."""
    (home,) = (Path(each) for each in command if Path(each).name == "built")
    home.mkdir(parents=True)
    (home / "example-0-py3-none-any.whl").touch()


def test_a_wheel_is_not_built_twice(
    distribution: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(command: list[str], check: bool) -> None:
        built.append(command)
        make_wheel(command)

    built: list[list[str]] = []
    monkeypatch.setattr("subprocess.run", build)
    first, second = (build_wheel(sys.executable, distribution, tmp_path / "w") for _ in range(2))
    assert first == second
    assert len(built) == 1
    (distribution / "pyproject.toml").write_text('[project]\nname = "other"\n', encoding="utf-8")
    assert build_wheel(sys.executable, distribution, tmp_path / "w") != first
    assert not first.exists()
